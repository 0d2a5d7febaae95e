import type { WithdrawalBatches } from '#payouts/following/payout-parts.ts';
import type { BatchPolicy } from './batch-policy.ts';
import { formConsolidation, makeConsolidation } from './consolidating/make-consolidation.ts';
import { formBatches } from './form-batches.ts';
import { makeBatch } from './make-batch.ts';
import { postBatch, settleBatch } from './settle-batch.ts';

/**
 * Withdrawals of accounts as batches, and batches that join small coins of accounts. Payouts sign, send and follow the
 * batches (ADR 93, 94).
 */
export const accountBatches = (policy: BatchPolicy): WithdrawalBatches => ({
  form: formBatches,
  consolidate: (parts, standing) => formConsolidation(parts, standing, policy.consolidation),
  make: (parts, making) =>
    making.payout.kind === 'consolidation'
      ? makeConsolidation(parts, making, policy.consolidation)
      : makeBatch(parts, making, policy),
  post: postBatch,
  settle: settleBatch,
});
