import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { isWaiting } from '#orders/customers/order-answer.ts';
import type { BatchMode } from '#orders/inscribing/order-terms.ts';
import { postageOf } from '#orders/inscribing/settled-terms.ts';
import { type CoinCosts, missingIn, missingSats } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import { countsInTime, type OrderPayment } from '#orders/order/order-facts.ts';
import type { OrderKind } from '#orders/order/order-kind.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import { latePrice } from '#orders/pricing/late-price.ts';
import { type QuotedPlan, quotedPlan } from '#orders/pricing/quoted-layout.ts';
import type { Reservation } from '#orders/stock/reservations.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** An output at the address of an order, which its delivery may spend. Values are in sats. */
export interface PayingCoin {
  /** `<txid>:<vout>`. Null for an output of a payment that is not sent yet. */
  readonly outpoint: string | null;
  /** Index of the output in its transaction. */
  readonly vout: number;
  readonly value: bigint;
  /** The coin's sats, in sequence. Null if they are unknown. */
  readonly ranges: readonly SatRange[] | null;
}

/** A coin that arrived. */
export interface OrderCoin extends PayingCoin {
  readonly outpoint: string;
  /** Height of the coin's block. Null if the coin is not in a block. */
  readonly height: Height | null;
  /** Number of blocks from the coin's block to the tip, including both. 0 if the coin is not in a block. */
  readonly depth: number;
  /** Whether the coin pays for the order, because it was seen in time, is above dust, and has no inscription. */
  readonly isCounted: boolean;
  /** Whether the index has an inscription or a rune in the coin. */
  readonly isHolding: boolean;
}

/** A parent of an order. Parents are listed in the sequence of the terms. */
export interface OpenParent {
  readonly inscriptionId: string;
  readonly depositAddress: string;
  readonly depositScript: Uint8Array;
  /**
   * Sats of the parent's output in the price of the order. Other values may be refused (docs/orders-api.md, "Parents").
   */
  readonly value: bigint;
  /** The output at its deposit that is or may be the parent. Null if the parent must still be sent. */
  readonly came: {
    readonly txid: TxidHex;
    readonly vout: number;
    readonly value: bigint;
    /** `here`: the index has the parent in the output. */
    readonly state: 'seen' | 'here';
  } | null;
}

/**
 * An order that accepts money, with all data from which a payment is built. The id gives access to the order, so an
 * answer to a client that knows only the address must not contain it.
 */
export interface OpenOrder {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  readonly address: string;
  readonly script: Uint8Array;
  readonly expiresAt: Date;
  /**
   * Amount in sats. The amount includes a rise of fees since the price was held, if a payment made now would be charged
   * for the rise.
   */
  readonly amount: bigint;
  /** The amount in answers. It is below `amount` if a payment made now would be charged more. */
  readonly shownAmount: bigint;
  /** Whether the price was raised before, so the customer may cancel the order. */
  readonly isRepriced: boolean;
  readonly costs: CoinCosts;
  /** Sats that one more coin must bring. 0 if the order is paid, and waits for parents. */
  readonly missing: bigint;
  /** Total sats of two more coins, each above `costs.input`. Null if a delivery cannot spend that many coins. */
  readonly missingInTwo: bigint | null;
  /** Sats of the output of each inscription. */
  readonly postage: bigint;
  readonly batchMode: BatchMode;
  /** Number of inscriptions of each reveal, in the sequence of the files. */
  readonly reveals: readonly number[];
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** The satributes that the order allows. Null if any sats are allowed. */
  readonly allowedSatributes: readonly string[] | null;
  /** Whether the inscriptions are on sats of the inventory, and not on sats of the payments. */
  readonly takesInventory: boolean;
  /** Outputs at the order's address, in the sequence in which they were seen. */
  readonly coins: readonly OrderCoin[];
  readonly parents: readonly OpenParent[];
  /** Whether unused money is refunded without the operator. */
  readonly hasRefundAddress: boolean;
  readonly records: OpenRecords;
  readonly plan: QuotedPlan;
}

/** Rows from which an open order was read. */
export interface OpenRecords {
  /** The order, with the price for a payment made now. */
  readonly order: Order;
  readonly now: Date;
  /** The last block that was searched for payments. Null if no block was searched yet. */
  readonly tip: Height | null;
  readonly payments: readonly WatchedPayment[];
  /** The payments in the form of facts. */
  readonly seen: readonly OrderPayment[];
  readonly held: HeldPayments;
  readonly deposits: readonly DepositAddress[];
  /** For each parent, the deposit that is or may be the parent. */
  readonly candidates: readonly (Deposit | undefined)[];
  /** Outputs of the inventory, one for each file. Null if the order uses no inventory outputs. */
  readonly stocked: readonly Reservation[] | null;
}

