import type pg from 'pg';
import { expandFingerprintKey } from '#indexer/parse/outpoint-fingerprint.ts';
import { searchableBytesMaxDefault } from '#indexer/parse/parse-block.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Logger } from '#kernel/logger.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type Analysed, type AnalysisContext, analyse } from './analyse.ts';
import { Departures } from './departures.ts';
import { InputIndex } from './input-index.ts';
import { type KeptTransaction, KeptTransactions } from './kept-transactions.ts';
import {
  type HashKey,
  hashKey,
  hashOfKey,
  Membership,
  type MembershipChange,
  type MempoolSnapshot,
} from './membership.ts';
import type { ChangeMessage, MessageQueue } from './message-queue.ts';
import type { NodeBlock, NodeMempool } from './node-mempool.ts';
import {
  clearPending,
  deletePending,
  insertDepartures,
  insertPending,
  type MempoolStatus,
  type PendingRows,
  setBlocks,
  writeState,
} from './pending.store.ts';
import { batchBytesMax, TransactionBatch } from './transaction-batch.ts';
import { WaitingBytes } from './waiting-bytes.ts';
import type { ScriptWatch } from './watched-scripts.ts';

export interface MempoolBounds {
  /** Transactions that matter, and the bytes of their rows. */
  readonly keptMax: number;
  readonly keptBytesMax: number;
  /** How often the state is written where nothing changes: readers take one that is older than a minute for dead. */
  readonly stateEveryMs: number;
}

/**
 * 64 MB of contents are what a search with `pending=1` reads through in a tenth of a second, and what a first snapshot holds in
 * memory until it is written. 100,000 transactions are 100 MB more.
 */
export const usualBounds: MempoolBounds = {
  keptMax: 100_000,
  keptBytesMax: 64_000_000,
  stateEveryMs: 10_000,
};

/** Rows of mined transactions stay so long behind the tip, so that a usual reorganisation finds them there. */
const keptBlocks = 6;
/** A day without the node: so many blocks are looked at for what was mined meanwhile. What was mined before counts as evicted. */
const missedBlocksMax = 144;
/** Transactions a round, so that rounds stay short. */
const transactionsAtOnce = 5000;

export interface SessionOptions {
  readonly node: NodeMempool;
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  /** Null: the node is polled. */
  readonly queue: MessageQueue | null;
  readonly watch: ScriptWatch;
  readonly bounds: MempoolBounds;
  readonly log: Logger;
}

interface IndexedTip {
  readonly key: Uint8Array;
  readonly tip: { readonly height: number; readonly hash: HashKey } | null;
}

/**
 * The mempool between one start and the next failure: the first snapshot, and the changes behind it. All of it in one
 * place, because each change touches what is in memory and, within a round, the tables.
 */
export class MempoolSession {
  private readonly node: NodeMempool;
  private readonly pool: pg.Pool;
  private readonly network: NetworkName;
  private readonly queue: MessageQueue | null;
  private readonly watch: ScriptWatch;
  private readonly log: Logger;
  private readonly membership = new Membership();
  private readonly inputs = new InputIndex();
  private readonly kept: KeptTransactions;
  private readonly waiting = new WaitingBytes();
  private readonly departures: Departures;
  /** Transactions that matter and found no room. */
  private readonly leftOut = new Set<HashKey>();
  /** Looked at while the index did not stand where the node stands: what they spend may not have been known. */
  private readonly unsettled = new Set<HashKey>();
  /** Whose rows are in the tables, once they are loaded. */
  readonly since = new Date();
  private fingerprintKey: Uint8Array = new Uint8Array(0);
  private nodeTip: HashKey | null = null;
  private position = Date.now() * 1000;
  private isLoaded = false;
  /** What the next write has to do. */
  private readonly rows = new Map<HashKey, PendingRows>();
  private readonly deleted = new Set<HashKey>();
  private readonly moved = new Set<KeptTransaction>();
  private readonly stateEveryMs: number;
  private stateWrittenAt = 0;

  constructor({ node, pool, network, queue, watch, bounds, log }: SessionOptions) {
    this.node = node;
    this.pool = pool;
    this.network = network;
    this.queue = queue;
    this.watch = watch;
    this.log = log;
    this.kept = new KeptTransactions(bounds.keptMax, bounds.keptBytesMax);
    this.stateEveryMs = bounds.stateEveryMs;
    this.departures = new Departures(watch);
  }

