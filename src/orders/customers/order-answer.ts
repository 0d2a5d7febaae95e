import type { EtchedRune } from '#chain/runes/etched-by.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { MadeOrder } from '#orders/creating/create-order.ts';
import { orderPayments, type PaymentRecords } from '#orders/following/order-payments.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { refundedFiles } from '#orders/ledger/lost-files.ts';
import type { StoredMint } from '#orders/minting/ordered-mints.store.ts';
import { missingSats } from '#orders/order/coin-selection.ts';
import type { NewOrder, Order, OrderFile } from '#orders/order/order.store.ts';
import { countsInTime } from '#orders/order/order-facts.ts';
import { deliveringStates, type OrderState } from '#orders/order/order-machine.ts';
import type { StoredRepricing } from '#orders/order/order-request.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import type { ShownParent } from '#orders/parents/shown-parents.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import { estimateWarnings } from '#orders/pricing/fee-faults.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { etchedFields, etchingTx, runeProperties } from './etching-answer.ts';
import { type ChargedOrder, managedCharge, managedFields, managedTx, onlyParent } from './managed-answer.ts';
import { mintFields } from './mint-answer.ts';
import { shownOrderType } from './order-type.ts';
import { type Lacking, psbtWay } from './psbt-way.ts';
import { tokenPayCharge } from './rune-answer.ts';
import { placeOf } from './tell-customer.ts';

/**
 * The answer to a creation. It contains all inputs; absent inputs are null. The charge of a direct order has no
 * address. The charge of a managed order is complete (client-compat 3.4, 3.5), and the answer also shows how to pay by
 * PSBT. `warnings` is absent if there are no warnings.
 *
 * @param origin scheme and host at which customers reach this service
 */
