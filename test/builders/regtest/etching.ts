import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/**
 * The script of an output that etches a rune. The protocol assigns the rune's name. The complete supply is premined.
 *
 * @param pointer the output that gets the premine; `null` means the first one
 */
export const premined = (amount: number | bigint, pointer: number | null = null): Uint8Array =>
  encipher({
    kind: 'runestone',
    edicts: [],
    etching: { ...plainEtching, premine: asU128(amount) },
    mint: null,
    pointer,
  });