  /** All that was in the first snapshot was looked at and written. */
  get isReady(): boolean {
    return this.isLoaded;
  }

  /** Whether a snapshot is there that the stream joins. */
  get isJoined(): boolean {
    return this.membership.isJoined;
  }

  /** How many changes were lost without a word, if this stays above 0. */
  get missing(): number {
    return this.membership.missing;
  }

  /** The last round left something to do. */
  get hasWork(): boolean {
    return this.waiting.isLoading || !this.isLoaded;
  }

  /** Takes a snapshot; what the node says from now on joins it. */
  async join(): Promise<void> {
    const indexed = await this.indexedTip();
    this.fingerprintKey = indexed.key;
    const isFirst = this.nodeTip === null;
    let tip = await this.node.bestBlock();
    let snapshot = await this.node.snapshot();
    for (let next = await this.node.bestBlock(); next !== tip; next = await this.node.bestBlock()) {
      tip = next;
      snapshot = await this.node.snapshot();
    }
    const blocks = isFirst
      ? await this.blocksBehind(tip, indexed.tip?.hash ?? null, keptBlocks)
      : await this.blocksBehind(tip, this.nodeTip, missedBlocksMax);
    this.nodeTip = tip;
    await this.takeSnapshot(snapshot, blocks);
    // what was mined while nobody followed is indexed soon, and would be in neither until then
    if (isFirst && blocks.length < keptBlocks) {
      for (const block of blocks.toReversed()) await this.lookAtBlock(block);
    }
  }

  /** What a snapshot changes, and the blocks since the last one. */
  private async takeSnapshot(snapshot: MempoolSnapshot, blocks: readonly NodeBlock[]): Promise<void> {
    const minedIn = new Map(blocks.flatMap((block) => block.txids.map((txid) => [txid, block] as const)));
    for (const change of this.membership.join(snapshot)) {
      const block = minedIn.get(change.txid);
      if (change.kind === 'vanished' && block !== undefined) this.mined(change.txid, refOf(block));
      else this.take(change);
    }
    await this.releaseStale();
    for (const { txid, block } of this.kept.all()) {
      const now = minedIn.get(txid);
      if (block === null && now !== undefined && !this.membership.has(txid)) this.mined(txid, refOf(now));
    }
  }

  /** One round: what the node said, what it brought, and what of it is written. */
  async round(): Promise<void> {
    if (this.queue !== null) {
      if (this.queue.takeLoss()) this.membership.lose();
      for (const message of this.queue.takeChanges()) await this.tell(message);
    }
    const { tip } = await this.indexedTip();
    const isSettled = tip !== null && tip.hash === this.nodeTip;
    if (isSettled) {
      for (const txid of this.unsettled) this.waiting.add(txid);
      this.unsettled.clear();
    }
    await this.lookAtWaiting(isSettled);
    if (tip !== null) this.forgetMined(tip.height);
    this.keepWithinBounds();
    this.departures.settle(this.inputs, (txid) => this.drop(txid));
    await this.write();
  }

  private async indexedTip(): Promise<IndexedTip> {
    const { rows } = await this.pool.query<{
      network: string;
      key: Buffer;
      height: number | null;
      hash: Buffer | null;
    }>('SELECT network, fingerprint_key AS key, tip_height AS height, tip_hash AS hash FROM chain.state');
    const row = rows[0];
    if (row !== undefined && row.network !== this.network) {
      throw new AppError(
        'network_mismatch',
        `The node is of ${this.network}, and this database serves ${row.network}.`,
        { source: this.network, database: row.network },
      );
    }
    if (row === undefined) {
      throw new AppError('mempool_waits_for_index', 'The index of this network does not exist yet.');
    }
    const tip =
      row.height === null || row.hash === null ? null : { height: row.height, hash: hashKey(row.hash) };
    return { key: Uint8Array.from(row.key), tip };
  }

  /** The blocks from a tip back to a known one, newest first, `countMax` at most. */
  private async blocksBehind(tip: HashKey, known: HashKey | null, countMax: number): Promise<NodeBlock[]> {
    const blocks: NodeBlock[] = [];
    for (let hash: HashKey | null = tip; hash !== null && hash !== known && blocks.length < countMax; ) {
      const block: NodeBlock | null = await this.node.block(hash);
      if (block === null) break;
      blocks.push(block);
      hash = block.previous;
    }
    return blocks;
  }

