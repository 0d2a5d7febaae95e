import assert from 'node:assert/strict';
import type pg from 'pg';
import { smallest } from '#kernel/bitcoin/amount.ts';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { Arrived } from '#orders/inscribing/plan-transactions.ts';
import type { Order } from '#orders/order/order.store.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import {
  type PlannedReturn,
  planMostReturned,
  type RestDestination,
  type ReturnedOutput,
  type ReturnShort,
} from '#orders/parents/plan-return.ts';
import { addReturnCost, returnCostSince } from '#orders/parents/return-costs.store.ts';
import {
  type Holding,
  type Return,
  type ReturnFund,
  returnShort,
  satsTooFew,
} from '#orders/parents/returns.ts';
import { ownWatcherOf, refundWatcherOf } from '#orders/watching/watchers.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import type { OrderSigner } from './order-signer.ts';
import { onlyOne, spendableMoney, store } from './sign-and-store.ts';

/** Maximum cost of returns that no customer pays for. */
export interface ReturnPolicy {
  /** Maximum for one order in sats (ORDER_RETURN_MAX_SATS). */
  readonly maxSats: bigint;
  /** Maximum for all orders within 24 hours in sats (ORDER_RETURN_DAY_MAX_SATS). */
  readonly dayMaxSats: bigint;
}

/**
 * Finds a free coin of the service with at least this many sats, for a return of this order. Returns null if there is
 * no such coin now.
 */
export type CoinForReturn = (orderId: string, sats: bigint) => Arrived | null;

