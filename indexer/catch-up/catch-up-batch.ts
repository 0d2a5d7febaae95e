import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { type BatchEncoders, createEncoders } from '#indexer/apply/block-rows.ts';
import type { ChainFacts } from '#indexer/apply/fill-batch.ts';
import { addLateEvents } from '#indexer/apply/late-events.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { DerivedBatch } from '#indexer/derived/derived-batch.ts';
import { DerivedMemories } from '#indexer/derived/derived-memories.ts';
import {
  type DerivedState,
  isBehind,
  lockDerivedStates,
  moveDerivedTips,
} from '#indexer/derived/derived-state.ts';
import type { DerivedTable, IndexedBlocks } from '#indexer/derived/derived-table.ts';
import type { BlockEvents } from '#indexer/events/block-events.ts';
import { recomputeBlock } from '#indexer/verify/recompute-block.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';

/** Tables with the same tip, which therefore take the same blocks next. */
export interface CatchUpGroup {
  readonly states: readonly DerivedState[];
  /** The last block with rows. Null: no block yet. */
  readonly tip: BlockRef | null;
  /** The first block that they lack. */
  readonly from: Height;
  /** Last height of the group. Another table waits there to continue together with it. */
  readonly to: Height;
}

/** The first height that a table lacks. */
function nextHeight({ tip, fromHeight }: DerivedState): Height {
  return tip === null || tip.height < fromHeight ? fromHeight : asHeight(tip.height + 1);
}

/** The tables with the lowest tip. Tables that are added together read each block once. */
export function furthestBehind(behind: readonly DerivedState[]): CatchUpGroup {
  const from = asHeight(Math.min(...behind.map(nextHeight)));
  const [first] = behind.filter((state) => nextHeight(state) === from);
  assert(first !== undefined, 'no table is behind');
  const states = behind.filter((state) => nextHeight(state) === from && isSameRef(state.tip, first.tip));
  const later = behind.filter((state) => !states.includes(state)).map((state) => nextHeight(state) - 1);
  return { states, tip: first.tip, from, to: asHeight(Math.max(from, Math.min(maxHeight, ...later))) };
}

/** The indexed blocks that a group takes next, ascending. At most `limit`. */
export async function refsOfGroup(
  client: pg.ClientBase,
  { from, to }: Pick<CatchUpGroup, 'from' | 'to'>,
  limit: number,
): Promise<BlockRef[]> {
  const { rows } = await client.query<{ height: Height; hash: BlockHash }>(
    'SELECT height, hash FROM chain.blocks WHERE height BETWEEN $1 AND $2 ORDER BY height LIMIT $3',
    [from, to, limit],
  );
  // no indexed block is left up to `to`, which is in a gap of the chain, so take the next block after it
  if (rows.length === 0 && to < maxHeight) return refsOfGroup(client, { from, to: maxHeight }, 1);
  return rows.map(({ height, hash }) => ({ height, hash: asBlockHash(Uint8Array.from(hash)) }));
}

function isSameRef(a: BlockRef | null, b: BlockRef | null): boolean {
  if (a === null || b === null) return a === b;
  return a.height === b.height && Buffer.compare(a.hash, b.hash) === 0;
}

/**
 * Locks the tables of a group, so that none of their blocks is taken back meanwhile. Returns whether they still have
 * the same tip.
 */
async function lockGroup(
  tx: pg.ClientBase,
  tables: readonly DerivedTable[],
  { states, tip }: CatchUpGroup,
): Promise<boolean> {
  const now = await lockDerivedStates(tx, tables);
  return states.every(({ table }) =>
    now.some((state) => state.table === table && isBehind(state) && isSameRef(state.tip, tip)),
  );
}

/**
 * Maximum number of bytes of the blocks that are filled in one transaction. They take a few milliseconds if the blocks
 * are usual, and some seconds if they are full of the most expensive properties.
 */
const filledBytesMax = 32 * 1024 * 1024;

interface FilledBlocks extends IndexedBlocks {
  readonly last: BlockRef;
}

/** The first of some blocks, few enough to be filled at once. Null if the chain has other blocks by now. */
async function nextPart(
  tx: pg.ClientBase,
  { from }: CatchUpGroup,
  refs: readonly BlockRef[],
): Promise<FilledBlocks | null> {
  const { rows } = await tx.query<{ height: Height; hash: BlockHash; first_key: number; next_key: number }>(
    `SELECT height, hash, first_key, next_key FROM (
       SELECT height, hash, first_key, next_key, sum(size_bytes) OVER (ORDER BY height) - size_bytes AS before
       FROM chain.blocks WHERE height BETWEEN $1 AND $2
     ) AS counted WHERE before < ${filledBytesMax} ORDER BY height`,
    [from, refs.at(-1)?.height ?? from],
  );
  const isOurs = rows.every((row, at) => isSameRef(row, refs[at] ?? null));
  const [first] = rows;
  const end = rows.at(-1);
  if (!isOurs || first === undefined || end === undefined) return null;
  const { height, hash } = end;
  return { firstKey: first.first_key, nextKey: end.next_key, last: { height, hash } };
}

