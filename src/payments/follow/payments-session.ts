import type pg from 'pg';
import { MessageQueue } from '#indexer/mempool/stream/message-queue.ts';
import { type MempoolRpc, NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { NodeFacts, NodeMessages } from '#kernel/contracts/node.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { ScriptSet } from '#payments/memory/script-set.ts';
import { UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import { writeCompleteAt, writeScriptCount } from '#payments/store/offset.store.ts';
import { tellPayments, touchPayments } from '#payments/store/payments.store.ts';
import { pickUpWatches, readWatchedScripts } from '#payments/store/watches.store.ts';
import { BlockPayments } from './block-payments.ts';
import { MempoolPayments, writeWhereabouts } from './mempool-payments.ts';
import { PaymentChain, type RawBlocks } from './payment-chain.ts';

/**
 * How often scripts that are no longer watched are removed, in ms. Each removal rebuilds the set, which takes a tenth
 * of a second.
 */
const forgetEveryMs = 60_000;
/** How often missing blocks are requested again, in ms. Only a person can supply these blocks. */
const unavailableMs = 60_000;
/**
 * How often the time up to which all payments are known is stored, in ms. The end of an order depends on this time, and
 * orders last minutes.
 */
const completeEveryMs = 5_000;
/**
 * How long changes in the node's mempool may take to arrive, in ms. Messages take milliseconds; a node without messages
 * is polled every two seconds.
 */
const newsMs = 5_000;

/** A node with its mempool. */
export interface PaymentsNode extends RawBlocks {
  readonly rpc: MempoolRpc;
  readonly facts: Pick<NodeFacts, 'zmq'>;
  readonly messages: NodeMessages;
  readonly blockMessages: NodeMessages;
  readonly hasCookieFile: boolean;
}

export interface PaymentsSessionOptions {
  /** The connection that holds the lock. All writes use this connection. */
  readonly client: pg.ClientBase;
  readonly source: BlockSource | LiveBlockSource;
  /** The node, or null if the source is a folder. */
  readonly node: PaymentsNode | null;
  readonly signal: AbortSignal;
  /** Called at most once a minute while blocks that watches need are missing. */
  readonly onUnavailable: (problem: AppError) => void;
}

/**
 * Follows payments until a failure. A new session is needed after each failure. It keeps the state of the tables and of
 * the mempool in memory.
 */
export class PaymentsSession {
  readonly #options: PaymentsSessionOptions;
  #scripts = new ScriptSet();
  readonly #unconfirmed = new UnconfirmedPayments();
  readonly #blocks: BlockPayments;
  #mempool: { readonly payments: MempoolPayments; readonly queue: MessageQueue | null } | null = null;
  #loadedAt = 0;
  #completeAt = 0;
  #hasFewer = false;
  /**
   * Watches whose next block is at or below this height wait for a missing block. The value is -1 if no watch waits.
   */
  #waitsUpTo: Height | -1 = -1;
  #askAgainAt = 0;

  constructor(options: PaymentsSessionOptions) {
    this.#options = options;
    const { client, source, node, signal } = options;
    this.#blocks = new BlockPayments({
      client,
      chain: new PaymentChain(source, node, signal),
      scripts: () => this.#scripts,
      unconfirmed: this.#unconfirmed,
    });
  }

  get height(): number | null {
    return this.#blocks.offset?.height ?? null;
  }

  get scripts(): number {
    return this.#scripts.size;
  }

  async load(): Promise<void> {
    await this.#loadScripts();
    await this.#blocks.load();
  }

  /** Notes that a watch has ended, so the set of scripts must be rebuilt. */
  forget(): void {
    this.#hasFewer = true;
  }

  /** Polls the mempool in the next round, because a payment was just sent to the node. */
  hurry(): void {
    this.#mempool?.payments.hurry();
  }

  /**
   * One round: processes new watches, new blocks, old blocks and the mempool, in this order. Returns true if there is
   * more to do without a pause.
   */
  async round(): Promise<boolean> {
    const startedAt = Date.now();
    if (this.#hasFewer && Date.now() - this.#loadedAt >= forgetEveryMs) await this.#loadScripts();
    await this.#pickUp();
    const progress = await this.#blocks.follow();
    if (progress !== 'atTip') return progress === 'behind';
    const hasOld = await this.#scanOld();
    const mempool = this.#openMempool();
    const { offset } = this.#blocks;
    if (offset === null) return false;
    const isSettled = mempool === null ? await this.#settleWithoutMempool() : await mempool.round(offset);
    if (isSettled && !hasOld) await this.#noteComplete(startedAt - newsMs);
    return hasOld || mempool?.hasWork === true;
  }

  close(): void {
    this.#mempool?.queue?.close();
    this.#mempool = null;
  }

  async #loadScripts(): Promise<void> {
    const { client } = this.#options;
    this.#hasFewer = false;
    this.#loadedAt = Date.now();
    const scripts = this.#scripts.emptied();
    await readWatchedScripts(client, (script) => scripts.add(script));
    this.#scripts = scripts;
    await writeScriptCount(client, scripts.size);
  }

  /** Reads new watches. From then on, their old blocks and the current mempool are scanned. */
  async #pickUp(): Promise<void> {
    const { client } = this.#options;
    const { offset } = this.#blocks;
    if (offset === null) return;
    for (;;) {
      const scripts = await withTransaction(client, async (tx) => {
        const fresh = await pickUpWatches(tx, offset.height);
        if (fresh.length > 0 && (await touchPayments(tx, fresh))) await tellPayments(tx);
        return fresh;
      });
      if (scripts.length === 0) return;
      failpoint('payments-watch');
      const fingerprints = new Set(scripts.map((script) => this.#scripts.add(script)));
      this.#mempool?.payments.watch(fingerprints);
      await writeScriptCount(client, this.#scripts.size);
    }
  }

  async #scanOld(): Promise<boolean> {
    if (this.#waitsUpTo >= 0 && Date.now() >= this.#askAgainAt) this.#waitsUpTo = -1;
    const { hasMore, missing } = await this.#blocks.scanOld(this.#waitsUpTo);
    if (missing === null) return hasMore;
    if (this.#waitsUpTo < 0) {
      this.#askAgainAt = Date.now() + unavailableMs;
      this.#options.onUnavailable(missing.problem);
    }
    // only watches at or below the height of the missing block wait; payments in newer blocks, and for watches that
    // begin above the block, are still found
    this.#waitsUpTo = missing.height;
    return true;
  }

  /** Opens the mempool, or closes it if no script is watched. Returns null if there is no mempool to follow. */
  #openMempool(): MempoolPayments | null {
    const { client, node, signal } = this.#options;
    if (node === null) return null;
    if (this.#scripts.size === 0) {
      this.close();
      return null;
    }
    if (this.#mempool === null) {
      const queue = node.facts.zmq.has('sequence') ? new MessageQueue(node.messages) : null;
      const payments = new MempoolPayments({
        client,
        node: new NodeMempool(node.rpc, signal),
        queue,
        scripts: () => this.#scripts,
        unconfirmed: this.#unconfirmed,
      });
      this.#mempool = { payments, queue };
    }
    return this.#mempool.payments;
  }

  /** Stores that all payments up to a time are known. */
  async #noteComplete(at: number): Promise<void> {
    if (at - this.#completeAt < completeEveryMs) return;
    await writeCompleteAt(this.#options.client, new Date(at));
    this.#completeAt = at;
  }

  /** Marks unconfirmed payments as gone, because a folder has no mempool. */
  async #settleWithoutMempool(): Promise<true> {
    const gone = [...this.#unconfirmed.all()].filter(({ isGone }) => !isGone).map(({ txid }) => txid);
    await writeWhereabouts(this.#options.client, this.#unconfirmed, { gone, back: [] });
    return true;
  }
}
