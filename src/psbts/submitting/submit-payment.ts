import type pg from 'pg';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { findOpenOrder } from '#orders/paying/find-open-order.ts';
import type { FoundOrder } from '#orders/paying/open-order.ts';
import { broadcast } from '#orders/sending/broadcast.ts';
import { orderOfWatcher } from '#orders/watching/watchers.ts';
import { seenPayments, watchersOfScripts } from '#payments/payments.queries.ts';
import { hurryPayments } from '#payments/store/watches.store.ts';
import type { TokenOrderState } from '#tokenpay/order/charge-state.ts';
import { readTokenOrder } from '#tokenpay/order/token-order.store.ts';
import { orderOfTokenWatcher } from '#tokenpay/order/watchers.ts';
import { paymentWarnings } from './payment-warnings.ts';
import { refusalWords } from './refusal-words.ts';

export interface SubmittingParts {
  readonly pool: pg.Pool;
  readonly node: NodeRpc;
  readonly network: NetworkParameters;
  readonly satributes: SatributeBook;
}

/** The result of submitting a customer's payment. */
export type Submitted =
  /** The transaction is in a node's mempool or in a block. */
  | { readonly kind: 'taken'; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Maximum number of orders that are read per payment. Each order needs some statements, and a payment is for one order,
 * or a few.
 */
const ordersMax = 10;

/**
 * Sends a signed transaction that pays an open order: the charge, or a deposit of a parent. Repeated calls with the
 * same transaction have the same outcome. The sender decides what the payment does, so missing parts of the order cause
 * only warnings. Nothing of the transaction is stored here. Throws the codes of NodeRpc if the node does not answer.
 */
export async function submitPayment(
  parts: SubmittingParts,
  transaction: RawTransaction,
  signal: AbortSignal | null,
): Promise<Submitted> {
  const { pool, node } = parts;
  const looked = await withCutConnection(pool, signal, (client) => look(client, parts.network, transaction));
  if (looked === 'mined') return { kind: 'taken', warnings: [] };
  const reason = looked === 'seen' ? null : whyNotOpen(looked);
  if (reason !== null) return { kind: 'refused', reason };
  const refusal = await send(node, transaction.bytes);
  if (refusal !== null) return { kind: 'refused', reason: refusal };
  if (looked === 'seen') return { kind: 'taken', warnings: [] };
  await hurryPayments(pool);
  return { kind: 'taken', warnings: paymentWarnings(looked.orders, transaction, parts.satributes) };
}

/** Inscription orders that a transaction pays, and the states of the shop orders that it pays. */
interface PaidOrders {
  readonly orders: readonly FoundOrder[];
  readonly shopStates: readonly TokenOrderState[];
}

/**
 * Finds the orders that a transaction pays. `mined`: the transaction is in a block. `seen`: the transaction is in the
 * mempool, or was in it until another transaction replaced it.
 */
async function look(
  client: pg.ClientBase,
  network: NetworkParameters,
  { txid, outputs }: RawTransaction,
): Promise<PaidOrders | 'mined' | 'seen'> {
  const watchers = await watchersOfScripts(
    client,
    outputs.map(({ script }) => script),
  );
  const ids = new Set(watchers.flatMap((watcher) => orderOfWatcher(watcher) ?? []));
  const orders: FoundOrder[] = [];
  for (const id of [...ids].slice(0, ordersMax)) orders.push(await findOpenOrder(client, network, { id }));
  const ofShops = new Set(watchers.flatMap((watcher) => orderOfTokenWatcher(watcher) ?? []));
  const shopStates: TokenOrderState[] = [];
  for (const id of [...ofShops].slice(0, ordersMax)) {
    const order = await readTokenOrder(client, id);
    if (order !== null) shopStates.push(order.state);
  }
  // the payments are read last, because the wallet may have just sent the transaction itself; an order that it pays
  // would otherwise seem to be paid by another transaction
  const known = await seenPayments(client, txid);
  if (known.length > 0) return known.some(({ isMined }) => isMined) ? 'mined' : 'seen';
  return { orders, shopStates };
}

/** States of paid orders whose payment may still be unconfirmed, so that another transaction may replace it. */
const replaceable: ReadonlySet<OrderState> = new Set([
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
]);
const isReplaceable = (found: FoundOrder): boolean => found.kind === 'paid' && replaceable.has(found.state);

/** Explains why no order accepts the payment. Returns null if at least one of the orders accepts money. */
function whyNotOpen({ orders, shopStates }: PaidOrders): string | null {
  if (shopStates.includes('pending')) return null;
  if (orders.some((each) => each.kind === 'open' || isReplaceable(each))) return null;
  const [shopState] = shopStates;
  if (shopState !== undefined)
    return `The transaction pays an order of a shop that has ended with the state ${shopState}. A payment now would still be credited to the shop.`;
  const states = orders.flatMap((each) => (each.kind === 'over' || each.kind === 'paid' ? [each.state] : []));
  const [state] = states;
  if (state === undefined)
    return 'hex pays no open order of this service, because none of its outputs goes to the address of a charge or a deposit. Send it with any other node.';
  return `The transaction pays an order that accepts no more money, because its state is ${state}. A payment now would be refunded.`;
}

/** Sends the transaction. Returns the reason if the node does not accept it, or null if the node has it. */
async function send(node: NodeRpc, bytes: Uint8Array): Promise<string | null> {
  try {
    const { refusal } = await broadcast(node, { bytes, burned: 0 });
    return refusal === null ? null : refusalWords(refusal.reason);
  } catch (error) {
    if (error instanceof AppError && error.code === 'node_call_failed') return refusalWords(error.message);
    throw error;
  }
}
