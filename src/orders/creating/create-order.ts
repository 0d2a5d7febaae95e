import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { confirmHold } from '#collections/selling/holds.store.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { together } from '#kernel/pg/transaction.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { CustomerFiles } from '#orders/files/customer-files.ts';
import { freeBytesMin, urlNameCharsMax } from '#orders/files/file-bounds.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { OrderWarning } from '#orders/inscribing/quote-order.ts';
import { insertOrder, type NewOrder, type NewOrderFile, type Order } from '#orders/order/order.store.ts';
import type { OrderRequest, StoredQuote } from '#orders/order/order-request.ts';
import { wakeOrder } from '#orders/order/order-wishes.store.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import { type DepositAddress, insertDepositAddresses } from '#orders/parents/deposits.store.ts';
import { reserve, type StockedOutpoint, type StockedSat } from '#orders/stock/reservations.store.ts';
import { depositWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { withNewKeys } from '#purse/destinations/with-new-keys.ts';
import { type AskedRune, askForRune } from '#tokenpay/inscribing/ask-for-rune.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { type NewKeys, newKeysOf } from './new-keys.ts';
import type { OrderKeys } from './order-keys.ts';

/** A file as the customer sent it. */
export interface SentFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** The sha256 of a content that is already on the disk of files. Absent if the content must be stored. */
  readonly stored?: Uint8Array;
  readonly mediaType: string;
  /** Fields of the file in answers, without `url` and `s3Key`. */
  readonly shown: object;
}

/** The client or key that reserves sats of the inventory. */
export interface StockedReserver {
  readonly client: string;
  /**
   * Maximum number of sats that the reserver's unpaid orders may reserve. Null if the limit of a client address
   * applies.
   */
  readonly most: number | null;
}

/** A checked and quoted order. */
export interface WantedOrder {
  readonly request: OrderRequest;
  /** Terms with the bytes of all contents. */
  readonly terms: OrderTerms;
  readonly layout: OrderLayout;
  readonly quote: StoredQuote;
  /** Warnings from the plan of the transactions. */
  readonly planned: readonly OrderWarning[];
  /**
   * The inventory sats that the terms name (one for each file), and who reserves these sats. Null if the order uses no
   * inventory sats.
   */
  readonly stocked: {
    readonly sats: readonly StockedSat[];
    readonly ofType: readonly StockedOutpoint[];
    readonly by: StockedReserver;
  } | null;
  /** The id under which the items are held. The order gets this id. Null if the order is not for a collection. */
  readonly hold: string | null;
  /** A rune that is paid in addition to the sats. Null if the price is in sats only. */
  readonly rune: AskedRune | null;
  /** One entry for each inscription; null for a delegate without a file. */
  readonly files: readonly (SentFile | null)[];
  readonly webhookUrl: string | null;
  readonly refundScript: Uint8Array | null;
  readonly timeoutMinutes: number;
  /** URL of a file for the customer, at the origin to which the order was sent. */
  readonly filesUrl: (s3Key: string) => string;
}

/** State of the parts that keep and deliver orders. */
export interface DeliveryStanding {
  /** Whether a process with the seed processes orders. Without such a process, paid orders would wait. */
  readonly isSignerThere: boolean;
  readonly areRevealsRefused: boolean;
  /** The tip of the index. Null if no block is indexed. */
  readonly tip: Height | null;
  /** Free bytes on the disk of files. */
  readonly freeBytes: number;
}

export interface CreationParts {
  /** Database connections of the role that answers requests and may add orders. */
  readonly pool: pg.Pool;
  /** Returns the keys of orders. Returns null if there is no wallet; no orders are then accepted. */
  readonly keys: () => Promise<OrderKeys | null>;
  readonly files: CustomerFiles;
  /** Reads the current state of the parts that keep and deliver orders. */
  readonly standing: (signal: AbortSignal | null) => Promise<DeliveryStanding>;
  /** Maximum number of inventory sats that the unpaid orders of one client may reserve. */
  readonly reservedMost: number;
}

/** A new order, as stored. */
export type CreatedOrder = NewOrder & Pick<Order, 'createdAt'>;

/** The result of storing an order. */
export interface MadeOrder {
  readonly order: CreatedOrder;
  /** Fields of the files for answers. */
  readonly files: readonly object[];
  /** Warnings from the plan of the transactions. */
  readonly planned: readonly OrderWarning[];
  /** The token order that charges the rune. Null if the price is in sats only. */
  readonly tokenOrder: TokenOrder | null;
}

/** Stores further data in the database transaction that creates an order. */
export type OnMade = (tx: pg.ClientBase, made: MadeOrder) => Promise<void>;

/**
 * Stores an order with its own address. The address is watched from the next block on. Before this returns, contents
 * are on disk, and everything else is committed in one database transaction. So no address is shown for an order that
 * could be lost. Throws `orders_off`, `wallet_indices_unreleased`, `inventory_taken`, `inventory_reserved_max` and
 * `collection_items_taken`.
 *
 * @param signal signal of the client, or null if there is no client; it aborts the reads at the start, but not the
 *   writes
 */