export interface ReturnMakers {
  readonly signer: OrderSigner;
  readonly policy: ReturnPolicy;
  readonly coinFor: CoinForReturn;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

type Plan = (PlannedReturn & { readonly count: number }) | ReturnShort;

/** A plan, and the operator's coin that it spends. `coin` is null if the plan spends no such coin. */
interface Funded {
  readonly plan: Plan;
  readonly coin: Arrived | null;
}

/**
 * Plans, signs and stores a return of holdings or sats. Returns the reason if no fund suffices. Returns null if the
 * return was stored.
 */
export async function makeReturn(
  tx: pg.ClientBase,
  makers: ReturnMakers,
  order: Order,
  returned: Return,
): Promise<string | null> {
  const targets = destinationsOf(order, returned);
  const destinations = targets.all.map((script) => ({ script, amount: null }));
  const [refused] = await checkDestinations(destinations, (scripts) => ownScriptsAmong(tx, scripts));
  if (refused !== undefined)
    return `An address of the return ${refused.reason}. Write to the operator of this service.`;
  let missing: bigint | null = null;
  for (const fund of returned.funds) {
    const { plan, coin } = await planFrom(tx, makers, order, returned, fund);
    if (plan.kind === 'return') {
      await storeReturn(tx, makers, order, { plan, coin }, fund.kind !== 'customer');
      return null;
    }
    // the customer is asked for the sats that are missing in the plan for which only the customer's money pays
    if (fund.kind === 'customer' && fund.costMax === null) missing ??= plan.missing;
  }
  return returned.holdings.length === 0 ? satsTooFew : returnShort(order, missing);
}

async function storeReturn(
  tx: pg.ClientBase,
  { signer }: ReturnMakers,
  order: Order,
  { plan, coin }: { readonly plan: PlannedReturn; readonly coin: Arrived | null },
  isOurs: boolean,
): Promise<void> {
  const txid = await store(tx, signer, order, 'return', onlyOne, plan, { coin });
  const watched = (kind: 'parent' | 'change') =>
    plan.outputs
      .filter((output) => output.kind === kind)
      .map(({ script }) => ({ script, sinceHeight: nextBlock }));
  // watch the destinations, so that the block of the return is noticed
  await watchScripts(tx, refundWatcherOf(order.id), watched('parent'));
  if (isOurs) {
    await addReturnCost(tx, { txid, sats: plan.cost });
    // watch the change, because it pays for other transactions once it is in a block
    await watchScripts(tx, ownWatcherOf(order.id), watched('change'));
  }
  failpoint('order-return');
}

/** The plan of a return that this fund pays for. */
async function planFrom(
  tx: pg.ClientBase,
  makers: ReturnMakers,
  order: Order,
  returned: Return,
  fund: ReturnFund,
): Promise<Funded> {
  const { signer, feeRate, policy, coinFor } = makers;
  const money = fund.kind === 'operator' ? [] : fund.money;
  const { own, address, spendable } = await spendableMoney(tx, signer, order, money);
  const targets = destinationsOf(order, returned);
  const holdings = returned.holdings.map((holding): ReturnedOutput => {
    const { at, payment, inscriptions, runes } = holding;
    const { key, leafScript } = at === null ? address.own : depositKey(at.keyIndex);
    return {
      ...arrivedBy(payment),
      key,
      leafScript,
      destination: targets.of(holding),
      holds: { inscriptions, runes },
    };
  });
  const isOurs = fund.kind !== 'customer';
  const planWith = (paying: readonly Arrived[], costMax: bigint | null): Plan =>
    planMostReturned({ holdings, money: paying, kept: own, isOurs, costMax, feeRate }, (areAll) =>
      isOurs ? null : targets.ofRest(fund, areAll),
    );
  if (!isOurs) {
    const deposited = fund.sats.map(({ at, payment }) => ({
      ...arrivedBy(payment),
      ...depositKey(at.keyIndex),
    }));
    return { plan: planWith([...spendable, ...deposited], fund.costMax), coin: null };
  }
  const today = policy.dayMaxSats - (await returnCostSince(tx, dayMs));
  const costMax = smallest(fund.costMax ?? today, today);
  if (costMax <= 0n) return { plan: nothing, coin: null };
  if (fund.kind === 'service') return { plan: planWith(spendable, costMax), coin: null };
  // planned with an ideal coin first, because the cost does not depend on the coin
  const ideal = planWith([{ ...idealCoin, value: costMax + leastRest }], costMax);
  if (ideal.kind === 'short') return { plan: ideal, coin: null };
  const coin = coinFor(order.id, ideal.cost + leastRest);
  return coin === null ? { plan: nothing, coin } : { plan: planWith([coin], costMax), coin };
}

const nothing: ReturnShort = { kind: 'short', missing: 1n };
const dayMs = 24 * 3_600_000;
/** Minimum change of an operator's coin in sats, so that nodes relay the output. */
const leastRest = p2trDust;
/** Placeholder for an operator's coin. All such coins are P2TR, so all cost the same. */
const idealCoin: Arrived = {
  txid: trustedTxid(new Uint8Array(32)),
  vout: 0,
  value: 0n,
  script: new Uint8Array(34),
  key: { branch: 1, index: 0 },
  leafScript: null,
};

const arrivedBy = ({ txid, vout, value, script }: WatchedPayment) => ({ txid, vout, value, script });
const depositKey = (index: number) => ({ key: { branch: 0, index }, leafScript: null }) as const;

/** Destinations of a return. */
interface ReturnDestinations {
  readonly of: (holding: Holding) => Uint8Array;
  /**
   * Destination of the change of a customer's money. Null if the change stays with us, and pays for what is not
   * returned yet.
   */
  readonly ofRest: (fund: ReturnFund & { kind: 'customer' }, areAll: boolean) => RestDestination | null;
  readonly all: readonly Uint8Array[];
}

/**
 * The destinations of a return. Deposits go to the owner of the parent that was expected there, and payments go to the
 * refund address.
 */
function destinationsOf(
  { terms, refundScript }: Order,
  { holdings, funds, isLast }: Return,
): ReturnDestinations {
  const { parents } = termsOf(terms);
  const ofDeposit = ({ index }: Pick<DepositAddress, 'index'>): Uint8Array => {
    const parent = parents[index];
    assert(parent !== undefined, 'a deposit address is of a parent');
    return parent.returnScript;
  };
  const of = ({ at }: Holding): Uint8Array => {
    if (at !== null) return ofDeposit(at);
    assert(refundScript !== null, 'a returned payment has a refund address');
    return refundScript;
  };
  const sats = funds.flatMap((fund) => (fund.kind === 'customer' ? fund.sats : []));
  return {
    of,
    ofRest: ({ sats: [first] }, areAll) => {
      if (first !== undefined) return { kind: 'parent', script: ofDeposit(first.at) };
      return refundScript !== null && areAll && isLast ? { kind: 'refund', script: refundScript } : null;
    },
    all: [
      ...holdings.map(of),
      ...sats.map(({ at }) => ofDeposit(at)),
      ...(isLast && refundScript !== null ? [refundScript] : []),
    ],
  };
}