export function createdAnswer(
  order: ChargedOrder & Pick<NewOrder, 'kind' | 'request' | 'terms' | 'webhookUrl'>,
  { files, planned, tokenOrder }: Pick<MadeOrder, 'files' | 'planned' | 'tokenOrder'>,
  origin: string,
): object {
  const { count: _, ...request } = order.request;
  const isManaged = order.kind === 'bulk';
  const warnings = [...planned, ...creationWarnings(order)];
  const properties = runeProperties(order.terms);
  return {
    id: order.id,
    status: 'ok',
    state: 'waiting-payment' satisfies OrderState,
    orderType: shownOrderType(order.kind, order.terms),
    ...(properties === null ? {} : { runeProperties: properties }),
    ...mintFields(order.terms),
    ...chargesOf(order, tokenOrder, origin),
    ...(isManaged && tokenOrder === null
      ? { psbt: psbtWay(order, { sats: order.amount, parents: order.terms.parents.length }) }
      : {}),
    ...costs(order),
    files,
    ...request,
    ...(isManaged ? { parent: onlyParent(request.parents), rareSatsFee: order.quote.rareSatsFee ?? 0 } : {}),
    ...(request.collection === undefined ? {} : collectionCosts(order)),
    webhookUrl: order.webhookUrl,
    // this placeholder is intended, because recorded answers of the original service contain its database's placeholder
    // here
    createdAt: { '.sv': 'timestamp' },
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** The charge of an order, or both charges if the order is paid in sats and a rune. */
function chargesOf(
  order: ChargedOrder & Pick<NewOrder, 'kind'>,
  tokenOrder: TokenOrder | null,
  origin: string,
): object {
  if (tokenOrder !== null) return { charge: null, tokenPayCharge: tokenPayCharge(tokenOrder, origin) };
  return { charge: order.kind === 'bulk' ? managedCharge(order, origin) : { amount: Number(order.amount) } };
}

/** Costs that only orders of collection items have (client-compat 3.11). */
const collectionCosts = ({ amount, request, quote }: Pick<NewOrder, 'amount' | 'request' | 'quote'>) => ({
  collectionServiceFee: quote.collectionServiceFee ?? 0,
  price: quote.creator?.price ?? 0,
  fileCount: request.count,
  amount: Number(amount),
});

/** Warnings that the order may wait long, based on the fee estimate in the quote. */
function creationWarnings({ terms, quote }: Pick<NewOrder, 'terms' | 'quote'>): object[] {
  const estimate = quote.feeEstimate === undefined ? null : BigInt(quote.feeEstimate);
  const { burn } = terms;
  return estimateWarnings({ burn, feeRate: BigInt(terms.feeRate) }, estimate).map(({ message }) => ({
    code: 'fee-below-estimate',
    message,
  }));
}

/** Facts about an order that are not in its row. */
export interface OrderProgress {
  readonly files: readonly OrderFile[];
  readonly transactions: readonly OrderTransaction[];
  /** Mints of the order; empty for other orders. */
  readonly mints: readonly StoredMint[];
  /** The rune that the order's reveal etched. Null if the order etches nothing, or no block has the reveal. */
  readonly etched: EtchedRune | null;
  /** Payments to the order's address. */
  readonly payments: readonly WatchedPayment[];
  /** Inscriptions and runes in these payments. Only read while the order waits for more payments. */
  readonly held: HeldPayments;
  /** The parents, in the sequence of the request. */
  readonly parents: readonly ShownParent[];
  /** The token order that charges the rune. Null if the price is in sats only. */
  readonly tokenOrder: TokenOrder | null;
}

/** Whether the whole payment is refunded, less the fees of miners. */
export const isRefunded = (state: OrderState): boolean => state === 'waiting-refund' || state === 'refunded';

/** States in which the whole amount has been paid. Clients see `paid` in these states. */
const paidStates: readonly OrderState[] = ['prep', ...deliveringStates, 'completed'];

/**
 * The answer to GET /order. Fields without a value are left out (client-compat 3.6).
 *
 * @param origin scheme and host at which customers reach this service
 */
export function orderAnswer(
  order: Order,
  progress: OrderProgress,
  network: NetworkParameters,
  origin: string,
): object {
  const files = progress.files.map(fileAnswers(order, progress));
  return { ...orderFields(order, progress, network, origin), ...onlyFileOf(order, progress), files };
}

/**
 * `tx` and `sent` of a managed order with one file, as fields of the order. Clients of the first API read them from the
 * order instead of the file.
 */
export function onlyFileOf(
  order: Order,
  progress: Pick<OrderProgress, 'files' | 'transactions'>,
): Readonly<Record<string, unknown>> {
  const [file] = progress.files;
  if (order.kind !== 'bulk' || file === undefined || progress.files.length > 1) return {};
  const { tx, sent } = fileAnswers(order, progress)(file);
  return withoutNulls({ tx, sent });
}

/** The fields of GET /order without the files. */
export function orderFields(
  order: Order,
  { transactions, mints, etched, payments, held, parents, tokenOrder }: Omit<OrderProgress, 'files'>,
  network: NetworkParameters,
  origin: string,
): Readonly<Record<string, unknown>> {
  const { count, ...request } = order.request;
  const isManaged = order.kind === 'bulk';
  const shown =
    request.parents?.map((parent, index) => withoutNulls({ ...parent, ...parents[index] })) ?? null;
  return withoutNulls({
    id: order.id,
    status: 'ok',
    state: order.state,
    orderType: shownOrderType(order.kind, order.terms),
    runeProperties: runeProperties(order.terms),
    etchingTx: etchingTx(order.terms, transactions),
    ...etchedFields(etched),
    ...mintFields(order.terms, { transactions, mints, isRefunded: isRefunded(order.state) }),
    createdAt: order.createdAt.getTime(),
    ...request,
    parents: shown,
    ...costs(order),
    webhookUrl: order.webhookUrl,
    ...readCharges(order, tokenOrder, origin),
    psbt:
      isPayable(order) && tokenOrder === null
        ? psbtWay(order, lackingOf(order, { payments, transactions, held }, parents))
        : null,
    ...(isManaged ? { parent: onlyParent(shown), ...managedFields(order, transactions) } : {}),
    ...progressOf(order),
    ...receivedOf(order, { payments, transactions, held }),
    repriced: order.repriced === null ? null : shownRepricing(order.repriced),
    inscribedCount:
      order.state === 'completed' ? count - refundedFiles(order.terms, transactions).length : null,
    error: order.error,
    expiresAt: order.expiresAt.getTime(),
    ...refundsOf(transactions, network),
  });
}

function readCharges(order: Order, tokenOrder: TokenOrder | null, origin: string): object {
  if (tokenOrder !== null) return { tokenPayCharge: tokenPayCharge(tokenOrder, origin) };
  return {
    charge:
      order.kind === 'bulk'
        ? withoutNulls(managedCharge(order, origin))
        : { address: order.address, amount: Number(order.amount), callback_url: '' },
  };
}

/**
 * Returns a function that makes the fields of a file. The work for all files is done once, because there can be 10,000
 * files.
 */
export function fileAnswers(
  order: Order,
  { transactions }: Pick<OrderProgress, 'transactions'>,
): (file: OrderFile) => Readonly<Record<string, unknown>> {
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  // keyed by index, because a burn has the same index as its reveal
  const burns = new Map(
    transactions
      .filter(({ kind, sentAt }) => kind === 'burn' && sentAt !== null)
      .map((burn) => [burn.index, burn]),
  );
  return (file) => fileOf(file, order, { transactions, reveals, burns });
}

/** A flag for an answer: true, or null (absent). Clients check whether a flag is present and true. */
const flag = (isSet: boolean): true | null => (isSet ? true : null);

function progressOf({ state, paidAt }: Order): object {
  const isPaid = paidStates.includes(state);
  return {
    paid: flag(isPaid),
    paidAt: isPaid && paidAt !== null ? paidAt.getTime() : null,
    processing: flag(isPaid && state !== 'completed'),
    completed: flag(state === 'completed'),
    expired: flag(state === 'expired'),
  };
}

/** Whether an order still waits for payments or parents. */
export const isWaiting = ({ state }: Pick<Order, 'state'>): boolean =>
  state === 'waiting-payment' || state === 'waiting-parent';

/** Whether a payment that is sent now would be accepted. */
const isPayable = (order: Pick<Order, 'state' | 'isCancelAsked' | 'expiresAt'>): boolean =>
  isWaiting(order) && !order.isCancelAsked && order.expiresAt > new Date();

function lackingOf(order: Order, records: PaymentRecords, parents: readonly ShownParent[]): Lacking {
  const isPaidInPart = records.payments.some(({ goneAt }) => goneAt === null);
  return {
    // computing the costs of inputs takes milliseconds, so it is skipped if nothing was paid
    sats: isPaidInPart ? missingOf(order, records) : order.amount,
    parents: parents.filter(({ txid }) => txid === null).length,
  };
}

function receivedOf(order: Order, records: PaymentRecords): object {
  const { payments } = records;
  const { amount } = order;
  const there = payments.filter(({ goneAt }) => goneAt === null);
  const received = valueOf(there);
  const missing = isWaiting(order) && there.length > 0 ? missingOf(order, records) : 0n;
  return {
    // shown even while the order waits for parents, so that clients see whether the payment is complete or missing
    received: received > 0n ? Number(received) : null,
    underpaid: flag(missing > 0n),
    missing: missing > 0n ? Number(missing) : null,
    overpaid: flag(received > amount),
  };
}

/** Sats that one more payment must contain to complete the payment. Late payments and dust are ignored. */
function missingOf(order: Order, records: PaymentRecords): bigint {
  const times = { expiresAt: order.expiresAt, now: new Date() };
  const counting = orderPayments(order, records).filter((payment) => countsInTime(payment, times));
  return missingSats(counting, coinCosts(order));
}

/** A price change in the form of the answer. Fee rates are in sats per virtual byte. */
function shownRepricing({
  before,
  amount,
  fromEstimate,
  toEstimate,
  feeRate,
  until,
}: StoredRepricing): object {
  const rate = (perThousand: number): number => perThousand / 1000;
  return {
    amount,
    before,
    from: rate(fromEstimate),
    to: rate(toEstimate),
    fee: rate(feeRate),
    until,
  };
}

function costs({ quote }: Pick<Order, 'quote'>): object {
  const { chainFee, serviceFee, baseFee, rareSatsFee, additionalFeeCharged, postage } = quote;
  const rare = rareSatsFee === undefined ? {} : { rareSatsFee };
  const held = quote.heldUntil === undefined ? {} : { priceHeldUntil: quote.heldUntil };
  return { chainFee, serviceFee, baseFee, ...rare, additionalFeeCharged, postage, ...held };
}

interface FileTransactions extends Pick<OrderProgress, 'transactions'> {
  readonly reveals: readonly OrderTransaction[];
  /** Sent burns, by the index of their reveal. */
  readonly burns: ReadonlyMap<number, OrderTransaction>;
}

function fileOf(
  { index, shown }: OrderFile,
  order: Order,
  { transactions, reveals, burns }: FileTransactions,
): Readonly<Record<string, unknown>> {
  const { state } = order;
  const placed = placeOf(index, reveals);
  if (placed === null) return withoutNulls(shown);
  const { reveal, inscription } = placed;
  const txid = displayHash(reveal.txid);
  const isCompleted = state === 'completed';
  const isSent = reveal.sentAt !== null;
  const burn = burns.get(reveal.index);
  return withoutNulls({
    ...shown,
    iqueued: true,
    iqueuedAt: reveal.madeAt.getTime(),
    processing: isCompleted ? null : true,
    completed: isCompleted ? true : null,
    status: isCompleted ? 'inscribed' : isSent ? 'broadcast' : 'queued',
    error: reveal.refusal,
    inscriptionId: isSent ? inscription : null,
    sent: isSent ? txid : null,
    tx: isSent
      ? {
          inscription,
          reveal: txid,
          ...(burn === undefined ? {} : { burn: displayHash(burn.txid) }),
          totalFees: reveal.fee,
          ...(order.kind === 'bulk' ? managedTx(order, placed, transactions) : {}),
          updatedAt: (reveal.sentAt ?? reveal.madeAt).getTime(),
        }
      : null,
  });
}

/**
 * Fields about refunds. `refund` has the sum of all refunds, with address and txid of the newest refund. `refunds` has
 * each refund, if there are several.
 */
function refundsOf(transactions: readonly OrderTransaction[], network: NetworkParameters): object {
  const refunds = transactions.flatMap(({ txid, plan, sentAt }) => {
    const output = plan.outputs.find(({ kind }) => kind === 'refund');
    if (sentAt === null || output === undefined) return [];
    const address = scriptToAddress(Buffer.from(output.script, 'hex'), network);
    return [{ address, amount: output.value, txid: displayHash(txid) }];
  });
  const newest = refunds.at(-1);
  if (newest === undefined) return {};
  const amount = refunds.reduce((sum, refund) => sum + refund.amount, 0);
  return { refund: { ...newest, amount }, refunds: refunds.length > 1 ? refunds : null };
}

const withoutNulls = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
