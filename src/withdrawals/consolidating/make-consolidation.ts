import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { destination } from '#orders/making/sign-and-store.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { leaseOwnIndex, NotCovered, waitsForGivenUp } from '#payouts/following/make-payout.ts';
import type { MadeBatch, PayoutParts } from '#payouts/following/payout-parts.ts';
import { insertConsolidation, isConsolidating } from '#payouts/payout/consolidations.store.ts';
import { lockPayout, putState } from '#payouts/payout/payout.store.ts';
import { limitsOf } from '#tokenpay/withdrawing/planning/plan-consolidation.ts';
import { changeForm } from '#tokenpay/withdrawing/price-asked.ts';
import { signAndStore } from '#withdrawals/sign-batch.ts';
import type { ConsolidationPolicy } from './consolidation-policy.ts';
import { planJoin, planRaise } from './plan-join.ts';

/** Requests a consolidation if it can be made now and no consolidation is pending. A second call has no effect. */
export async function formConsolidation(
  parts: PayoutParts,
  standing: MadeBatch['standing'],
  policy: ConsolidationPolicy,
): Promise<void> {
  if (policy.dayMax === 0n || (await isConsolidating(parts.client))) return;
  const planned = await planJoin(parts, standing, changeForm, policy);
  if (typeof planned !== 'string') await insertConsolidation(parts.client);
}

/**
 * Plans, signs and stores the transaction that joins coins of accounts, or a replacement of an unconfirmed transaction.
 * Returns the reason if this is not possible. Returns null if a transaction was stored, or if the consolidation has
 * ended. Throws `OutputTaken`.
 */
export async function makeConsolidation(
  parts: PayoutParts,
  making: MadeBatch,
  policy: ConsolidationPolicy,
): Promise<string | null> {
  const { client, signer } = parts;
  const { payout, transactions, standing, replaced } = making;
  const ownIndex = payout.ownIndex ?? (await leaseOwnIndex(client, payout.id));
  const change = destination(signer, { key: { branch: 1, index: ownIndex }, leafScript: null }).script;
  const plan =
    replaced === null
      ? await planJoin(parts, standing, change, policy)
      : await planRaise(client, { ...making, replaced }, change, policy);
  // the consolidation does not end if it has signed transactions, because an earlier transaction may still be mined
  if (typeof plan === 'string') return transactions.length > 0 ? plan : endConsolidation(client, payout.id);
  const tip = (await readPaymentsOffset(client))?.height ?? 0;
  const givenUp = replaced === null ? transactions : [];
  const waits = await waitsForGivenUp(parts, payout, givenUp, { spent: plan.inputs, tip });
  if (waits !== null) return waits;
  const planned = { plan, waiting: [], refused: [] };
  const ready = { ...making, withdrawals: [], withheld: new Map(), planned, plan, ownIndex, debtMax: 0n };
  return signAndStore(parts, ready, limitsOf(plan)).catch((error: unknown) => {
    if (error instanceof NotCovered)
      return `The operator cannot pay ${error.missing} sats of the fee yet. The consolidation waits for base fees of completed orders.`;
    throw error;
  });
}

/**
 * Ends a consolidation that has no signed transaction, because coins, fees or withdrawals have changed since its
 * request.
 */
async function endConsolidation(client: pg.ClientBase, id: string): Promise<null> {
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, id))?.state === 'asked') await putState(tx, id, 'cancelled');
  });
  return null;
}
