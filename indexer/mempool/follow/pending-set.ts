import type pg from 'pg';
import type { MempoolStatus } from '#indexer/mempool/store/pending.store.ts';
import type { PendingWrites } from '#indexer/mempool/store/pending-writes.ts';
import { indexedRunes } from '#indexer/mempool/store/rune-context.queries.ts';
import {
  type HashKey,
  hashKey,
  Membership,
  type MembershipChange,
} from '#indexer/mempool/stream/membership.ts';
import type { MempoolEntry } from '#indexer/mempool/stream/node-mempool.ts';
import { WaitingBytes } from '#indexer/mempool/stream/waiting-bytes.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { InputIndex } from '../pending/input-index.ts';
import { type KeptTransaction, KeptTransactions } from '../pending/kept-transactions.ts';
import { isMintOpen } from '../pending/pending-runes.ts';
import { Departures } from './departures.ts';
import type { Analysed } from './find-pending.ts';

export interface MempoolBounds {
  /** Limits on the transactions that matter, and on the bytes of their rows. */
  readonly keptMax: number;
  readonly keptBytesMax: number;
  /** How often the state is written without changes. Readers treat a state older than a minute as dead. */
  readonly stateEveryMs: number;
}

/** Number of blocks for which rows of mined transactions are kept, so that a usual reorganisation still finds them. */
export const keptBlocks = 6;
/** Maximum number of dropped transactions that are processed again per round, so that rounds stay short. */
const takenInAgain = 5000;

/**
 * The transactions of the mempool: ids and inputs of all, and more data about those that matter. All of it is in one
 * object because each change affects all parts. In memory only; changes for the tables go to `writes`.
 */
export class PendingSet {
  readonly membership = new Membership();
  readonly inputs = new InputIndex();
  readonly kept: KeptTransactions;
  /** Transactions to process once their bytes are available. */
  readonly waiting = new WaitingBytes();
  readonly departures = new Departures();
  readonly #writes: PendingWrites;
  /** Transactions that matter but were left out because of the limits. */
  readonly #leftOut = new Set<HashKey>();
  /**
   * Transactions processed while the index and the node had different tips, so some of their outputs may have been
   * unknown.
   */
  readonly #unsettled = new Set<HashKey>();
  /** Start of the session. */
  readonly since = new Date();
  #lastPosition = Date.now() * 1000;

  constructor(writes: PendingWrites, bounds: MempoolBounds) {
    this.#writes = writes;
    this.kept = new KeptTransactions(bounds.keptMax, bounds.keptBytesMax);
  }

  /** The next position. Positions only grow, even after a restart. */
  readonly nextPosition = (): number => this.#lastPosition++;

  take(change: MembershipChange): void {
    const { txid } = change;
    if (change.kind !== 'entered') {
      this.#removed(txid);
      return;
    }
    this.departures.forget(txid);
    const transaction = this.kept.get(txid);
    if (transaction === null) {
      this.waiting.add(txid);
      return;
    }
    // it comes back from a disconnected block; if it was first seen in that block, its inputs are missing here
    if (!this.inputs.has(txid)) this.waiting.add(txid);
    this.#setBlock(transaction, null);
  }

  mined(txid: HashKey, block: BlockRef): void {
    this.#forget(txid);
    const transaction = this.kept.get(txid);
    if (transaction === null) {
      this.inputs.delete(txid);
      return;
    }
    // keep its inputs as long as it may come back, because they identify the transaction that replaces it
    this.#setBlock(transaction, block);
    this.departures.confirmed(txid);
  }

  /** Makes transactions mined in a block unconfirmed again. */
  release(hash: HashKey): void {
    for (const transaction of this.kept.all()) {
      if (transaction.block === null || hashKey(transaction.block.hash) !== hash) continue;
      this.#setBlock(transaction, null);
      if (!this.membership.has(transaction.txid)) this.departures.await(transaction);
    }
  }

  /** Stores the findings of processed transactions. */
  enter({ rows, dropped, again, conflicts }: Analysed, entries: ReadonlyMap<HashKey, MempoolEntry>): void {
    for (const row of rows) {
      const { transaction } = row;
      transaction.entry ??= entries.get(transaction.txid) ?? null;
      this.#leftOut.delete(transaction.txid);
      this.#writes.put(row);
    }
    for (const txid of dropped) this.drop(txid);
    for (const txid of again) if (this.membership.has(txid)) this.waiting.add(txid);
    for (const [old, by] of conflicts) this.departures.replaced(old, by);
  }

  /**
   * Marks transactions as processed too early. They are processed again once the index and the node have the same tip.
   */
  unsettle(txids: Iterable<HashKey>): void {
    for (const txid of txids) this.#unsettled.add(txid);
  }

  settle(): void {
    for (const txid of this.#unsettled) this.waiting.add(txid);
    this.#unsettled.clear();
  }

  /**
   * After a new block, processes those transactions again that etch a name, or whose mint the block opened or closed.
   * Costs one query.
   */
  async judgeRunes(pool: pg.Pool, height: Height): Promise<void> {
    const runic = [...this.kept.all()].filter(({ block, runes }) => block === null && runes !== null);
    const ids = new Map(
      runic.flatMap(({ runes }) =>
        runes?.mint ? [[formatRuneId(runes.mint.id), runes.mint.id] as const] : [],
      ),
    );
    const { state } = await indexedRunes(pool, {
      outpoints: [],
      ids: [...ids.values()],
      names: [],
      keys: [],
    });
    for (const { txid, runes } of runic) {
      const mint = runes?.mint ?? null;
      const hasTurned = mint !== null && isMintOpen(state.byId(mint.id), height) !== mint.isOpen;
      const isNamed = (runes?.etching?.rune ?? null) !== null;
      if ((hasTurned || isNamed) && this.membership.has(txid)) this.waiting.add(txid);
    }
  }

  /** Deletes rows of mined transactions whose blocks are too deep for a usual reorganisation. */
  forgetMined(indexedHeight: Height): void {
    for (const { txid, block } of this.kept.all()) {
      if (block !== null && block.height + keptBlocks <= indexedHeight) this.drop(txid);
    }
  }

  keepWithinBounds(): void {
    for (const { txid, block } of this.kept.makeRoom()) {
      this.drop(txid);
      if (block === null) this.#leftOut.add(txid);
    }
    if (this.#leftOut.size === 0 || !this.kept.isHalfEmpty) return;
    for (const txid of [...this.#leftOut].slice(0, takenInAgain)) {
      this.#leftOut.delete(txid);
      this.waiting.add(txid);
    }
  }

  drop(txid: HashKey): void {
    this.kept.delete(txid);
    this.#writes.delete(txid);
    if (!this.membership.has(txid)) this.departures.keepInputs(txid);
  }

  status(node: Pick<MempoolStatus, 'source' | 'reveals'>): MempoolStatus {
    return {
      ...node,
      transactions: this.membership.size,
      kept: this.kept.size,
      leftOut: this.#leftOut.size,
      keptBytes: this.kept.sizeBytes,
      since: this.since,
    };
  }

  #removed(txid: HashKey): void {
    this.#forget(txid);
    const transaction = this.kept.get(txid);
    if (transaction === null) {
      this.departures.keepInputs(txid);
      return;
    }
    this.departures.removed(transaction);
    this.drop(txid);
  }

  #forget(txid: HashKey): void {
    this.waiting.delete(txid);
    this.#leftOut.delete(txid);
    this.#unsettled.delete(txid);
  }

  #setBlock(transaction: KeptTransaction, block: BlockRef | null): void {
    transaction.block = block;
    this.#writes.move(transaction);
  }
}
