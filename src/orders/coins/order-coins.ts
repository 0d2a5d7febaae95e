import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type StoredPlan, spentBy, valueIn } from '#purse/transactions/stored-plan.ts';

/** A payment to a script of an order. The payment may be gone. */
type Paid = Pick<WatchedPayment, 'txid' | 'vout' | 'value' | 'goneAt'>;

/** Facts from which the coins of an order follow. */
export interface OrderCoinFacts {
  readonly payments: readonly Paid[];
  readonly deposits: readonly {
    readonly payment: Paid;
    readonly at: { readonly keyIndex: number; readonly script: Uint8Array };
  }[];
  /** The order's stored transactions that can be mined. */
  readonly transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'index' | 'plan' | 'isFailed'>[];
}

/**
 * The coins of an order, each with its holder. Coins are payments to the order, and outputs of its transactions that
 * the wallet can spend. A coin is free once the order is delivered, if the coin contains no customer's money and no
 * transaction of the order spends the coin. Pure.
 */
export function orderCoins(
  order: Pick<Order, 'state' | 'amount' | 'keyIndex' | 'ownIndex'>,
  { payments, deposits, transactions }: OrderCoinFacts,
): HeldCoin[] {
  const key = { branch: 0, index: order.keyIndex };
  const spent = spentBy(transactions);
  const coins = [
    ...payments.flatMap((payment) => coinOf(payment, { key, held: 'reserved', why: 'payment' })),
    ...deposits.flatMap(({ payment, at }) =>
      coinOf(payment, { key: { branch: 0, index: at.keyIndex }, held: 'reserved', why: 'deposit' }),
    ),
    ...transactions.flatMap((made) =>
      made.plan.outputs.flatMap(({ kind, value, script }, vout): HeldCoin[] => {
        const output = { txid: made.txid, vout, value: BigInt(value) };
        if (kind === 'commit') return [{ ...output, key, held: 'reserved', why: 'commit' }];
        if (kind === 'parent') {
          // between two reveals, a parent is at its deposit
          const at = deposits.find((deposit) => hexOf(deposit.at.script) === script)?.at;
          if (at === undefined) return [];
          return [{ ...output, key: { branch: 0, index: at.keyIndex }, held: 'reserved', why: 'deposit' }];
        }
        if (kind !== 'service' && kind !== 'change') return [];
        const isSpent = spent.has(outpointOf(output));
        const standing = standingOf(order, made, transactions, { kind, isSpent });
        return [{ ...output, key: { branch: 1, index: order.ownIndex }, ...standing }];
      }),
    ),
  ];
  return [...new Map(coins.map((coin) => [outpointOf(coin), coin])).values()];
}

type Standing = Pick<HeldCoin, 'held' | 'why'>;

/** Holder of our output of a transaction. */
function standingOf(
  { state, amount }: Pick<Order, 'state' | 'amount'>,
  made: OrderCoinFacts['transactions'][number],
  transactions: OrderCoinFacts['transactions'],
  output: { readonly kind: 'service' | 'change'; readonly isSpent: boolean },
): Standing {
  if (made.kind === 'return' && output.kind === 'change' && spendsOperator(made.plan))
    // the change of an operator's coin does not belong to the order
    return { held: 'free', why: 'rest' };
  if (output.isSpent || isBurned(made, transactions)) return { held: 'reserved', why: 'spending' };
  // the output may contain a customer's money
  if (made.kind === 'return') return { held: 'reserved', why: 'rest' };
  // the service's fee for a mint that minted nothing is refunded
  if (made.isFailed === true) return { held: 'reserved', why: 'excess' };
  if (made.kind !== 'refund' && isPaidTooMuch(amount, made, transactions))
    return { held: 'reserved', why: 'excess' };
  return state === 'completed' ? { held: 'free', why: 'revenue' } : { held: 'waiting', why: 'delivery' };
}

const spendsOperator = ({ inputs }: StoredPlan): boolean =>
  inputs.some(({ isOperator }) => isOperator === true);

/** Whether a transaction is a reveal whose burn is stored. The burn spends our output of the reveal. */
const isBurned = (
  { kind, index }: OrderCoinFacts['transactions'][number],
  transactions: OrderCoinFacts['transactions'],
): boolean =>
  kind === 'reveal' && transactions.some((other) => other.kind === 'burn' && other.index === index);

/**
 * Whether a customer paid too much, according to the inputs of a transaction. An excess above dust belongs to the
 * customer and is in our output. For a burn, the inputs of its reveal are used. The values of parents are subtracted,
 * because parents are returned unchanged.
 */
function isPaidTooMuch(
  amount: bigint,
  made: OrderCoinFacts['transactions'][number],
  transactions: OrderCoinFacts['transactions'],
): boolean {
  const spending =
    made.kind === 'burn'
      ? transactions.find(({ kind, index }) => kind === 'reveal' && index === made.index)
      : made;
  // if the inputs are unknown, treat the sats as the customer's
  if (spending === undefined) return true;
  const { inputs, outputs } = spending.plan;
  const paid = valueIn(inputs.filter(({ isInventory }) => isInventory !== true));
  return paid - valueIn(outputs.filter(({ kind }) => kind === 'parent')) >= amount + p2trDust;
}

const coinOf = (
  { txid, vout, value, goneAt }: Paid,
  of: Pick<HeldCoin, 'key' | 'held' | 'why'>,
): HeldCoin[] => (goneAt === null ? [{ txid, vout, value, ...of }] : []);

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A bump, with the facts that decide who holds its output. */
export interface BumpCoinFacts extends Pick<HeldCoin, 'txid'> {
  readonly ownIndex: number;
  readonly value: number;
  /** Whether the bump's output contains a customer's money. */
  readonly isOwing: boolean;
  /** Whether the bump is mined, or may still be mined. */
  readonly isThere: boolean;
  /** Whether all orders that the bump paid for are delivered. */
  readonly areDelivered: boolean;
}

/** The coin that remains from a bump; empty if the bump can never be mined. Pure. */
export function bumpCoins({
  txid,
  ownIndex,
  value,
  isOwing,
  isThere,
  areDelivered,
}: BumpCoinFacts): HeldCoin[] {
  if (!isThere) return [];
  const coin = { txid, vout: 0, value: BigInt(value), key: { branch: 1, index: ownIndex } };
  if (isOwing) return [{ ...coin, held: 'reserved', why: 'excess' }];
  return [
    areDelivered ? { ...coin, held: 'free', why: 'rest' } : { ...coin, held: 'waiting', why: 'delivery' },
  ];
}
