import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { areRevealsRefused } from '#chain/pending/pending.queries.ts';
import type { HoldBounds } from '#collections/selling/hold-bounds.ts';
import type { RefusedHold } from '#collections/selling/hold-request.ts';
import { giveUpHold, ItemHolds } from '#collections/selling/holds.store.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { holderOf, holdForOrder } from '#orders/collections/hold-for-order.ts';
import type { OrderedItems } from '#orders/collections/ordered-items.ts';
import { tokenOrderOf } from '#orders/collections/token-order-of.ts';
import type { PersonCheck } from '#orders/collections/turnstile.ts';
import {
  type CreationParts,
  createOrder,
  type DeliveryStanding,
  type MadeOrder,
  type OnMade,
  type WantedOrder,
  whyClosed,
} from '#orders/creating/create-order.ts';
import { type FetchedContents, fetchContents } from '#orders/creating/fetch-contents.ts';
import {
  answerKey,
  claimKey,
  giveUpKey,
  type KeyedRequest,
  type KeyState,
} from '#orders/creating/idempotency.store.ts';
import { bytesOfOrder, StoredBytes } from '#orders/creating/stored-bytes.ts';
import { etchedRuneOf } from '#orders/etching/etched-rune.ts';
import { type FoundFile, findFiles } from '#orders/files/file.store.ts';
import { type NamedFiles, OwnFiles } from '#orders/files/own-files.ts';
import type { Miner } from '#orders/mining/miner.ts';
import { readOrderMints } from '#orders/minting/ordered-mints.store.ts';
import { isCancelled, type Order, readOrder, readOrderFiles } from '#orders/order/order.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { type OrderTransaction, readTransactions } from '#orders/order/order-transactions.store.ts';
import { askToCancel } from '#orders/order/order-wishes.store.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { readHeldPayments } from '#orders/parents/held-payments.ts';
import { readDeposits } from '#orders/parents/read-deposits.ts';
import { type ShownParent, shownParents } from '#orders/parents/shown-parents.ts';
import { findOpenOrder, type WantedOrderName } from '#orders/paying/find-open-order.ts';
import type { FoundOrder } from '#orders/paying/open-order.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';
import { MissedCodes } from '#orders/referrals/missed-codes.ts';
import type { ReferralRequest } from '#orders/referrals/read-referral.ts';
import {
  isReferral,
  putReferral,
  type ReferralStatus,
  readReferral,
} from '#orders/referrals/referral.store.ts';
import { type NodePolicy, readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { watcherOf } from '#orders/watching/watchers.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { urlProblem } from '#outgoing/stranger-url.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { replayWebhooks } from '#webhooks/outbox.ts';
import { readWebhooks, type Webhook } from '#webhooks/webhooks.queries.ts';
import { CustomerUploads } from './customer-uploads.ts';
import { isWaiting, type OrderProgress } from './order-answer.ts';
import { OwnScriptLookups } from './own-script-lookups.ts';
import { webhookSubjectOf } from './tell-customer.ts';

export interface CustomerOrdersParts extends Omit<CreationParts, 'standing'> {
  /** Whether a process with the seed processes orders. */
  readonly isSignerThere: () => Promise<boolean>;
  readonly outgoing: OutgoingHttp;
  /** The miner that takes reveals above the standard weight. Null if there is no miner. */
  readonly miner: Miner | null;
  readonly allowPrivateUrls: boolean;
  readonly timeoutMinutes: number;
  readonly publicOrigin: string | null;
  /** Maximum number of bytes that one client may store in a day. Null if there is no limit. */
  readonly bytesADay: number | null;
  /** Maximum number of bytes that one key may upload in a day. Null if there is no limit. */
  readonly uploadBytesADay: number | null;
  /** Limits of the number of items that unpaid orders of collections may hold. */
  readonly holdBounds: HoldBounds;
  /** Checks tokens that show that a person orders items of a collection. Null if tokens are not checked. */
  readonly persons: PersonCheck | null;
}

/**
 * Maximum number of checks whether a cancellation was decided. The pause between two checks is `cancelLookMs`. These
 * checks are enough, because the process that decides is notified at once.
 */
const cancelTries = 30;
/** States in which a request to cancel may still be undecided. */
const cancellable: ReadonlySet<OrderState> = new Set(['waiting-payment', 'waiting-parent']);
const cancelLookMs = 100;
/** Explains how long contents are kept, for people who request a deleted file. */
const whyGone: Readonly<Record<FoundFile['kind'], string>> = {
  order: 'files are deleted 7 days after an order expired, or 30 days after it was completed or refunded',
  upload: 'uploads are deleted after 7 days, unless an order or a collection needs them',
};

/**
 * The actions of customers: order, read, cancel. This class signs nothing, and needs no seed. The client's signal
 * aborts reads; writes are completed. A null signal means that there is no client.
 */
export class CustomerOrders {
  readonly #parts: CustomerOrdersParts;
  readonly #stored: StoredBytes;
  readonly #missedCodes = new MissedCodes();
  /** State of the parts that keep and deliver orders. Creations at the same time share one read of this state. */
  readonly #standing: SharedMaking<DeliveryStanding>;
  /** Fee rates that the node accepts. Creations at the same time share one read. */
  readonly #nodePolicy: SharedMaking<NodePolicy | null>;
  readonly #ownScripts: OwnScriptLookups;
  readonly #holds: ItemHolds;
  /** The miner that takes reveals above the standard weight. Null if there is no miner. */
  readonly miner: Miner | null;
  /** Timeout of an order whose request names no timeout, in minutes. */
  readonly timeoutMinutes: number;
  /** Checks tokens that show that a person orders items of a collection. Null if tokens are not checked. */
  readonly persons: PersonCheck | null;
  /** Origin of the URLs of files. If it is null, the origin to which the order was sent is used. */
  readonly publicOrigin: string | null;
  /** Maximum number of inventory sats that the unpaid orders of one client may reserve. */
  readonly reservedMost: number;
  readonly uploads: CustomerUploads;

  constructor(parts: CustomerOrdersParts) {
    this.#parts = parts;
    this.miner = parts.miner;
    this.persons = parts.persons;
    this.timeoutMinutes = parts.timeoutMinutes;
    this.publicOrigin = parts.publicOrigin;
    this.reservedMost = parts.reservedMost;
    this.#stored = new StoredBytes(parts.bytesADay);
    const { pool, isSignerThere, files } = parts;
    this.uploads = new CustomerUploads({ pool, files, stored: new StoredBytes(parts.uploadBytesADay) });
    this.#holds = new ItemHolds(parts.pool);
    this.#standing = new SharedMaking(async (signal) => ({
      isSignerThere: await isSignerThere(),
      ...(await this.#reading(signal, async (client) => ({
        areRevealsRefused: await areRevealsRefused(client),
        tip: await indexedTip(client),
      }))),
      freeBytes: await files.freeBytes(),
    }));
    this.#nodePolicy = new SharedMaking((signal) => this.#reading(signal, readNodePolicy));
    this.#ownScripts = new OwnScriptLookups((scripts, signal) => this.#ownAmong(scripts, signal));
  }

  /** The reason why no order is accepted now. Null if orders are accepted. The client's signal aborts this method. */
  async whyClosed(signal: AbortSignal | null = null): Promise<string | null> {
    return whyClosed(this.#creationParts, signal);
  }

  /** The reason why the service sends nothing to a URL. Null if the URL is allowed. */
  urlProblem(url: string): string | null {
    return urlProblem(url, { allowPrivate: this.#parts.allowPrivateUrls });
  }

  /** Files of this service that a request may name by URL, at these origins. */
  ownFiles(origins: readonly string[]): OwnFiles {
    return new OwnFiles(this.#parts, origins);
  }

  /**
   * Fetches the contents that an order names by URL, for a waiting client. Throws the reason of the client's signal.
   */
  fetch(files: readonly ReadFile[], ours: NamedFiles, signal: AbortSignal): Promise<FetchedContents> {
    return fetchContents(this.#parts.outgoing, ours, files, signal);
  }

  /**
   * Stores a checked order. Clients get the payment address by reading the order. The asker's signal can abort this
   * method until the first write. The stored bytes are counted for the asker's client. Throws `rate_limited`.
   *
   * @param asker who creates the order; null if the program itself creates it
   */
  async create(
    wanted: WantedOrder,
    onMade?: OnMade,
    asker: Pick<Asker, 'client' | 'signal'> | null = null,
  ): Promise<MadeOrder> {
    if (asker !== null) this.#takeRoom(asker.client, wanted);
    return createOrder(this.#creationParts, wanted, new Date(), onMade, asker?.signal ?? null);
  }

  get #creationParts(): CreationParts {
    return { ...this.#parts, standing: (signal) => this.#standing.get(signal) };
  }

  /** Holds items of a collection for an order. If the order is not created, the caller must release the items. */
  holdItems(
    wanted: Parameters<typeof holdForOrder>[1],
    asker: Pick<Asker, 'client' | 'key' | 'signal'>,
  ): Promise<OrderedItems | RefusedHold> {
    const { pool, files, holdBounds } = this.#parts;
    return holdForOrder({ pool, holds: this.#holds, files }, wanted, holderOf(asker, holdBounds));
  }

  giveUpItems({ orderId }: Pick<OrderedItems, 'orderId'>): Promise<void> {
    return giveUpHold(this.#parts.pool, orderId);
  }

  /**
   * Reads an order with its progress; null if there is no order with this id. Uses one connection, even for long
   * orders, because four connections serve all customers.
   */
  async read(
    id: string,
    signal: AbortSignal | null = null,
  ): Promise<({ readonly order: Order } & OrderProgress) | null> {
    return this.#reading(signal, async (client) => {
      const order = await readOrder(client, id);
      if (order === null) return null;
      const files = await readOrderFiles(client, id);
      const transactions = await readTransactions(client, id);
      const payments = await readPayments(client, watcherOf(id));
      const parents = await parentsOf(client, order, transactions);
      const held = isWaiting(order) ? await readHeldPayments(client, order, payments) : new Map();
      const tokenOrder = await tokenOrderOf(client, order);
      const mints = await readOrderMints(client, order, transactions);
      const etched = await etchedRuneOf(client, order, transactions);
      return { order, files, transactions, mints, etched, payments, held, parents, tokenOrder };
    });
  }

  /** Finds an order that a client wants to pay, by the order's id or address. */
  findOpen(
    wanted: WantedOrderName,
    network: NetworkParameters,
    signal: AbortSignal | null = null,
  ): Promise<FoundOrder> {
    return this.#reading(signal, (client) => findOpenOrder(client, network, wanted));
  }

  /**
   * Cancels an unpaid order, or an order whose price was raised. The process with the seed decides. Returns false if
   * the order is paid and its price was not raised, if the order has already ended, or if there was no decision in
   * time.
   */
  async cancel(id: string): Promise<boolean> {
    const { pool } = this.#parts;
    await askToCancel(pool, id);
    failpoint('order-cancel');
    for (let tries = 0; tries < cancelTries; tries++) {
      const order = await readOrder(pool, id);
      if (order === null) return false;
      if (!cancellable.has(order.state)) return isCancelled(order);
      await sleep(cancelLookMs);
    }
    return false;
  }

  /** Events of an order after a sequence number, at most `limit`; null if there is no order with this id. */
  async events(
    id: string,
    after: number,
    limit: number,
    signal: AbortSignal | null = null,
  ): Promise<Webhook[] | null> {
    return this.#reading(signal, async (client) => {
      if ((await readOrder(client, id)) === null) return null;
      return readWebhooks(client, webhookSubjectOf(id), after, limit);
    });
  }

  /**
   * Sends events again, starting at a sequence number. Returns the number of messages that wait, or null if there is no
   * order with this id.
   */
  async replayEvents(id: string, from: number): Promise<number | null> {
    const { pool } = this.#parts;
    if ((await readOrder(pool, id)) === null) return null;
    return withTransaction(pool, (tx) => replayWebhooks(tx, webhookSubjectOf(id), from));
  }

  /**
   * Registers a client's referral code. Returns false if the code belongs to another address. Throws `rate_limited`.
   */
  async putReferral(
    referral: ReferralRequest,
    client: string,
    onMade?: (tx: pg.ClientBase) => Promise<void>,
  ): Promise<boolean> {
    this.#refuseGuesses(client);
    const isIts = await withTransaction(this.#parts.pool, async (tx) => {
      const isStored = await putReferral(tx, referral);
      if (isStored) await onMade?.(tx);
      return isStored;
    });
    if (!isIts) this.#missedCodes.count(client);
    return isIts;
  }

  /** Fee rates that the node accepts. Null if they are not known. */
  nodePolicy(signal: AbortSignal | null = null): Promise<NodePolicy | null> {
    return this.#nodePolicy.get(signal);
  }

  /** Whether an order may name a referral. Throws `rate_limited`. */
  async isReferral(code: string, { client, signal }: Pick<Asker, 'client' | 'signal'>): Promise<boolean> {
    this.#refuseGuesses(client);
    const isKnown = await this.#reading(signal, (connection) => isReferral(connection, code));
    if (!isKnown) this.#missedCodes.count(client);
    return isKnown;
  }

  /** Orders that named a referral; null if there is no referral with this code and address. */
  referral(referral: ReferralRequest, signal: AbortSignal | null = null): Promise<ReferralStatus | null> {
    return this.#reading(signal, (client) => readReferral(client, referral));
  }

  /** Returns those of the given scripts that belong to the service. */
  ownScriptsAmong(
    scripts: readonly Uint8Array[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly Uint8Array[]> {
    return this.#ownScripts.ask(scripts, signal);
  }

  async #ownAmong(scripts: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const keys = await this.#parts.keys();
    return this.#reading(signal, (client) => ownScriptsAmong(client, scripts, keys?.wallet ?? null));
  }

  /** Claims the idempotency key of a creation, or returns what happened to an earlier request with this key. */
  async claimKey(keyed: KeyedRequest): Promise<KeyState> {
    const state = await claimKey(this.#parts.pool, keyed);
    if (state.kind === 'claimed') failpoint('order-claimed');
    return state;
  }

  /** Stores the answer of a claimed key, in the database transaction of the creation. */
  answerKey(tx: pg.ClientBase, keyed: KeyedRequest, claim: string, answer: object): Promise<void> {
    return answerKey(tx, keyed, claim, answer);
  }

  /** Frees a claimed key, because nothing was created. */
  giveUpKey(keyed: KeyedRequest, claim: string): Promise<void> {
    return giveUpKey(this.#parts.pool, keyed, claim);
  }

  /**
   * A file by its key; null if there is no such file. Throws `file_gone` if the file was deleted because its time was
   * over.
   */
  async file(
    s3Key: string,
    signal: AbortSignal | null = null,
  ): Promise<{ readonly content: Buffer; readonly mediaType: string } | null> {
    const found = (await this.#reading(signal, (client) => findFiles(client, [s3Key]))).get(s3Key);
    if (found === undefined) return null;
    const { kind, mediaType, isOver } = found;
    const content = await this.#parts.files.get(found.sha256);
    if (content === null && isOver)
      throw new AppError('file_gone', `this file was deleted, because ${whyGone[kind]}`);
    return content === null ? null : { content, mediaType };
  }

  /** The bytes of an approved file of a collection; null if the file is missing on the disk. */
  approvedContent(sha256: Uint8Array): Promise<Buffer | null> {
    return this.#parts.files.get(sha256);
  }

  /** Counts the bytes that an order will store for its client. Throws `rate_limited` if they exceed the limit. */
  #takeRoom(client: string, wanted: WantedOrder): void {
    if (!this.#stored.isBounded) return;
    const retryAfterSeconds = Math.ceil(this.#stored.take(client, bytesOfOrder(wanted)) / 1000);
    if (retryAfterSeconds === 0) return;
    const message = `your orders have more bytes than this service stores for one client in a day; try again in ${retryAfterSeconds} s`;
    throw new AppError('rate_limited', message, { retryAfterSeconds });
  }

  #refuseGuesses(client: string): void {
    const retryAfterSeconds = Math.ceil(this.#missedCodes.waitMs(client) / 1000);
    if (retryAfterSeconds === 0) return;
    const message = `too many unknown referrals came from your network; leave out referral, or try again in ${retryAfterSeconds} s`;
    throw new AppError('rate_limited', message, { retryAfterSeconds });
  }

  #reading<T>(signal: AbortSignal | null, read: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return withCutConnection(this.#parts.pool, signal, read);
  }
}

async function parentsOf(
  client: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
): Promise<ShownParent[]> {
  if (order.terms.parents.length === 0) return [];
  const offset = await readPaymentsOffset(client);
  const depth = { tip: offset?.height ?? null, confirmations: 1 };
  const deposits = await readDeposits(client, order, depth);
  return shownParents(order, await readDepositAddresses(client, order.id), deposits, transactions);
}
