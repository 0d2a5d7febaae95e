import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { OrderLayout, RevealLayout } from '#orders/inscribing/order-layout.ts';
import { spareOf } from '#orders/inscribing/plan-amounts.ts';
import type { CoinCosts } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import { type QuotedPlan, quotedPlan } from './quoted-layout.ts';

export type CostedOrder = Pick<Order, 'amount' | 'extraCost' | 'terms' | 'quote' | 'request'>;

/**
 * Costs of an order that depend on the coins that pay it (docs/adr/0065-coins-that-pay.md). Computes the layout, which
 * takes 8 ms for 10,000 files.
 */
export function coinCosts(order: CostedOrder, { terms, layout }: QuotedPlan = quotedPlan(order)): CoinCosts {
  return {
    amount: order.amount,
    extraCost: order.extraCost,
    input: feeOf(keyInputWeight, terms.feeRate),
    spare: layout.reveals.reduce((sum, { own }) => sum + spareOf(own), 0n),
    inputsMax: inputsMaxOf(layout),
    wantsSats: order.request.allowedSatributes !== null,
  };
}

/**
 * The costs for a number of coins. One coin with the full amount is always enough, because the quote includes its
 * input.
 */
export const costsOf = (order: CostedOrder, coins: number): CoinCosts =>
  coins > 1 || order.extraCost > 0n
    ? coinCosts(order)
    : { ...oneCoin, amount: order.amount, wantsSats: order.request.allowedSatributes !== null };

const oneCoin = { extraCost: 0n, input: 0n, spare: 0n, inputsMax: 1 } as const;

/** Weight that a delivery may need in addition to its layout, for change and a runestone. */
const spareWeight = 2_000;

/**
 * Maximum number of inputs with which the transaction that spends the payments is still relayed. The quote includes the
 * first input.
 */
function inputsMaxOf({ commit, reveals: [first] }: OrderLayout): number {
  const weight = commit?.weight ?? (first === undefined ? 0 : packageWeight(first));
  return 1 + Math.max(0, Math.floor((standardWeightMax - spareWeight - weight) / keyInputWeight));
}

/**
 * Weight of a reveal with its burn. Both are sent as one package. The limit of a package is hardly above the limit of a
 * transaction.
 */
const packageWeight = ({ weight, burn }: RevealLayout): number => weight + (burn?.weight ?? 0);