export async function createOrder(
  parts: CreationParts,
  wanted: WantedOrder,
  now: Date,
  onMade: OnMade | undefined,
  signal: AbortSignal | null,
): Promise<MadeOrder> {
  const { pool, files, reservedMost } = parts;
  const { planned } = wanted;
  const { keys, tip } = await requireOpen(parts, wanted, signal);
  // no order is created for a client that has disconnected
  signal?.throwIfAborted();
  const stored = await inLanes(wanted.files, writesAtOnce, (file) => storeFile(files, file, wanted.filesUrl));
  const shown = stored.map((file) => file.shown);
  failpoint('order-files');
  const made = await withNewKeys(pool, keys.leases, newKeysOf(keys, wanted), async (tx, own, checked) => {
    const wished = newOrder(own, wanted, stored, now);
    // earlier blocks cannot contain payments, because no one knew the addresses when the index reached the tip
    const sinceHeight = asHeight(tip + 1);
    const [createdAt] = await together<[Date, unknown]>(tx, [
      () => insertOrder(tx, wished, checked),
      () => watchScripts(tx, watcherOf(wished.id), [{ script: wished.script, sinceHeight }]),
    ]);
    if (own.deposits.length > 0) await watchDeposits(tx, wished.id, own.deposits, sinceHeight);
    const order = { ...wished, createdAt };
    if (wanted.stocked !== null) {
      const { sats, ofType, by } = wanted.stocked;
      await reserve(tx, order.id, sats, { client: by.client, ofType, most: by.most ?? reservedMost });
      failpoint('order-reserved');
    }
    if (wanted.hold !== null && !(await confirmHold(tx, wanted.hold)))
      throw new AppError('collection_items_taken', 'It took too long to make the order. Order again.');
    const tokenOrder = await askForRuneOf(tx, wanted, order, own);
    const answered: MadeOrder = { order, files: shown, planned, tokenOrder };
    await onMade?.(tx, answered);
    failpoint('order-making');
    return answered;
  });
  failpoint('order-made');
  return made;
}

/** Creates the token order that charges a rune, if the order asks for one. */
const askForRuneOf = async (
  tx: pg.ClientBase,
  { rune }: Pick<WantedOrder, 'rune'>,
  order: CreatedOrder,
  own: NewKeys,
): Promise<TokenOrder | null> =>
  rune === null || own.rune === null ? null : askForRune(tx, rune, order, own.rune, order.createdAt);

/**
 * Returns the keys of orders and the tip of the index if an order can be created and delivered now. Throws `orders_off`
 * if not.
 */
async function requireOpen(
  { keys: openKeys, standing }: Pick<CreationParts, 'keys' | 'standing'>,
  wanted: Pick<WantedOrder, 'files'>,
  signal: AbortSignal | null,
): Promise<{ readonly keys: OrderKeys; readonly tip: Height }> {
  const keys = await openKeys();
  if (keys === null)
    throw new AppError('orders_off', 'this service accepts no orders, because it has no wallet');
  const { isSignerThere, areRevealsRefused, tip, freeBytes } = await standing(signal);
  signal?.throwIfAborted();
  if (!isSignerThere)
    throw new AppError(
      'orders_off',
      'this service accepts no orders now, because no process with the seed of the wallet (WALLET_SEED_FILE) is running',
    );
  if (areRevealsRefused)
    throw new AppError(
      'orders_off',
      'this service accepts no orders now, because its node relays no reveals',
    );
  const bytes = wanted.files.reduce((sum, file) => sum + (file?.content.length ?? 0), 0);
  if (freeBytes - bytes < freeBytesMin)
    throw new AppError(
      'orders_off',
      'this service accepts no orders now, because its disk has no space for more files',
    );
  if (tip === null)
    throw new AppError('orders_off', 'this service accepts no orders yet, because no block is indexed');
  return { keys, tip };
}

/** The reason why no order could be created and delivered now, even without files. Null if orders are accepted. */
export async function whyClosed(
  parts: Pick<CreationParts, 'keys' | 'standing'>,
  signal: AbortSignal | null,
): Promise<string | null> {
  try {
    await requireOpen(parts, { files: [] }, signal);
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'orders_off') return error.message;
    throw error;
  }
}

/** The order to store, with its own keys and payment address. */
function newOrder(
  { keyIndex, ownIndex, charge }: NewKeys,
  wanted: WantedOrder,
  files: readonly NewOrderFile[],
  now: Date,
): NewOrder {
  const { request, terms, layout, quote, webhookUrl, refundScript, timeoutMinutes } = wanted;
  return {
    id: wanted.hold ?? randomUUID(),
    kind: terms.type,
    keyIndex,
    ownIndex,
    ...charge,
    paidTo: layout.paidTo,
    amount: BigInt(quote.amount),
    quote,
    request,
    terms: storedTerms(terms),
    webhookUrl,
    refundScript,
    expiresAt: new Date(now.getTime() + timeoutMinutes * 60_000),
    files,
  };
}

/** Watches the deposit address of each parent. */
async function watchDeposits(
  tx: pg.ClientBase,
  id: string,
  deposits: readonly DepositAddress[],
  sinceHeight: Height,
): Promise<void> {
  await insertDepositAddresses(tx, id, deposits);
  const watches = deposits.map((deposit) => ({ script: deposit.script, sinceHeight }));
  await watchScripts(tx, depositWatcherOf(id), watches);
  // wakes the process with the seed, which changes the order's state to waiting-parent
  await wakeOrder(tx, id);
}

/**
 * Maximum number of files of one order that are written at the same time. 10,000 open files would exceed the limit of a
 * process.
 */
const writesAtOnce = 8;

async function storeFile(
  files: CustomerFiles,
  file: SentFile | null,
  filesUrl: WantedOrder['filesUrl'],
): Promise<NewOrderFile> {
  if (file === null) return { sha256: null, mediaType: null, s3Key: null, shown: {} };
  const sha256 = file.stored ?? (await files.put(file.content));
  const s3Key = `${randomUUID()}_${file.name.slice(-urlNameCharsMax).toWellFormed()}`;
  const shown = { ...file.shown, url: filesUrl(s3Key), s3Key };
  return { sha256, mediaType: file.mediaType, s3Key, shown };
}
