import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/**
 * The script of an output that etches a rune with a name that the protocol gives it, all of it premined.
 *
 * @param pointer the output that gets it; null: the first one
 */
export const premined = (amount: number | bigint, pointer: number | null = null): Uint8Array =>
  encipher({
    kind: 'runestone',
    edicts: [],
    etching: { ...plainEtching, premine: asU128(amount) },
    mint: null,
    pointer,
  });
