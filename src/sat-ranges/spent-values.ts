import { SpentReader } from '#indexer/parse/spent-outputs.ts';
import type { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Computes the values of the outputs that each transaction of a block spends, in sats. The list of the coinbase is
 * empty. Throws `spent_outputs_mismatch` if the spent outputs do not match the block.
 */
export function spentValues(transactions: RawTransactions, spentOutputs: Uint8Array): number[][] {
  const spent = new SpentReader(spentOutputs);
  const values: number[][] = [];
  const count = spent.compactSize();
  for (let place = 0; place < count && !spent.isBroken; place++) {
    const ofInputs: number[] = [];
    for (let left = spent.compactSize(); left > 0 && !spent.isBroken; left--) ofInputs.push(spent.output());
    values.push(ofInputs);
  }
  if (count !== transactions.count || spent.isBroken) throw spentMismatch();
  return values;
}

export function spentMismatch(): AppError {
  return new AppError('spent_outputs_mismatch', 'the spent outputs do not match the block');
}