/** Result of a search for an order to pay. */
export type FoundOrder =
  | { readonly kind: 'open'; readonly order: OpenOrder }
  /** Nothing is missing. The order may already be delivered. */
  | { readonly kind: 'paid'; readonly state: OrderState }
  /** A payment made now would be refunded, because the order is over. */
  | { readonly kind: 'over'; readonly state: OrderState }
  /** The address is the deposit of a parent, where money does not pay for the order. */
  | { readonly kind: 'deposit' }
  | { readonly kind: 'unknown' }
  /**
   * The text is not an address, or it is an address of another network. The reason continues a sentence that begins
   * with "the address".
   */
  | { readonly kind: 'no-address'; readonly reason: string };

const overStates: ReadonlySet<OrderState> = new Set([
  'expired',
  'cancelled',
  'waiting-refund',
  'refunded',
  'error',
]);

/**
 * Decides whether an order accepts money, and how much. Pure.
 *
 * @param estimate the node's estimate in sats per 1,000 virtual bytes; null if unknown
 */
export function openOrder(records: OpenRecords, estimate: bigint | null): FoundOrder {
  const { now, order: stored } = records;
  const { state } = stored;
  if (overStates.has(state)) return { kind: 'over', state };
  if (!isWaiting(stored)) return { kind: 'paid', state };
  if (stored.isCancelAsked) return { kind: 'over', state: 'cancelled' };
  if (now > stored.expiresAt) return { kind: 'over', state: 'expired' };
  const order = pricedNow(stored, estimate, now);
  const plan = quotedPlan(order);
  const costs = coinCosts(order, plan);
  const counted = countedNow(records, order);
  const missing = missingSats(counted, costs);
  const parents = parentsOf(records);
  if (missing === 0n && parents.every(({ came }) => came !== null)) return { kind: 'paid', state };
  const { terms, layout } = plan;
  return {
    kind: 'open',
    order: {
      id: order.id,
      kind: order.kind,
      state,
      address: order.address,
      script: order.script,
      expiresAt: order.expiresAt,
      amount: order.amount,
      shownAmount: stored.amount,
      isRepriced: stored.repriced !== null,
      costs,
      missing,
      missingInTwo: missingIn(counted, costs, 2),
      postage: postageOf(terms),
      batchMode: terms.batchMode,
      reveals: layout.reveals.map(({ count }) => count),
      feeRate: terms.feeRate,
      allowedSatributes: order.request.allowedSatributes,
      takesInventory: terms.inventory !== null,
      coins: coinsOf(records),
      parents,
      hasRefundAddress: order.refundScript !== null,
      records: { ...records, order },
      plan,
    },
  };
}

/**
 * The same order with a higher cost than its quote. Planning its delivery with a payment found the extra cost. Pure.
 */
export function withExtraCost(open: OpenOrder, extraCost: bigint): OpenOrder {
  const { records } = open;
  const order = { ...records.order, extraCost };
  const costs = { ...open.costs, extraCost };
  const counted = countedNow(records, order);
  return {
    ...open,
    costs,
    missing: missingSats(counted, costs),
    missingInTwo: missingIn(counted, costs, 2),
    records: { ...records, order },
  };
}

/** The order with the price that it will have once a payment made now is seen. */
function pricedNow(order: Order, estimate: bigint | null, now: Date): Order {
  const price = latePrice(order, { at: now, estimate, now });
  return price === null ? order : { ...order, ...price, amount: BigInt(price.quote.amount) };
}

/** The coins that pay for an order. */
export function countedNow(
  { seen, now }: Pick<OpenRecords, 'seen' | 'now'>,
  { expiresAt }: Pick<Order, 'expiresAt'>,
): readonly OrderPayment[] {
  return seen.filter((payment) => countsInTime(payment, { expiresAt, now }));
}

function coinsOf({ payments, seen, held, tip, now, order }: OpenRecords): OrderCoin[] {
  const counted = new Set(countedNow({ seen, now }, order).map(({ outpoint }) => outpoint));
  return payments
    .filter(({ goneAt }) => goneAt === null)
    .map((payment): OrderCoin => {
      const outpoint = outpointOf(payment);
      const height = payment.block?.height ?? null;
      return {
        outpoint,
        vout: payment.vout,
        value: payment.value,
        ranges: null,
        height,
        depth: height === null || tip === null ? 0 : Math.max(0, tip - height + 1),
        isCounted: counted.has(outpoint),
        isHolding: held.get(outpoint)?.isHolding === true,
      };
    });
}

const parentsOf = ({ order, deposits, candidates }: OpenRecords): OpenParent[] =>
  deposits.map(({ index, script, address }): OpenParent => {
    const parent = order.terms.parents[index];
    const deposit = candidates[index];
    return {
      inscriptionId: parent?.id ?? '',
      depositAddress: address,
      depositScript: script,
      value: BigInt(parent?.value ?? 0),
      came:
        deposit === undefined
          ? null
          : {
              txid: displayHash(deposit.payment.txid),
              vout: deposit.payment.vout,
              value: deposit.payment.value,
              state: deposit.state === 'here' ? 'here' : 'seen',
            },
    };
  });
