import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { EtchingKeys } from '#indexer/mempool/pending/etching-keys.ts';
import { type IndexedTip, readIndexedTip } from '#indexer/mempool/store/indexed-tip.ts';
import { PendingWrites } from '#indexer/mempool/store/pending-writes.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { RevealPolicy } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { type HashKey, hashKey, hashOfKey, type MempoolSnapshot } from '../stream/membership.ts';
import type { ChangeMessage, MessageQueue } from '../stream/message-queue.ts';
import type { NodeBlock, NodeMempool } from '../stream/node-mempool.ts';
import type { RunesToCome } from './find-pending.ts';
import { keptBlocks, type MempoolBounds, PendingSet } from './pending-set.ts';
import { type LookMoment, TransactionLook } from './transaction-look.ts';

/**
 * Limits on the kept transactions. A search with `pending=1` reads 64 MB of contents in a tenth of a second, and a
 * first snapshot holds them in memory until it is written. 100,000 transactions take 100 MB more.
 */
export const usualBounds: MempoolBounds = {
  keptMax: 100_000,
  keptBytesMax: 64_000_000,
  stateEveryMs: 10_000,
};

/**
 * Maximum number of blocks searched for transactions that were mined while the node was not followed: a day of blocks.
 * Transactions mined earlier are treated as evicted.
 */
const missedBlocksMax = 144;
/** Maximum number of messages processed in one go, which takes some milliseconds. 200,000 messages may wait. */
const messagesAtOnce = 4000;

export interface SessionOptions {
  readonly node: NodeMempool;
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  /** Reads the outputs that a block spends, in the encoding of `SourceBlock.spentOutputs`. Null: not available. */
  readonly spentIn: ((hash: BlockHash) => Promise<{ readonly bytes: Uint8Array }>) | null;
  /** Null: the node is polled. */
  readonly queue: MessageQueue | null;
  /** The node's policy for reveals, as far as known. */
  readonly reveals: RevealPolicy;
  readonly bounds: MempoolBounds;
  readonly log: Logger;
}

/** The mempool between one start and the next failure: the first snapshot, and the changes after it. */
export class MempoolSession {
  readonly #options: SessionOptions;
  readonly #node: NodeMempool;
  readonly #queue: MessageQueue | null;
  readonly #writes: PendingWrites;
  readonly #pending: PendingSet;
  #look: TransactionLook | null = null;
  #nodeTip: HashKey | null = null;
  readonly #etchingKeys = new EtchingKeys();
  /** Tables that the index has. If they change, the session ends and everything is read again. Null: not read yet. */
  #knows: Pick<IndexedTip, 'knowsRunes' | 'knowsSales'> | null = null;
  /** The tip at which mints and etchings were last decided. */
  #judgedAt: HashKey | null = null;

  constructor(options: SessionOptions) {
    const { node, pool, queue, bounds } = options;
    this.#options = options;
    this.#node = node;
    this.#queue = queue;
    this.#writes = new PendingWrites(pool, bounds.stateEveryMs);
    this.#pending = new PendingSet(this.#writes, bounds);
  }

  /** Start time of the session whose rows are in the tables, once they are loaded. */
  get since(): Date {
    return this.#pending.since;
  }

  /** True once the whole first snapshot was processed and written. */
  get isReady(): boolean {
    return this.#writes.hasWritten;
  }

  /** True if there is a snapshot, joined with the stream. */
  get isJoined(): boolean {
    return this.#pending.membership.isJoined;
  }

  /** Number of silently lost changes. A loss is certain only if the number stays above 0. */
  get missing(): number {
    return this.#pending.membership.missing;
  }

  /** True if the last round left work to do. */
  get hasWork(): boolean {
    return this.#pending.waiting.isLoading || !this.isReady;
  }

