import assert from 'node:assert/strict';
import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { nothingHeld } from '#kernel/contracts/holdings.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import { refundWatcherOf } from '#orders/watching/watchers.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import type { OrderSigner } from './order-signer.ts';
import { owedTooLittle, planRefund } from './plan-refund.ts';
import { onlyOne, spendableMoney, store } from './sign-and-store.ts';

/**
 * Plans, signs and stores the transaction that refunds what is owed. Returns the reason if this is not possible, else
 * null.
 */
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
    return `The address of the refund ${refused.reason}. Name another address with satscribe orders refund.`;
  const { own, spendable } = await spendableMoney(tx, signer, order, outputs);
  const held = await readHoldings(tx, spendable);
  const holding = spendable.map((output, place) => ({ ...output, holds: held[place] ?? nothingHeld }));
  const plan = planRefund(holding, refundScript, own, feeRate);
  if (plan === null) return owedTooLittle;
  await store(tx, signer, order, 'refund', onlyOne, plan);
  // watch the refund address, so that the block of the refund is noticed
  await watchScripts(tx, refundWatcherOf(order.id), [{ script: refundScript, sinceHeight: nextBlock }]);
  failpoint('order-refund');
  return null;
}