  private async tell(message: ChangeMessage): Promise<void> {
    // what comes before a snapshot is in it
    if (!this.membership.isJoined) return;
    switch (message.kind) {
      case 'mempool-added':
      case 'mempool-removed': {
        const kind = message.kind === 'mempool-added' ? 'added' : 'removed';
        const txid = hashKey(message.txid);
        const sequence = message.mempoolSequence;
        for (const change of this.membership.tell({ kind, txid, sequence })) this.take(change);
        return;
      }
      case 'block-connected':
        return this.connect(hashKey(message.hash));
      case 'block-disconnected':
        return this.disconnect(hashKey(message.hash));
    }
  }

  private async connect(hash: HashKey): Promise<void> {
    const block = await this.node.block(hash);
    if (block === null) {
      this.membership.lose();
      return;
    }
    this.nodeTip = hash;
    for (const change of this.membership.tell({ kind: 'block-connected', hash, txids: block.txids })) {
      this.mined(change.txid, refOf(block));
    }
  }

  private async disconnect(hash: HashKey): Promise<void> {
    this.nodeTip = (await this.node.block(hash))?.previous ?? (await this.node.bestBlock());
    this.release(hash);
  }

  /** Finds the blocks that were taken back while nobody listened. */
  private async releaseStale(): Promise<void> {
    const hashes = new Set<HashKey>();
    for (const { block } of this.kept.all()) if (block !== null) hashes.add(hashKey(block.hash));
    for (const hash of hashes) {
      const block = await this.node.block(hash);
      if (block === null || !block.isOnBestChain) this.release(hash);
    }
  }

  /** What was mined in a block is in none. */
  private release(hash: HashKey): void {
    for (const transaction of this.kept.all()) {
      if (transaction.block === null || hashKey(transaction.block.hash) !== hash) continue;
      this.setBlock(transaction, null);
      if (!this.membership.has(transaction.txid)) this.departures.await(transaction);
    }
  }

  private take(change: MembershipChange): void {
    const { txid } = change;
    if (change.kind !== 'entered') {
      this.removed(txid);
      return;
    }
    this.departures.forget(txid);
    const transaction = this.kept.get(txid);
    if (transaction === null) {
      this.waiting.add(txid);
      return;
    }
    // it is back from a block that was taken back
    this.setBlock(transaction, null);
    this.departures.seen(transaction);
  }

  private removed(txid: HashKey): void {
    this.waiting.delete(txid);
    this.leftOut.delete(txid);
    this.unsettled.delete(txid);
    const transaction = this.kept.get(txid);
    if (transaction !== null) {
      this.departures.removed(transaction);
      this.drop(txid);
    }
    this.departures.keepInputs(txid);
  }

  private mined(txid: HashKey, block: BlockRef): void {
    this.waiting.delete(txid);
    this.leftOut.delete(txid);
    this.unsettled.delete(txid);
    this.inputs.delete(txid);
    const transaction = this.kept.get(txid);
    if (transaction === null) return;
    this.setBlock(transaction, block);
    this.departures.confirmed(transaction, block);
  }

  private setBlock(transaction: KeptTransaction, block: BlockRef | null): void {
    transaction.block = block;
    this.moved.add(transaction);
  }

  private drop(txid: HashKey): void {
    this.kept.delete(txid);
    this.rows.delete(txid);
    this.deleted.add(txid);
  }

  private context(): AnalysisContext {
    const { pool, node, inputs, kept, watch } = this;
    return {
      pool,
      node,
      inputs,
      kept,
      watch,
      fingerprintKey: expandFingerprintKey(this.fingerprintKey),
      nextPosition: () => this.position++,
    };
  }

  private async lookAtBlock(block: NodeBlock): Promise<void> {
    const bytes = await this.node.blockBytes(block.hash);
    const batch =
      bytes === null ? null : TransactionBatch.ofBlock(bytes, this.fingerprintKey, searchableBytesMaxDefault);
    if (batch === null) return;
    const transactions = Array.from({ length: batch.count - 1 }, (_, index) => index + 1);
    await this.enter(await analyse(this.context(), batch, transactions, refOf(block)));
  }

