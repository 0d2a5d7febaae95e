import assert from 'node:assert/strict';
import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import { nextBlock, refundWatcherOf } from '#orders/watching/watchers.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import type { OrderSigner } from './order-signer.ts';
import { owedTooLittle, planRefund } from './plan-refund.ts';
import { onlyOne, spendableMoney, store } from './sign-and-store.ts';

/** Plans, signs and stores the transaction that pays what is owed back. The reason where it cannot be made. */
export async function makeRefund(
  tx: pg.ClientBase,
  signer: OrderSigner,
  order: Order,
  outputs: readonly OwedMoney[],
  feeRate: bigint,
): Promise<string | null> {
  const { refundScript } = order;
  assert(refundScript !== null, 'a refund has an address');
  const destination = { script: refundScript, amount: null };
  const [refused] = await checkDestinations([destination], (scripts) => ownScriptsAmong(tx, scripts));
  if (refused !== undefined)
    return `The address of the refund ${refused.reason}: name another with satscribe orders refund.`;
  const { own, spendable } = await spendableMoney(tx, signer, order, outputs);
  const plan = planRefund(spendable, refundScript, own, feeRate);
  if (plan === null) return owedTooLittle;
  await store(tx, signer, order, 'refund', onlyOne, plan);
  // how its block is found
  await watchScripts(tx, refundWatcherOf(order.id), [{ script: refundScript, sinceHeight: nextBlock }]);
  failpoint('order-refund');
  return null;
}
