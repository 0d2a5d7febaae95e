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
import { webhookSubjectOf } from './tell-customer.ts';

export interface CustomerOrdersParts extends Omit<CreationParts, 'standing'> {
  /** Whether a process with the seed brings orders on. */
  readonly isSignerThere: () => Promise<boolean>;
  readonly outgoing: OutgoingHttp;
  /** Takes reveals above the standard weight; null: there is none. */
  readonly miner: Miner | null;
  readonly allowPrivateUrls: boolean;
  readonly timeoutMinutes: number;
  readonly publicOrigin: string | null;
  /** What one client stores in a day; null: no bound. */
  readonly bytesADay: number | null;
  /** Bytes that one key may upload in a day; null: no bound. */
  readonly uploadBytesADay: number | null;
  /** Items of collections that unpaid orders may have. */
  readonly holdBounds: HoldBounds;
  /** Checks tokens of orders of collections; null: any token is taken. */
  readonly persons: PersonCheck | null;
}

/** How long an answer waits for a cancellation: the process that decides is told at once. */
const cancelTries = 30;
/** States of orders that nothing may have been paid for. */
const cancellable: ReadonlySet<OrderState> = new Set(['waiting-payment', 'waiting-parent']);
const cancelLookMs = 100;
/** How long contents are kept, for people who ask for one that is not there. */
const whyGone: Readonly<Record<FoundFile['kind'], string>> = {
  order: 'files are kept until 7 days after an order expired, or 30 days after it was completed or refunded',
  upload: 'uploads are kept for 7 days, or for as long as an order or a collection needs them',
};

/**
 * What customers can do: order, read, cancel. It signs nothing, and needs no seed. Reads end with the signal of who
 * asks (null: nobody who could leave); what writes is finished.
 */