  private async lookAtWaiting(isSettled: boolean): Promise<void> {
    const taken = await this.waiting.take(this.queue, this.node, {
      countMax: transactionsAtOnce,
      isHurried: !this.isLoaded || this.queue === null,
    });
    for (let from = 0; from < taken.length; ) {
      let size = 0;
      let to = from;
      while (to < taken.length && size + (taken[to]?.bytes.length ?? 0) <= batchBytesMax) {
        size += taken[to++]?.bytes.length ?? 0;
      }
      // one that is longer than a block is no transaction
      to = Math.max(to, from + 1);
      await this.lookAt(taken.slice(from, to));
      from = to;
    }
    if (!isSettled) for (const { txid } of taken) this.unsettled.add(txid);
  }

  private async lookAt(taken: readonly { txid: HashKey; bytes: Uint8Array }[]): Promise<void> {
    const bytes = taken.map((one) => one.bytes);
    const batch = TransactionBatch.of(bytes, this.fingerprintKey, searchableBytesMaxDefault);
    if (batch === null) {
      // one of them is broken: each by itself, and that one is left alone
      if (taken.length > 1) for (const one of taken) await this.lookAt([one]);
      else this.log.warn('the node gave a transaction that cannot be read');
      return;
    }
    const transactions = taken.map((_, index) => index + 1);
    await this.enter(await analyse(this.context(), batch, transactions, null));
  }

  private async enter({ rows, dropped, again, conflicts }: Analysed): Promise<void> {
    const unknown = rows.filter(({ transaction: { entry, block } }) => entry === null && block === null);
    const entries = await this.node.entries(unknown.map(({ transaction }) => transaction.txid));
    for (const row of rows) {
      const { transaction } = row;
      transaction.entry ??= entries.get(transaction.txid) ?? null;
      this.leftOut.delete(transaction.txid);
      // its rows are written anew
      this.deleted.add(transaction.txid);
      this.rows.set(transaction.txid, row);
      if (transaction.block === null) this.departures.seen(transaction);
    }
    for (const txid of dropped) this.drop(txid);
    for (const txid of again) if (this.membership.has(txid)) this.waiting.add(txid);
    for (const [old, by] of conflicts) this.departures.replaced(old, by);
  }

  /** Rows of transactions that were mined go once their blocks are too deep to be taken back in the usual course. */
  private forgetMined(indexedHeight: number): void {
    for (const { txid, block } of this.kept.all()) {
      if (block !== null && block.height + keptBlocks <= indexedHeight) this.drop(txid);
    }
  }

  private keepWithinBounds(): void {
    for (const { txid, block } of this.kept.makeRoom()) {
      this.drop(txid);
      if (block === null) this.leftOut.add(txid);
    }
    if (this.leftOut.size === 0 || !this.kept.isHalfEmpty) return;
    for (const txid of [...this.leftOut].slice(0, transactionsAtOnce)) {
      this.leftOut.delete(txid);
      this.waiting.add(txid);
    }
  }

  private async write(): Promise<void> {
    if (!this.isLoaded && this.waiting.isLoading) return;
    const isFirst = !this.isLoaded;
    const departures = this.departures.takeReported(() => this.position++);
    const isChanged = this.rows.size + this.deleted.size + this.moved.size + departures.length > 0;
    const isDue = Date.now() - this.stateWrittenAt > this.stateEveryMs;
    if (!isFirst && !isChanged && !isDue) return;
    const rows = [...this.rows.values()];
    const moved = [...this.moved].filter(({ txid }) => !this.rows.has(txid) && this.kept.get(txid) !== null);
    await withTransaction(this.pool, async (tx) => {
      if (!(await writeState(tx, this.status(), { isFirst, isChanged }))) {
        throw new AppError(
          'mempool_tables_lost',
          'The tables of the mempool were emptied by a crash of Postgres, or filled by another process.',
        );
      }
      if (isFirst) await clearPending(tx);
      else await deletePending(tx, [...this.deleted]);
      await insertPending(tx, rows);
      await setBlocks(tx, moved);
      await insertDepartures(tx, departures);
    });
    this.isLoaded = true;
    this.stateWrittenAt = Date.now();
    this.rows.clear();
    this.deleted.clear();
    this.moved.clear();
  }

  private status(): MempoolStatus {
    return {
      source: this.queue === null ? 'polling' : 'zmq',
      transactions: this.membership.size,
      kept: this.kept.size,
      leftOut: this.leftOut.size,
      keptBytes: this.kept.sizeBytes,
      since: this.since,
    };
  }
}

const refOf = ({ height, hash }: NodeBlock): BlockRef => ({ height, hash: hashOfKey(hash) });