/**
 * Event settings of a pass. Other kinds are omitted because the blocks already have their events. Texts of old blocks
 * are not stored.
 */
function eventsOfGroup({ states }: CatchUpGroup): Pick<ChainFacts, 'eventKinds' | 'eventTexts'> {
  return {
    eventKinds: states.flatMap(({ table }) => table.eventKind ?? []),
    eventTexts: { keepBlocks: 0, tipHeight: () => maxHeight },
  };
}

/**
 * Deletes the rows and hashes of blocks in tables that are rebuilt, in the transaction that writes new ones. Throws
 * `block_unavailable` if the rows came from spent outputs that the source does not have, because those rows would be
 * lost.
 */
async function forgetRemade(
  tx: pg.ClientBase,
  { states }: CatchUpGroup,
  blocks: readonly ParsedBlock[],
): Promise<void> {
  const remade = states.filter(({ isRemade }) => isRemade);
  const [first] = blocks;
  const last = blocks.at(-1);
  if (remade.length === 0 || first === undefined || last === undefined) return;
  await refuseLostSpent(tx, blocks);
  const [from, to] = [first.ref.height, last.ref.height];
  for (const { table } of remade) await table.rules?.forget(tx, from, to);
  // a writer that has already read the hash of the block before also adds the hash of its own block
  await tx.query('DELETE FROM chain.event_hashes WHERE kind = ANY($1) AND height BETWEEN $2 AND $3', [
    remade.flatMap(({ table }) => table.eventKind?.number ?? []),
    from,
    to,
  ]);
}

async function refuseLostSpent(tx: pg.ClientBase, blocks: readonly ParsedBlock[]): Promise<void> {
  const without = blocks.filter(({ hasSpent }) => !hasSpent).map(({ ref: { height } }) => height);
  if (without.length === 0) return;
  const { rows } = await tx.query<{ height: Height }>(
    `SELECT height FROM chain.blocks WHERE height = ANY($1) AND has_spent AND tx_count > 1
     ORDER BY height LIMIT 1`,
    [without],
  );
  const [lost] = rows;
  if (lost === undefined) return;
  const message = `The source lacks the outputs that block ${lost.height} spends. The index had them, so its sales are kept. Use a node, or a folder with spent/.`;
  throw new AppError('block_unavailable', message, { height: lost.height });
}

/**
 * Tells consumers that the events of a kind were rebuiltby an outbox row that names no block. Skipped if no block had
 * been published.
 */
async function tellReclassified(tx: pg.ClientBase, kind: number): Promise<void> {
  await tx.query(
    `WITH added AS (
       INSERT INTO chain.outbox (sequence, height, block_hash, event_count, reclassified)
       SELECT (SELECT max(sequence) + 1 FROM chain.outbox), tip_height, tip_hash, 0, $1 FROM chain.state
       WHERE tip_height IS NOT NULL RETURNING sequence
     ) SELECT pg_notify('${outboxChannel}', '') FROM added`,
    [kind],
  );
}

export interface CatchUpChain {
  readonly pool: pg.Pool;
  /** All derived tables that the database may have. */
  readonly tables: readonly DerivedTable[];
  readonly facts: Omit<ChainFacts, 'eventKinds' | 'eventTexts'>;
}

/** Writes the rows that blocks add to the tables of a group. */
export class CatchUpBatches {
  readonly #client: pg.ClientBase;
  readonly #chain: CatchUpChain;
  readonly #encoders: BatchEncoders = createEncoders();
  /** In-memory state of the group's tables after `tip`. */
  #remembered: { readonly memories: DerivedMemories; readonly tip: BlockRef | null } | null = null;

  /** @param client connection with the settings of a writer's session */
  constructor(client: pg.ClientBase, chain: CatchUpChain) {
    this.#client = client;
    this.#chain = chain;
  }

