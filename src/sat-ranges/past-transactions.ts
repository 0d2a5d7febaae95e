import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { PastTransaction } from '#kernel/contracts/past-chain.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { spentMismatch, spentValues } from './spent-values.ts';

/** A block with its spent outputs (contracts/block-source.ts, SourceBlock). */
export interface BlockWithSpends {
  readonly bytes: Uint8Array;
  readonly spentOutputs: Uint8Array;
  readonly spentHeights: Uint32Array;
}

/**
 * Reads the transactions of a block with their spent outputs. Throws `spent_outputs_mismatch` if the spent outputs do
 * not match the block. Also throws `block_truncated`, `block_oversized` and `block_corrupt`.
 */
export function pastTransactions({ bytes, spentOutputs, spentHeights }: BlockWithSpends): PastTransaction[] {
  const transactions = RawTransactions.ofBlock(bytes);
  let next = 0;
  return spentValues(transactions, spentOutputs).map((values, place): PastTransaction => {
    const { txid, inputs, outputs } = transactions.at(place);
    const spent = inputs.slice(0, values.length).map(({ previousTxid, previousVout }, input) => {
      const [value, height] = [values[input], spentHeights[next++]];
      if (value === undefined || height === undefined) throw spentMismatch();
      return { txid: displayHash(previousTxid), vout: previousVout, value, height: asHeight(height) };
    });
    if (place > 0 && spent.length !== inputs.length) throw spentMismatch();
    return {
      txid: displayHash(txid),
      inputs: place === 0 ? null : spent,
      outputs: outputs.map(({ value }) => value),
    };
  });
}
