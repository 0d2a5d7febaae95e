import assert from 'node:assert/strict';
import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Order } from '#orders/order/order.store.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import { type Homeless, planReturn } from '#orders/parents/plan-return.ts';
import { type Return, returnShort } from '#orders/parents/returns.ts';
import type { RuneRoute } from '#orders/parents/rune-route.ts';
import { ownScriptReason, ownScriptsAmong } from '#orders/watching/own-scripts.ts';
import { nextBlock, refundWatcherOf } from '#orders/watching/watchers.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import type { OrderSigner } from './order-signer.ts';
import { onlyOne, spendableMoney, store } from './sign-and-store.ts';

export interface ReturnMakers {
  readonly signer: OrderSigner;
  /** The script of a runestone. */
  readonly runestone: (route: RuneRoute) => Uint8Array;
  /** Sats for 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** Plans, signs and stores what sends deposits home. The reason where the money is too little; null: it is made. */
export async function makeReturn(
  tx: pg.ClientBase,
  { signer, runestone, feeRate }: ReturnMakers,
  order: Order,
  { deposits, money, ours, isLast }: Return,
): Promise<string | null> {
  const homes = homesOf(order, deposits);
  const destinations = isLast && order.refundScript !== null ? [...homes, order.refundScript] : homes;
  const [ownScript] = await ownScriptsAmong(tx, destinations);
  if (ownScript !== undefined)
    return `An address of the return ${ownScriptReason}: write to the operator of this service.`;
  const { own, spendable } = await spendableMoney(tx, signer, order, money);
  const plan = planReturn({
    deposits: deposits.map(({ at, payment: { txid, vout, value, script }, runes }, index): Homeless => {
      const home = homes[index];
      assert(home !== undefined, 'each deposit has a home');
      const key = { branch: 0, index: at.keyIndex } as const;
      return { txid, vout, value, script, key, leafScript: null, home, runes };
    }),
    money: spendable,
    // what is left pays for the others
    refundScript: isLast ? order.refundScript : null,
    kept: own,
    ours,
    runestone,
    feeRate,
  });
  // what ours lacks is not what a customer has to send, whose money pays alone
  if (plan.kind === 'short') return returnShort(order, ours === null ? plan.missing : null);
  await store(tx, signer, order, 'return', onlyOne, plan);
  // how its block is found
  const watches = homes.map((script) => ({ script, sinceHeight: nextBlock }));
  await watchScripts(tx, refundWatcherOf(order.id), watches);
  failpoint('order-return');
  return null;
}

/** Where each of these deposits goes: to the owner of the parent that was expected there. */
function homesOf({ terms }: Pick<Order, 'terms'>, deposits: readonly Deposit[]): Uint8Array[] {
  const { parents } = termsOf(terms);
  return deposits.map(({ at }) => {
    const parent = parents[at.index];
    assert(parent !== undefined, 'a deposit address is of a parent');
    return parent.returnScript;
  });
}