  /**
   * Writes the rows of consecutive blocks and their events, and moves the tip of the tables, in one transaction.
   * Returns the group at its new tip. Returns null if the chain or the tables have changed: nothing is written then,
   * and the caller plans again.
   */
  async write(group: CatchUpGroup, blocks: readonly ParsedBlock[]): Promise<CatchUpGroup | null> {
    const { tables, facts } = this.#chain;
    const last = blocks.at(-1)?.ref;
    assert(last !== undefined, 'a batch has blocks');
    const factsOfGroup = { ...facts, ...eventsOfGroup(group) };
    // if a block is taken back meanwhile, the group no longer exists
    const memories = await this.#memoriesOf(group);
    const written = await withTransaction(this.#client, async (tx) => {
      if (!(await lockGroup(tx, tables, group))) return null;
      const stored = await refsOfGroup(tx, { from: group.from, to: last.height }, blocks.length + 1);
      const isOurs = blocks.every(({ ref }, at) => isSameRef(ref, stored[at] ?? null));
      if (!isOurs || stored.length !== blocks.length) return null;
      await forgetRemade(tx, group, blocks);
      const derived = new DerivedBatch(group.states, facts, memories);
      await derived.ask(tx, blocks);
      const events: BlockEvents[] = [];
      for (const block of blocks) {
        const { batch } = await recomputeBlock(tx, block, factsOfGroup, derived, this.#encoders);
        events.push(...batch.events);
        for (const encoder of Object.values(this.#encoders)) encoder.reset();
      }
      derived.end();
      for (const block of blocks) block.release();
      await derived.write(tx);
      if (factsOfGroup.eventKinds.length > 0) await addLateEvents(tx, events);
      await moveDerivedTips(
        tx,
        group.states.map(({ table }) => table),
        last,
      );
      failpoint('catch-up');
      return derived;
    });
    if (written === null) return null;
    failpoint('catch-up-committed');
    written.committed();
    this.#remembered = { memories, tip: last };
    return { ...group, tip: last, from: asHeight(last.height + 1) };
  }

  /** In-memory state of a group's tables. Read again if the last batch failed or blocks were taken back. */
  async #memoriesOf({ states, tip }: CatchUpGroup): Promise<DerivedMemories> {
    const remembered = this.#remembered;
    this.#remembered = null;
    if (remembered !== null && isSameRef(remembered.tip, tip)) return remembered.memories;
    const tables = states.map(({ table }) => table);
    // a pipelined connection cannot stream rows
    const client = await this.#chain.pool.connect();
    try {
      return await DerivedMemories.open(client, tables, this.#chain.facts);
    } finally {
      client.release();
    }
  }

  /**
   * Fills tables from other tables, for the first of the given blocks. Works like `write`, but reads no blocks.
   *
   * @param refs the next blocks of the group, ascending
   */
  async fill(group: CatchUpGroup, refs: readonly BlockRef[]): Promise<CatchUpGroup | null> {
    const { tables } = this.#chain;
    let last: BlockRef | null = null;
    const isFilled = await withTransaction(this.#client, async (tx) => {
      if (!(await lockGroup(tx, tables, group))) return false;
      const part = await nextPart(tx, group, refs);
      if (part === null) return false;
      for (const { table } of group.states) await table.fill?.(tx, part);
      await moveDerivedTips(
        tx,
        group.states.map(({ table }) => table),
        part.last,
      );
      failpoint('catch-up');
      last = part.last;
      return true;
    });
    if (!isFilled || last === null) return null;
    failpoint('catch-up-committed');
    const tip: BlockRef = last;
    return { ...group, tip, from: asHeight(tip.height + 1) };
  }

  /**
   * Hands complete tables over to the writer. The same transaction checks that no block is missing. From then on, a
   * writer that does not know about these tables cannot commit a batch. Returns false if a block came in the meantime.
   */
  async handOver(group: CatchUpGroup): Promise<boolean> {
    const { tables } = this.#chain;
    const names = group.states.map(({ table }) => table.name);
    const wanted = group.states.flatMap(({ table }) => Object.keys(table.indexes));
    await ensureSecondaryIndexes(this.#client, { wanted, tables, isSearched: true });
    const isDone = await withTransaction(this.#client, async (tx) => {
      if (!(await lockGroup(tx, tables, group))) return false;
      // waits for a batch that is being committed, and makes the next batch wait
      await tx.query('SELECT FROM chain.state FOR UPDATE');
      if ((await refsOfGroup(tx, { from: group.from, to: maxHeight }, 1)).length > 0) return false;
      await tx.query('UPDATE chain.state SET derived_epoch = derived_epoch + 1');
      await tx.query(
        `UPDATE chain.derived_tables SET is_followed = true, is_remade = false, tip_height = NULL, tip_hash = NULL,
           problem_code = NULL, problem_message = NULL, problem_since = NULL
         WHERE name = ANY($1)`,
        [names],
      );
      for (const { table, isRemade } of group.states) {
        if (isRemade && table.eventKind !== undefined) await tellReclassified(tx, table.eventKind.number);
      }
      failpoint('hand-over');
      return true;
    });
    if (isDone) failpoint('handed-over');
    return isDone;
  }
}
