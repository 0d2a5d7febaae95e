import type pg from 'pg';
import {
  type ChainChange,
  type IndexPosition,
  readBlocksAgain,
  readChainChanges,
  readHeightAfter,
  readIndexPosition,
  readSequenceBefore,
} from '#chain/arrivals/arrived-blocks.queries.ts';
import { type PendingMoment, readPendingMoment } from '#chain/arrivals/pending-arrivals.queries.ts';
import { isComplete, tablesBehind } from '#chain/derived/derived-tables.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { type LiveWatch, LiveWatches } from '#watches/matching/live-watches.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';
import {
  readLiveIds,
  readLiveMark,
  readLiveWatches,
  type StoredLiveWatch,
} from '#watches/store/live-watches.store.ts';
import {
  forgetSince,
  readWatchesOffset,
  type WatchesOffset,
  writeWatchesOffset,
} from '#watches/store/watches-offset.store.ts';
import {
  type ChangedWatches,
  type FoundState,
  keepNewest,
  readFindingsOfBlock,
  tellChanges,
  writeStates,
} from '#watches/store/write-findings.ts';
import { EndingWatches } from './end-watches.ts';
import type { FoundThing } from './found-things.ts';
import { type ArrivalsParts, matchBlock, matchPending, type ReadCollections } from './match-arrivals.ts';
import { OwedTables } from './owed-tables.ts';
import { planOffset } from './plan-offset.ts';
import { LeavingFindings, statesAfterUndo } from './settle-findings.ts';
import { readLostBlocks, UndoneBlocks } from './undone-blocks.ts';

/** Number of found things that are stored at once. More things would take too much memory. */
const statesAtOnce = 5_000;
/** Maximum number of watches that are loaded at once. */
const watchesAtOnce = 1_000;
/** Begins a transaction in which all reads see one moment. */
const readOnlyMoment = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

export interface WatchesSessionOptions {
  /** The connection that holds the lock. All writes use this connection. */
  readonly client: pg.ClientBase;
  /** Another connection, for reads of one moment. */
  readonly reader: pg.ClientBase;
  readonly network: NetworkParameters;
  readonly readCollections: ReadCollections;
}

/** Follows watches until a failure. A new session is needed after each failure. */
export class WatchesSession {
  readonly #options: WatchesSessionOptions;
  readonly #watches = new LiveWatches();
  readonly #ending = new EndingWatches();
  readonly #leaving = new LeavingFindings();
  #mark = '';
  #offset: WatchesOffset | null = null;
  readonly #owed = new OwedTables();
  readonly #undone = new UndoneBlocks();
  /** Whether the blocks of confirmed findings were compared with the chain. An index that is rebuilt needs it again. */
  #isCompared = false;
  /** The revision of the mempool's tables that was matched last. */
  #revision = -1;

  constructor(options: WatchesSessionOptions) {
    this.#options = options;
  }

  /** Number of active watches. */
  get size(): number {
    return this.#watches.size;
  }

  async load(): Promise<void> {
    this.#offset = await readWatchesOffset(this.#options.client);
    await this.#owed.load(this.#options.client);
  }