  /** Takes a snapshot, with which later messages of the node are joined. */
  async join(): Promise<void> {
    const { pool, network } = this.#options;
    const indexed = await readIndexedTip(pool, network);
    this.#look = new TransactionLook(this.#pending, { ...this.#options, fingerprintKey: indexed.key });
    const isFirst = this.#nodeTip === null;
    let tip = await this.#node.bestBlock();
    let snapshot = await this.#node.snapshot();
    for (let next = await this.#node.bestBlock(); next !== tip; next = await this.#node.bestBlock()) {
      tip = next;
      snapshot = await this.#node.snapshot();
    }
    const blocks = isFirst
      ? await this.#blocksBehind(tip, indexed.tip?.hash ?? null, keptBlocks)
      : await this.#blocksBehind(tip, this.#nodeTip, missedBlocksMax);
    this.#nodeTip = tip;
    await this.#takeSnapshot(snapshot, blocks);
    // blocks that were mined while no one followed the mempool are indexed soon; until then, their transactions would
    // be neither pending nor indexed
    if (isFirst && blocks.length < keptBlocks) {
      const moment = this.#momentOf(indexed);
      for (const block of blocks.toReversed()) await this.#lookAtBlock(block, moment);
    }
  }

  /** Applies the changes of a snapshot, and of the blocks since the last one. */
  async #takeSnapshot(snapshot: MempoolSnapshot, blocks: readonly NodeBlock[]): Promise<void> {
    const { membership, kept } = this.#pending;
    const minedIn = new Map<HashKey, NodeBlock>();
    for (const block of blocks) {
      for (const txid of block.txids) minedIn.set(txid, block);
      await nextTurn();
    }
    for (const changes of membership.join(snapshot)) {
      for (const change of changes) {
        const block = minedIn.get(change.txid);
        if (change.kind === 'vanished' && block !== undefined) this.#pending.mined(change.txid, refOf(block));
        else this.#pending.take(change);
      }
      await nextTurn();
    }
    await this.#releaseStale();
    for (const { txid, block } of kept.all()) {
      const now = minedIn.get(txid);
      if (block === null && now !== undefined && !membership.has(txid)) this.#pending.mined(txid, refOf(now));
    }
  }

  /** One round: processes messages and transactions, and writes the changes. */
  async round(): Promise<void> {
    const { pool, network } = this.#options;
    const pending = this.#pending;
    const queue = this.#queue;
    if (queue !== null) await this.#hear(queue);
    const indexed = await readIndexedTip(pool, network);
    const { tip } = indexed;
    const isSettled = tip !== null && tip.hash === this.#nodeTip;
    if (isSettled) pending.settle();
    const moment = this.#momentOf(indexed);
    if (isSettled) await this.#judge(tip.hash, moment);
    const looked = await this.#look?.atWaiting(!this.isReady || queue === null, moment);
    if (!isSettled) pending.unsettle(looked ?? []);
    if (tip !== null) pending.forgetMined(tip.height);
    pending.keepWithinBounds();
    pending.departures.settle(pending.inputs, (txid) => pending.drop(txid));
    // a first snapshot is written once all of it was processed
    if (this.isReady || !pending.waiting.isLoading) await this.#write();
  }

  /**
   * The conditions of the next block, in which a transaction could be mined now. Throws `derived_tables_changed` if
   * runes or sales became known or unknown.
   */
  #momentOf({ tip, knowsRunes, knowsSales }: IndexedTip): LookMoment {
    this.#knows ??= { knowsRunes, knowsSales };
    if (this.#knows.knowsRunes !== knowsRunes || this.#knows.knowsSales !== knowsSales)
      throw new AppError(
        'derived_tables_changed',
        'The tables of runes or sales have changed, so the mempool is read again.',
      );
    return { runes: knowsRunes ? this.#runesAfter(tip) : null, knowsSales };
  }

  #runesAfter(tip: IndexedTip['tip']): RunesToCome {
    const network = networks[this.#options.network];
    const { keyOf, etchingOf } = this.#etchingKeys;
    return { network, height: asHeight((tip?.height ?? -1) + 1), keyOf, etchingOf };
  }

  /**
   * Processes those transactions again that depend on the tip: a new block may open or close a mint, or decide about a
   * name.
   */
  async #judge(tip: HashKey, { runes }: LookMoment): Promise<void> {
    if (runes === null || this.#judgedAt === tip) return;
    const isFirst = this.#judgedAt === null;
    this.#judgedAt = tip;
    if (!isFirst) await this.#pending.judgeRunes(this.#options.pool, runes.height);
  }

  /** Processes the node's messages since the last round. */
  async #hear(queue: MessageQueue): Promise<void> {
    if (queue.takeLoss()) this.#pending.membership.lose();
    let told = 0;
    for (const message of queue.takeChanges()) {
      await this.#tell(message);
      if (++told % messagesAtOnce === 0) await nextTurn();
    }
  }

  async #write(): Promise<void> {
    const pending = this.#pending;
    const queue = this.#queue;
    const departures = pending.departures.takeReported(pending.nextPosition);
    const source = queue === null ? 'polling' : 'zmq';
    const status = pending.status({ source, reveals: this.#options.reveals });
    await this.#writes.write(pending.kept, departures, status);
  }

  /** The blocks from a tip back to a known one, newest first; at most `countMax`. */
  async #blocksBehind(tip: HashKey, known: HashKey | null, countMax: number): Promise<NodeBlock[]> {
    const blocks: NodeBlock[] = [];
    for (let hash: HashKey | null = tip; hash !== null && hash !== known && blocks.length < countMax; ) {
      const block: NodeBlock | null = await this.#node.block(hash);
      if (block === null) break;
      blocks.push(block);
      hash = block.previous;
    }
    return blocks;
  }

  async #tell(message: ChangeMessage): Promise<void> {
    // without a joined snapshot, ignore the message: the next snapshot includes it
    if (!this.#pending.membership.isJoined) return;
    switch (message.kind) {
      case 'mempool-added':
      case 'mempool-removed': {
        const kind = message.kind === 'mempool-added' ? 'added' : 'removed';
        const txid = hashKey(message.txid);
        const sequence = message.mempoolSequence;
        for (const change of this.#pending.membership.tell({ kind, txid, sequence }))
          this.#pending.take(change);
        return;
      }
      case 'block-connected':
        return this.#connect(hashKey(message.hash));
      case 'block-disconnected':
        return this.#disconnect(hashKey(message.hash));
      default:
        return unreachable(message);
    }
  }

  async #connect(hash: HashKey): Promise<void> {
    const block = await this.#node.block(hash);
    if (block === null) {
      this.#pending.membership.lose();
      return;
    }
    this.#nodeTip = hash;
    for (const change of this.#pending.membership.tell({
      kind: 'block-connected',
      hash,
      txids: block.txids,
    })) {
      this.#pending.mined(change.txid, refOf(block));
    }
  }

  async #disconnect(hash: HashKey): Promise<void> {
    this.#nodeTip = (await this.#node.block(hash))?.previous ?? (await this.#node.bestBlock());
    this.#pending.release(hash);
  }

  /** Finds blocks that were taken back while no process listened. */
  async #releaseStale(): Promise<void> {
    const hashes = new Set<HashKey>();
    for (const { block } of this.#pending.kept.all()) if (block !== null) hashes.add(hashKey(block.hash));
    for (const hash of hashes) {
      const block = await this.#node.block(hash);
      if (block === null || !block.isOnBestChain) this.#pending.release(hash);
    }
  }

  async #lookAtBlock(block: NodeBlock, moment: LookMoment): Promise<void> {
    const bytes = await this.#node.blockBytes(block.hash);
    if (bytes === null) return;
    const ref = refOf(block);
    const { spentIn } = this.#options;
    const spent = spentIn === null ? null : (await spentIn(ref.hash)).bytes;
    await this.#look?.atBlock({ ref, bytes, spent }, moment);
  }
}

const refOf = ({ height, hash }: NodeBlock): BlockRef => ({ height, hash: asBlockHash(hashOfKey(hash)) });
