import type { WithdrawalBatches } from '#payouts/following/payout-parts.ts';
import type { BatchPolicy } from './batch-policy.ts';
import { formBatches } from './form-batches.ts';
import { makeBatch } from './make-batch.ts';
import { postBatch, settleBatch } from './settle-batch.ts';

/** Withdrawals of accounts as batches, which payouts sign, send and follow (ADR 93). */
export const accountBatches = (policy: BatchPolicy): WithdrawalBatches => ({
  form: formBatches,
  make: (parts, making) => makeBatch(parts, making, policy),
  post: postBatch,
  settle: settleBatch,
});