  /**
   * One round: ended watches, new watches, blocks, the mempool. All reads of the chain and the mempool see one moment,
   * so a mined transaction is never taken for a replaced one. Returns true if there are more blocks to match now.
   */
  async round(): Promise<boolean> {
    await this.#ending.round(this.#options.client, Date.now());
    return withTransaction(this.#options.reader, (reader) => this.#follow(reader), readOnlyMoment);
  }

  async #follow(reader: pg.ClientBase): Promise<boolean> {
    await this.#loadWatches(reader);
    const index = await readIndexPosition(reader);
    if (index === null) return false;
    const pending = await readPendingMoment(reader);
    const offset = await this.#begin(reader, index, pending);
    if (offset === null) return false;
    const changes = await readChainChanges(reader, offset.sequence);
    const behind = changes.length > 0 || !this.#owed.isEmpty ? await tablesBehind(reader) : new Set<string>();
    for (const change of changes) await this.#apply(reader, change, behind);
    const last = changes.at(-1);
    const now = Date.now();
    if (last !== undefined) {
      this.#undone.chainChanged(now);
      // a new block may have a pending transaction, although the mempool's tables are the same
      this.#revision = -1;
      if (last.sequence < index.lastSequence) return true;
    }
    if (await this.#hasLostBlocks(reader, index)) return true;
    if (await this.#matchAgain(reader, behind)) return true;
    if (this.#undone.isIncomplete(index.height, now)) return false;
    await this.#settleUndone(reader);
    if (pending !== null) await this.#followPending(reader, pending);
    return false;
  }

  /**
   * Compares the blocks of confirmed findings with the chain, once the chain is as high as the matched blocks. Returns
   * true if any block is not in the chain. The offset is then below that block, so that the next rounds match its
   * branch.
   */
  async #hasLostBlocks(reader: pg.ClientBase, index: IndexPosition): Promise<boolean> {
    const offset = this.#offset as WatchesOffset;
    if (this.#isCompared || index.height < offset.height) return false;
    const lost = await readLostBlocks(this.#options.client, reader);
    this.#isCompared = true;
    if (lost.length === 0) return false;
    for (const block of lost) this.#undone.add(block);
    this.#undone.chainChanged(Date.now());
    const height = Math.min(offset.height, ...lost.map((block) => block.height - 1));
    await this.#store({ ...offset, sequence: await readSequenceBefore(reader, height + 1), height }, false);
    return true;
  }

  /** Matches blocks again with a derived table that has their rows now. Returns false if no table waits for this. */
  async #matchAgain(reader: pg.ClientBase, behind: ReadonlySet<string>): Promise<boolean> {
    const { client } = this.#options;
    const offset = this.#offset as WatchesOffset;
    const table = this.#owed.ready(behind);
    if (table === null) return false;
    const { derived } = table;
    const blocks = await readBlocksAgain(reader, { from: table.height, to: offset.height });
    for (const block of blocks) {
      await withTransaction(client, async (tx) => {
        const writer = new StatesWriter(tx);
        await matchBlock(this.#partsOf(reader, writer, confirmedIn(block), block.sequence), block, derived);
        await this.#owed.matched(tx, { derived, height: block.height });
        await writer.end(offset);
      });
    }
    if (blocks.length === 0) await this.#owed.forget(client, derived);
    // the states of pending findings may be decided now
    this.#revision = -1;
    return true;
  }

  /** Decides the states of findings whose blocks were undone and are not confirmed again. */
  async #settleUndone(reader: pg.ClientBase): Promise<void> {
    if (this.#undone.size === 0) return;
    await withTransaction(this.#options.client, async (tx) => {
      const writer = new StatesWriter(tx);
      for (const { hash } of this.#undone.all)
        for await (const findings of readFindingsOfBlock(tx, hash))
          await writer.write(await statesAfterUndo(reader, findings));
      await writer.end(this.#offset as WatchesOffset);
    });
    this.#undone.clear();
  }

  /** Loads watches that were created, and forgets watches that have ended, since the last round. */
  async #loadWatches(reader: pg.ClientBase): Promise<void> {
    const mark = await readLiveMark(reader);
    if (mark === this.#mark) return;
    const live = await readLiveIds(reader);
    const created = live.filter((id) => !this.#watches.has(id));
    const isLive = new Set(live);
    const ended = [...this.#watches.ids].filter((id) => !isLive.has(id));
    const loaded: LiveWatch[] = [];
    for (let from = 0; from < created.length; from += watchesAtOnce) {
      const stored = await readLiveWatches(reader, created.slice(from, from + watchesAtOnce));
      loaded.push(...stored.flatMap((watch) => this.#liveOf(watch)));
    }
    this.#watches.change(loaded, ended);
    this.#mark = mark;
  }

  /** Empty: this version refuses the condition of a watch that an earlier version stored. */
  #liveOf({ id, kind, condition, since }: StoredLiveWatch): LiveWatch[] {
    const read = readWatchCondition(kind, condition, this.#options.network);
    return read.kind === 'faulty' ? [] : [{ id, since, condition: read.condition }];
  }

  /** The offset from which this round continues. Null: there is nothing to match. */
  async #begin(
    reader: pg.ClientBase,
    index: IndexPosition,
    pending: PendingMoment | null,
  ): Promise<WatchesOffset | null> {
    const known = this.#offset;
    const plan = planOffset(known, index, {
      position: pending?.position ?? null,
      since: this.#watches.since,
    });
    if (plan.kind === 'follow') return plan.offset;
    if (plan.kind === 'begin') {
      const { sequence, position } = plan;
      const height = await readHeightAfter(reader, sequence);
      await this.#store({ identity: index.identity, sequence, height, position }, false);
      return this.#offset;
    }
    if (plan.kind === 'jump') {
      // without watches, the stored offset may be old, because a later start jumps again
      const isOther = known === null || known.identity !== plan.offset.identity;
      const isBefore = plan.offset.height < 0 && known?.sequence !== plan.offset.sequence;
      if (isOther || isBefore) await this.#store(plan.offset, isOther);
      this.#offset = plan.offset;
      return null;
    }
    const sequence = await readSequenceBefore(reader, plan.height + 1);
    const { position } = known ?? { position: 0 };
    await this.#store({ identity: index.identity, sequence, height: plan.height, position }, true);
    return null;
  }

  /** @param isOther whether the offset is in the outbox of another index, so that rows of the old outbox say nothing */
  async #store(offset: WatchesOffset, isOther: boolean): Promise<void> {
    await withTransaction(this.#options.client, async (tx) => {
      if (isOther) await forgetSince(tx);
      await writeWatchesOffset(tx, offset);
    });
    this.#offset = offset;
    if (!isOther) return;
    // the next round loads the watches again, because all of them now match from the first row of the outbox on
    this.#watches.change([], [...this.#watches.ids]);
    this.#mark = '';
    this.#undone.clear();
    this.#isCompared = false;
  }

  /** Applies one change of the chain, in one transaction with the offset. */
  async #apply(reader: pg.ClientBase, change: ChainChange, behind: ReadonlySet<string>): Promise<void> {
    const offset = this.#offset as WatchesOffset;
    const { sequence, height, hash, isUndo, isInChain } = change;
    const next = {
      ...offset,
      sequence,
      height: isUndo ? Math.min(offset.height, height - 1) : Math.max(offset.height, height),
    };
    await withTransaction(this.#options.client, async (tx) => {
      const writer = new StatesWriter(tx);
      if (!isUndo && isInChain && height > offset.height && sequence > (this.#watches.since ?? sequence)) {
        await matchBlock(this.#partsOf(reader, writer, confirmedIn(change), sequence), change, null);
        await this.#owed.owe(
          tx,
          this.#watches.derivedTables.filter((table) => behind.has(table)),
          height,
        );
      }
      await writer.end(next);
    });
    failpoint('watches-block');
    this.#offset = next;
    // a block that was applied again by the moment of this round stays confirmed
    if (isInChain) this.#undone.applied(hash);
    else if (isUndo) this.#undone.add(change);
  }

  /**
   * Whether all rows that the watches need were matched. A table that the settings leave out has no rows of new blocks,
   * and its blocks are not matched again.
   */
  async #hasAllRows(reader: pg.ClientBase): Promise<boolean> {
    if (!this.#owed.isEmpty) return false;
    for (const table of this.#watches.derivedTables) if (!(await isComplete(reader, table))) return false;
    return true;
  }

  async #followPending(reader: pg.ClientBase, { revision, position, leftOut }: PendingMoment): Promise<void> {
    if (revision === this.#revision && !this.#leaving.hasMissing) return;
    const offset = this.#offset as WatchesOffset;
    const next = { ...offset, position: Math.max(offset.position, position) };
    await withTransaction(this.#options.client, async (tx) => {
      const writer = new StatesWriter(tx);
      await matchPending(
        this.#partsOf(reader, writer, { state: 'pending', block: null }, null),
        offset.position,
      );
      const moment = {
        now: Date.now(),
        hasAll: leftOut === 0,
        isMatched: () => this.#hasAllRows(reader),
      };
      for await (const states of this.#leaving.statesAt(tx, reader, moment)) await writer.write(states);
      if (writer.hasChanged || next.position !== offset.position) await writer.end(next);
    });
    failpoint('watches-pending');
    this.#offset = next;
    this.#revision = revision;
  }

  #partsOf(
    client: pg.ClientBase,
    writer: StatesWriter,
    { state, block }: Pick<FoundState, 'state' | 'block'>,
    sequence: number | null,
  ): ArrivalsParts {
    return {
      client,
      watches: this.#watches,
      readCollections: this.#options.readCollections,
      found: ({ id, since }: LiveWatch, { thing, txid, facts }: FoundThing) => {
        if (sequence === null || since < sequence)
          writer.add({ watchId: id, thing, txid, facts, state, block, replacedBy: null });
      },
      isFull: () => writer.isFull,
      onPage: () => writer.flush(),
    };
  }
}

const confirmedIn = ({ height, hash }: ChainChange): Pick<FoundState, 'state' | 'block'> => ({
  state: 'confirmed',
  block: { height, hash },
});

/** Stores states in a transaction, a bounded number at once. */
class StatesWriter {
  readonly #tx: pg.ClientBase;
  readonly #changed: ChangedWatches = new Map();
  #states = new Map<string, FoundState>();

  constructor(tx: pg.ClientBase) {
    this.#tx = tx;
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Whether the states must be stored before more are added, because they take too much memory. */
  get isFull(): boolean {
    return this.#states.size >= statesAtOnce;
  }

  add(state: FoundState): void {
    this.#states.set(`${state.watchId} ${state.thing}`, state);
  }

  async write(states: readonly FoundState[]): Promise<void> {
    for (const state of states) this.add(state);
    await this.flush();
  }

  async flush(): Promise<void> {
    const states = [...this.#states.values()];
    this.#states = new Map();
    for (let from = 0; from < states.length; from += statesAtOnce)
      await writeStates(this.#tx, states.slice(from, from + statesAtOnce), this.#changed);
  }

  /** Puts the messages in the outbox, and moves the offset. */
  async end(offset: WatchesOffset): Promise<void> {
    await keepNewest(this.#tx, this.#changed);
    await tellChanges(this.#tx, this.#changed);
    await writeWatchesOffset(this.#tx, offset);
  }
}
