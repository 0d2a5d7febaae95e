import assert from 'node:assert/strict';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { MintTerms, OrderTerms } from './order-terms.ts';
import type { Parts } from './plan-amounts.ts';

/**
 * The runestone of a mint. It has no edicts and no pointer, so the minted runes and any other runes of the input go to
 * the first output.
 */
export const mintRunestone = ({ id }: Pick<MintTerms, 'id'>): Runestone => ({
  kind: 'runestone',
  edicts: [],
  etching: null,
  mint: id,
  pointer: null,
});

/** The script that gets the minted runes. */
export function minterScript({ receivers }: Pick<OrderTerms, 'receivers'>): Uint8Array {
  const [receiver] = receivers;
  assert(receiver !== undefined, 'a mint has a receiver');
  return receiver;
}

/**
 * Inputs and outputs of a mint, without our output. Input: an output of the commit. Outputs: the receiver and the
 * runestone.
 */
export function mintParts(terms: Pick<OrderTerms, 'receivers'>, mint: MintTerms): Parts {
  return {
    inputs: 1,
    outputs: 2,
    weight: keyInputWeight + outputWeight(minterScript(terms)) + outputWeight(encipher(mintRunestone(mint))),
  };
}
