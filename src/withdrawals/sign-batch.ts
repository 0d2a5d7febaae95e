import { AppError } from '#kernel/errors/app-error.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { PayoutParts } from '#payouts/following/payout-parts.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { withdrawalFault } from '#tokenpay/withdrawing/planning/withdrawal-fault.ts';
import { type ReadyBatch, storeBatch, transactionPlan } from './store-batch.ts';

/**
 * Signs the plan of a batch and stores the transaction. Before this, a simulation applies the rules of runes to the
 * plan, and the signer compares the plan with the contents of its inputs according to the index. If a rule refuses the
 * plan, returns the reason in words. Such a refusal is a fault of this program. Throws `OutputTaken` and `NotCovered`.
 */
export async function signAndStore(
  parts: PayoutParts,
  ready: ReadyBatch,
  limits: Parameters<typeof withdrawalFault>[2],
): Promise<string | null> {
  const { client, signer } = parts;
  const plan = transactionPlan(ready);
  const held = await readHoldings(client, ready.plan.inputs);
  const runes = held.map((each) => each.runes ?? []);
  const fault = withdrawalFault(ready.plan, runes, limits);
  if (fault !== null) return refusedReason(fault);
  try {
    const signed = await signer.signPlan(plan, held);
    failpoint('withdrawals-signed');
    await storeBatch(parts, ready, plan, signed);
  } catch (error) {
    if (error instanceof AppError && error.code === 'plan_refused') return refusedReason(error.message);
    throw error;
  }
  failpoint('withdrawals-stored');
  return null;
}

const refusedReason = (fault: string): string =>
  `A check of the service refused the transaction before it was signed, because ${fault}. The operator is notified, and the next block tries again.`;
