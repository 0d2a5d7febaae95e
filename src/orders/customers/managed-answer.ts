import assert from 'node:assert/strict';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { valueIn } from '#purse/transactions/stored-plan.ts';

/** Fields of an order from which its charge is made. */
export type ChargedOrder = Pick<
  Order,
  'id' | 'address' | 'amount' | 'quote' | 'terms' | 'createdAt' | 'expiresAt'
>;

/** Name of the goods. Wallets store this name as the payment's label. */
function chargeDescription({ terms }: Pick<Order, 'terms'>): string {
  if (terms.mint !== undefined) return 'Rune mint order';
  return terms.etching === undefined ? 'Inscription order' : 'Rune etching order';
}

/**
 * The charge of a managed order, with the fields of the payment service that clients know (client-compat 3.5). `status`
 * is always `unpaid`, as at that payment service; clients read the state of the order instead. Lightning is not
 * supported, so its fields are absent.
 *
 * @param origin scheme and host at which customers reach this service
 */
export function managedCharge(order: ChargedOrder, origin: string): Readonly<Record<string, unknown>> {
  const { id, address, amount, quote, createdAt, expiresAt } = order;
  const description = chargeDescription(order);
  return {
    id,
    description,
    desc_hash: false,
    created_at: Math.floor(createdAt.getTime() / 1000),
    status: 'unpaid',
    amount: Number(amount),
    callback_url: '',
    success_url: null,
    hosted_checkout_url: orderPageUrl(origin, id),
    order_id: null,
    currency: 'BTC',
    source_fiat_value: Number(amount),
    ...(quote.fiatValue === undefined ? {} : { fiat_value: quote.fiatValue }),
    auto_settle: false,
    notif_email: null,
    address,
    metadata: {},
    chain_invoice: { address },
    uri: paymentUri(address, amount, description),
    ttl: Math.round((expiresAt.getTime() - createdAt.getTime()) / 60_000),
  };
}

/** URL of an order's page. The id is a secret, so it is in the fragment, which browsers send to no server. */
const orderPageUrl = (origin: string, id: string): string => `${origin}/order#${id}`;

/**
 * A payment URI (BIP 21). The label does not contain the order's id, because wallets store the label, and the id gives
 * access to the order.
 */
const paymentUri = (address: string, amount: bigint, label: string): string =>
  `bitcoin:${address}?amount=${bitcoinOf(amount)}&label=${encodeURIComponent(label)}`;

const bitcoinDecimals = 8;

/** An amount in bitcoin, exact and without trailing zeros. */
export const bitcoinOf = (sats: bigint): string => shownAmount(asU128(sats), bitcoinDecimals);

/** The only parent, which is shown as `parent` in addition to the list; null if there is no parent, or several. */
export const onlyParent = <Parent>(parents: readonly Parent[] | null): Parent | null =>
  parents?.length === 1 ? (parents[0] ?? null) : null;

/** Fields that only managed orders have (client-compat 3.6). */
export function managedFields(
  order: Pick<Order, 'amount' | 'request' | 'quote'>,
  transactions: readonly OrderTransaction[],
): Readonly<Record<string, unknown>> {
  const [first] = transactions.filter(({ kind }) => kind === 'commit' || kind === 'reveal');
  return {
    amount: Number(order.amount),
    price: order.quote.creator?.price ?? 0,
    ...(order.quote.collectionServiceFee === undefined
      ? {}
      : { collectionServiceFee: order.quote.collectionServiceFee }),
    fileCount: order.request.count,
    rareSatsFee: order.quote.rareSatsFee ?? 0,
    processingAt: first?.madeAt.getTime() ?? null,
  };
}

/** A file that a reveal inscribes. */
export interface RevealedFile {
  readonly reveal: OrderTransaction;
  /** Index of the file among the files of the reveal. */
  readonly place: number;
  readonly inscription: string;
}

/** Fields of `tx` that only files of managed orders have. The fees are the fees of the reveal. */
export function managedTx(
  order: Pick<Order, 'terms' | 'quote'>,
  { reveal, place, inscription }: RevealedFile,
  transactions: readonly OrderTransaction[],
): object {
  const commit = transactions.find(({ kind }) => kind === 'commit');
  return {
    ...(commit === undefined ? {} : { commit: displayHash(commit.txid) }),
    fees: reveal.fee,
    total_fees: reveal.fee,
    inscriptions: [inscription],
    reveals: [displayHash(reveal.txid)],
    satpoint: satpointOf(order, reveal, place),
  };
}

/** Position of the inscribed sat once the reveal is mined. Format: `<txid>:<vout>:<offset>`. */
function satpointOf(
  { terms, quote }: Pick<Order, 'terms' | 'quote'>,
  { txid, plan }: OrderTransaction,
  place: number,
): string {
  const holding = [...plan.outputs.keys()].filter((vout) => {
    const kind = plan.outputs[vout]?.kind;
    return kind === 'postage' || kind === 'burn';
  });
  const isShared = terms.batchMode === 'shared-output';
  const vout = holding[isShared ? 0 : place];
  assert(vout !== undefined, 'a reveal has an output for each of its inscriptions');
  const lent = terms.parents.reduce((sum, { value }) => sum + BigInt(value), 0n);
  const brought = valueIn(plan.inputs.slice(0, terms.parents.length));
  // pointers use the values in the terms, and the first inscription has no pointer
  const offset = isShared && place > 0 ? BigInt(place) * BigInt(quote.postage) + lent - brought : 0n;
  return `${displayHash(txid)}:${vout}:${offset}`;
}
