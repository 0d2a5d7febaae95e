import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/** An etching with nothing but what each has. */
export const plainEtching: Etching = {
  divisibility: null,
  premine: null,
  rune: null,
  spacers: null,
  symbol: null,
  terms: null,
  turbo: false,
};

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