export class CustomerOrders {
  readonly #parts: CustomerOrdersParts;
  readonly #stored: StoredBytes;
  readonly #missedCodes = new MissedCodes();
  /** Read once for all who create at once. */
  readonly #standing: SharedMaking<DeliveryStanding>;
  readonly #holds: ItemHolds;
  /** Takes reveals above the standard weight; null: there is none. */
  readonly miner: Miner | null;
  /** Of an order that names none. */
  readonly timeoutMinutes: number;
  /** Checks tokens of orders of collections; null: any token is taken. */
  readonly persons: PersonCheck | null;
  /** Where customers find files; null: where they sent their order. */
  readonly publicOrigin: string | null;
  /** Sats of the inventory that unpaid orders of one client may have. */
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
    this.#standing = new SharedMaking(async () => ({
      isSignerThere: await isSignerThere(),
      areRevealsRefused: await areRevealsRefused(pool),
      tip: await indexedTip(pool),
      freeBytes: await files.freeBytes(),
    }));
  }

  /** Why an order could not be taken now, whatever it is; null: it could. Ends with the signal of who asks. */
  async whyClosed(signal: AbortSignal | null = null): Promise<string | null> {
    return whyClosed({ ...this.#parts, standing: () => this.#standing.get() }, signal);
  }

  /** Why nothing is sent to a URL; null: it may be. */
  urlProblem(url: string): string | null {
    return urlProblem(url, { allowPrivate: this.#parts.allowPrivateUrls });
  }

  /** Files of ours that a request may name by URL, under these origins. */
  ownFiles(origins: readonly string[]): OwnFiles {
    return new OwnFiles(this.#parts, origins);
  }

  /** What an order names by URL, for a client that waits. Throws the reason of its signal. */
  fetch(files: readonly ReadFile[], ours: NamedFiles, signal: AbortSignal): Promise<FetchedContents> {
    return fetchContents(this.#parts.outgoing, ours, files, signal);
  }

  /**
   * Stores a checked order; its address is read with the order. The asker's signal ends it until it begins to write,
   * and its client is who stores the bytes. Throws `rate_limited`.
   *
   * @param asker null: the program's own
   */
  async create(
    wanted: WantedOrder,
    onMade?: OnMade,
    asker: Pick<Asker, 'client' | 'signal'> | null = null,
  ): Promise<MadeOrder> {
    if (asker !== null) this.#takeRoom(asker.client, wanted);
    const parts = { ...this.#parts, standing: () => this.#standing.get() };
    return createOrder(parts, wanted, new Date(), onMade, asker?.signal ?? null);
  }

  /** Holds items of a collection for an order that is being made. They are given up where it is not. */
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

  /** Null: there is none with this id. On one connection, however long the order is: four serve all customers. */
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
      return { order, files, transactions, mints, payments, held, parents, tokenOrder };
    });
  }

  /** An order that somebody wants to pay, by its id or its address. */
  findOpen(
    wanted: WantedOrderName,
    network: NetworkParameters,
    signal: AbortSignal | null = null,
  ): Promise<FoundOrder> {
    return this.#reading(signal, (client) => findOpenOrder(client, network, wanted));
  }

  /**
   * Cancels an order that nothing was paid for, or that was asked for more than it was made for: the process with the
   * seed decides. False: something else was paid, it is over, or there was no answer in time.
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

  /** What was told of an order after a sequence, at most `limit`; null: there is no order with this id. */
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

  /** Tells it again from a sequence on. How many messages wait; null: there is no order with this id. */
  async replayEvents(id: string, from: number): Promise<number | null> {
    const { pool } = this.#parts;
    if ((await readOrder(pool, id)) === null) return null;
    return withTransaction(pool, (tx) => replayWebhooks(tx, webhookSubjectOf(id), from));
  }

  /** Registers a referral code of a client. False: it has another address. Throws `rate_limited`. */
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

  /** What the node takes; null: nothing is known of it. */
  nodePolicy(signal: AbortSignal | null = null): Promise<NodePolicy | null> {
    return this.#reading(signal, readNodePolicy);
  }

  /** Whether an order may name a referral. Throws `rate_limited`. */
  async isReferral(code: string, { client, signal }: Pick<Asker, 'client' | 'signal'>): Promise<boolean> {
    this.#refuseGuesses(client);
    const isKnown = await this.#reading(signal, (connection) => isReferral(connection, code));
    if (!isKnown) this.#missedCodes.count(client);
    return isKnown;
  }

  /** What orders brought a referral; null: there is none with this address. */
  referral(referral: ReferralRequest, signal: AbortSignal | null = null): Promise<ReferralStatus | null> {
    return this.#reading(signal, (client) => readReferral(client, referral));
  }

  /** The scripts among these that are the service's own. */
  async ownScriptsAmong(
    scripts: readonly Uint8Array[],
    signal: AbortSignal | null = null,
  ): Promise<readonly Uint8Array[]> {
    const keys = await this.#parts.keys();
    return this.#reading(signal, (client) => ownScriptsAmong(client, scripts, keys?.wallet ?? null));
  }

  /** Claims the key of a creation, or says what became of it. */
  async claimKey(keyed: KeyedRequest): Promise<KeyState> {
    const state = await claimKey(this.#parts.pool, keyed);
    if (state.kind === 'claimed') failpoint('order-claimed');
    return state;
  }

  /** Stores the answer of a claimed key, in the transaction of what it tells of. */
  answerKey(tx: pg.ClientBase, keyed: KeyedRequest, claim: string, answer: object): Promise<void> {
    return answerKey(tx, keyed, claim, answer);
  }

  /** Nothing was made with a claimed key. */
  giveUpKey(keyed: KeyedRequest, claim: string): Promise<void> {
    return giveUpKey(this.#parts.pool, keyed, claim);
  }

  /** A file by its key; null: there is none. Throws `file_gone` where it was kept as long as it may be needed. */
  async file(
    s3Key: string,
    signal: AbortSignal | null = null,
  ): Promise<{ readonly content: Buffer; readonly mediaType: string } | null> {
    const found = (await this.#reading(signal, (client) => findFiles(client, [s3Key]))).get(s3Key);
    if (found === undefined) return null;
    const { kind, mediaType, isOver } = found;
    const content = await this.#parts.files.get(found.sha256);
    if (content === null && isOver)
      throw new AppError('file_gone', `this file was deleted: ${whyGone[kind]}`);
    return content === null ? null : { content, mediaType };
  }

  /** The bytes of an approved file of a collection; null: the disk has lost them. */
  approvedContent(sha256: Uint8Array): Promise<Buffer | null> {
    return this.#parts.files.get(sha256);
  }

  /** Counts all that an order is about to store. */
  #takeRoom(client: string, wanted: WantedOrder): void {
    if (!this.#stored.isBounded) return;
    const retryAfterSeconds = Math.ceil(this.#stored.take(client, bytesOfOrder(wanted)) / 1000);
    if (retryAfterSeconds === 0) return;
    const message = `your orders are more bytes than this service stores for one client in a day; again in ${retryAfterSeconds} s`;
    throw new AppError('rate_limited', message, { retryAfterSeconds });
  }

  #refuseGuesses(client: string): void {
    const retryAfterSeconds = Math.ceil(this.#missedCodes.waitMs(client) / 1000);
    if (retryAfterSeconds === 0) return;
    const message = `too many unknown referrals from your network: leave out referral, or try again in ${retryAfterSeconds} s`;
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
