import { offsetInOutput } from '#indexer/ledger/inscriptions/place-rules.ts';
import type { TransactionOutput } from '../stream/transaction-batch.ts';

/**
 * Future location of an inscription, as far as the transaction itself decides this. The numbers are stored
 * (chain.mempool_transfers.place).
 */
export const pendingPlaces = { output: 0, fee: 1, unbound: 2, unknown: 3 } as const;
export type PendingPlace = (typeof pendingPlaces)[keyof typeof pendingPlaces];

export interface PlacedInscription {
  readonly place: PendingPlace;
  /** The output. Null: the inscription does not move to an output. */
  readonly output: TransactionOutput | null;
  /** Offset in the output, in sats. Null: not in an output. */
  readonly satOffset: number | null;
}

/** The place of an offset in the sum of a transaction's inputs. `offset` null: it is unknown. */
export function placeAt(offset: number | null, outputs: readonly TransactionOutput[]): PlacedInscription {
  if (offset === null) return { place: pendingPlaces.unknown, output: null, satOffset: null };
  let start = 0;
  for (const output of outputs) {
    const satOffset = offsetInOutput(offset, start, output.value);
    if (satOffset >= 0) return { place: pendingPlaces.output, output, satOffset };
    start += output.value;
  }
  return { place: pendingPlaces.fee, output: null, satOffset: null };
}

/** The sum of the values before each input; null from the first unknown value on. */
export function inputOffsets(values: readonly (number | null)[]): (number | null)[] {
  let sum: number | null = 0;
  return values.map((value) => {
    const before = sum;
    sum = sum === null || value === null ? null : sum + value;
    return before;
  });
}
