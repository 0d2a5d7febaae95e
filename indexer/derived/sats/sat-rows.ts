import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { applySats, type SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import type { SatBlock } from '#indexer/ledger/sats/sat-block.ts';
import type { SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import { type BlockRows, SatState, type SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { type Height, maxHeight } from '#kernel/primitives/height.ts';
import type {
  DerivedBlock,
  DerivedContext,
  DerivedQuestion,
  DerivedRows,
  RowSets,
} from '../derived-table.ts';
import { type AppliedSats, inscribedSats, lostRangesOf, satBlockOf } from './applied-sats.ts';
import { compareSats } from './compare-sats.ts';
import { encodeHeld, encodeRanges, packOutpoints, packOutputs } from './sat-encoding.ts';
import { ensureOutpointIndex } from './sat-indexes.ts';
import { SatMemory } from './sat-memory.ts';
import { askRanges, outpointColumns, readSatTotals, recallSpent } from './sat-question.ts';

const hashLength = 32;

/** The encoders of the tables. */
export interface SatEncoders {
  readonly ranges: CopyEncoder;
  readonly sats: CopyEncoder;
  readonly rare: CopyEncoder;
  readonly lost: CopyEncoder;
  readonly spent: CopyEncoder;
  readonly recent: CopyEncoder;
}

/** A batch that has ended, with the rows of the outputs that its blocks made and left unspent. */
interface EndedBatch {
  readonly state: SatState;
  readonly left: readonly number[];
}

/**
 * The rows of sats of a batch. In a first load, outputs of the newest blocks have no rows, because most are spent
 * before memory needs their room. Until these rows are written, one row (`recent_sats`) per batch has the outputs that
 * it made and spent, for a restarted writer.
 */
export class SatRows implements DerivedRows {
  readonly #out: SatEncoders;
  readonly #context: DerivedContext;
  readonly #memory: SatMemory | null;
  /** Null: no question was asked, or `verify` asks about a block whose spends are no longer stored. */
  #state: SatState | null = null;
  /** The batch that was being committed when this batch asked its question. Null: there was no such batch. */
  #earlier: SatRows | null = null;
  /** True if memory already includes this batch. */
  #isLearnt = false;
  /** Height below which unspent outputs have rows before this batch. `#writtenAfter` is the same height after it. */
  #writtenBefore = 0;
  #writtenAfter = 0;
  /** Blocks that were read, by height. */
  readonly #read = new Map<number, { readonly block: SatBlock; readonly rows: BlockRows }>();
  readonly #applied: AppliedSats[] = [];
  /** Outputs that its blocks made and left unspent: rows of the state. Set once the batch has ended. */
  #left: readonly number[] = [];

  constructor(out: SatEncoders, context: DerivedContext) {
    const { memory } = context;
    assert(memory === null || memory instanceof SatMemory, 'the memory of sats');
    this.#out = out;
    this.#context = context;
    this.#memory = memory;
  }

  async ask({ client, blocks, below, before }: DerivedQuestion): Promise<void> {
    assert(before === null || before instanceof SatRows, 'rows of sats');
    const first = blocks[0]?.ref.height ?? maxHeight;
    const memory = this.#memory;
    this.#writtenBefore = Math.min(first, this.#writtenBelow(before));
    this.#earlier = before;
    const earlier = before === null ? null : before.#state;
    const totals = earlier ?? memory?.totals ?? (await readSatTotals(client, below));
    const state = new SatState(totals, first, outpointsOf(blocks));
    this.#enter(blocks, earlier, state);
    const { fingerprintKey } = this.#context.chain;
    if (memory === null && !(await recallSpent(client, state, below, fingerprintKey))) return;
    // memory has all outputs until the first rows are written
    const asked = this.#writtenBefore === 0 ? [] : state.asked();
    await this.#ensureIndex(client, asked, state);
    await askRanges(client, state, asked, below);
    this.#state = state;
  }

  #enter(blocks: readonly ParsedBlock[], earlier: SatState | null, state: SatState): void {
    const known = [earlier?.outputs, this.#memory?.outputs].filter((table) => table !== undefined);
    for (const parsed of blocks) {
      const block = satBlockOf(parsed);
      this.#read.set(block.height, { block, rows: state.enter(block, parsed.bytes, known) });
    }
  }

  #writtenBelow(before: SatRows | null): number {
    if (before !== null) return before.#writtenAfter;
    // without in-memory state, all outputs are queried
    return this.#memory?.writtenBelow ?? maxHeight;
  }

  /** Builds the index before the first question and before the first row is deleted. */
  async #ensureIndex(client: pg.ClientBase, asked: readonly number[], state: SatState): Promise<void> {
    const memory = this.#memory;
    if (memory === null || memory.hasIndex) return;
    if (asked.length === 0 && !state.knowsBelow(this.#writtenBefore)) return;
    await ensureOutpointIndex(client);
    memory.hasIndex = true;
  }

  add({ block, ledger, isUnchecked }: DerivedBlock): void {
    const state = this.#state;
    if (state === null) return;
    const read = this.#read.get(block.ref.height);
    assert(read !== undefined, 'the batch was asked about');
    const satBlock = { ...read.block, isUnchecked };
    const changes = applySats(satBlock, read.rows, state);
    const applied = { block: satBlock, changes, inscribed: inscribedSats(ledger, satBlock, changes) };
    this.#applied.push(applied);
    this.#encode(applied, state);
  }

  #encode({ block: { flow }, changes, inscribed }: AppliedSats, { outputs }: SatState): void {
    const { sats, rare, lost } = this.#out;
    const { height, before, after } = changes;
    for (const { key, sat } of inscribed) {
      sats.row();
      sats.int8(sat);
      sats.int4(key);
    }
    for (const { sat, tx, vout, offset } of changes.rare) {
      rare.row();
      rare.int8(sat);
      rare.int8(offset);
      rare.int4(height);
      rare.int4(vout);
      if (tx === null) rare.null();
      else rare.range(flow.txid, tx * hashLength, hashLength);
    }
    if (after.lostSats !== before.lostSats || after.replacedSats !== before.replacedSats) {
      lost.row();
      lost.int4(height);
      lost.int8(after.lostSats);
      lost.int8(after.replacedSats);
      encodeRanges(lost, lostRangesOf(changes));
    }
    if (this.#keeps(height)) this.#encodeSpent(changes, outputs);
  }

  /** Whether a block is, as far as known, one of the newest blocks, which can be taken back. */
  #keeps(height: number): boolean {
    const { undo } = this.#context.chain;
    return undo === undefined || height > undo.tipHeight() - undo.keepBlocks;
  }

  #encodeSpent({ height, spent }: SatChanges, outputs: SatOutputs): void {
    const bytes = packOutputs(outputs, spent);
    this.#out.spent.row();
    this.#out.spent.int4(height);
    this.#out.spent.range(bytes, 0, bytes.length);
  }

  /** Encodes the rows. An output is never written if a later block of the batch spent it. */
  end(): void {
    const state = this.#state;
    const last = this.#applied.at(-1)?.changes.height;
    if (state === null || last === undefined) return;
    this.#left = state.left();
    this.#writtenAfter = this.#writeBelow(state, last);
    this.#encodeUnwritten(state);
    if (this.#writtenAfter <= last) this.#encodeRecent(state, last);
    this.#earlier = null;
  }

  /**
   * Height below which outputs have rows after this batch. All outputs of blocks that can be taken back have rows, so
   * that undo only needs rows.
   */
  #writeBelow({ outputs }: SatState, last: Height): number {
    const memory = this.#memory;
    if (memory === null || this.#keeps(last)) return last + 1;
    const numbers = this.#left.reduce((sum, row) => sum + outputs.countOf(row) * 2, 0);
    return Math.max(this.#writtenBefore, Math.min(last + 1, memory.makeRoom(this.#left.length, numbers)));
  }

  /** Encodes unspent outputs of those blocks that have rows after this batch, but not before it. */
  #encodeUnwritten(state: SatState): void {
    const { ranges } = this.#out;
    const { outputs } = state;
    // memory may or may not include the batch that was being committed
    const earlier = this.#earlier?.untold ?? null;
    const memory = this.#memory?.outputs;
    const batches = earlier === null ? [state] : [earlier.state, state];
    if (memory !== undefined)
      for (const row of this.#remembered())
        if (!batches.some((batch) => batch.hasSpent(memory, row))) encodeHeld(ranges, memory, row);
    if (earlier !== null) this.#encodeEarlier(earlier, state);
    for (const row of this.#left)
      if (outputs.heightOf(row) < this.#writtenAfter) encodeHeld(ranges, outputs, row);
  }

  #remembered(): Iterable<number> {
    return this.#memory?.between(this.#writtenBefore, this.#writtenAfter) ?? [];
  }

  #encodeEarlier({ state: { outputs }, left }: EndedBatch, state: SatState): void {
    for (const row of left) {
      const height = outputs.heightOf(row);
      const isNext = height >= this.#writtenBefore && height < this.#writtenAfter;
      if (isNext && !state.hasSpent(outputs, row)) encodeHeld(this.#out.ranges, outputs, row);
    }
  }

  /** The part of the batch that memory does not include yet. Null: memory includes all of it, or the batch is empty. */
  get untold(): EndedBatch | null {
    const state = this.#state;
    return this.#isLearnt || state === null ? null : { state, left: this.#left };
  }

  #encodeRecent({ outputs, firstHeight }: SatState, last: Height): void {
    const { recent } = this.#out;
    const made = this.#left.filter((row) => outputs.heightOf(row) >= this.#writtenAfter);
    const spent = this.#spentOfOthers((row) => {
      const height = outputs.heightOf(row);
      return height >= this.#writtenBefore && height < firstHeight;
    });
    recent.row();
    recent.int4(last);
    recent.int4(this.#writtenAfter);
    const packed = packOutputs(outputs, made);
    recent.range(packed, 0, packed.length);
    const outpoints = packOutpoints(outputs, spent);
    recent.range(outpoints, 0, outpoints.length);
  }

  /** Rows of earlier outputs that its blocks spent, if `isWanted` accepts them. */
  #spentOfOthers(isWanted: (row: number) => boolean): number[] {
    return this.#applied.flatMap(({ changes }) => changes.spent.filter(isWanted));
  }

  async write(tx: pg.ClientBase): Promise<void> {
    const last = this.#applied.at(-1);
    const state = this.#state;
    if (last === undefined || state === null) return;
    const { undo } = this.#context.chain;
    const forget = undo === undefined ? null : last.changes.height - undo.keepBlocks;
    const forgotten =
      forget === null
        ? Promise.resolve()
        : tx.query('DELETE FROM chain.spent_sats WHERE height <= $1', [forget]);
    const written =
      this.#writtenAfter > this.#writtenBefore
        ? tx.query('DELETE FROM chain.recent_sats WHERE height < $1', [this.#writtenAfter])
        : Promise.resolve();
    // delete only outputs that were written: the others never had rows
    const spent = this.#spentOfOthers((row) => state.outputs.heightOf(row) < this.#writtenBefore);
    await Promise.all([deleteSpent(tx, state.outputs, spent), forgotten, written]);
  }

  committed(): void {
    const memory = this.#memory;
    const state = this.#state;
    if (memory === null || state === null) return;
    memory.totals = totalsOf(state);
    const last = this.#applied.at(-1);
    if (last === undefined) return;
    memory.learn(state, this.#left, last.changes.height);
    memory.written(this.#writtenAfter);
    this.#isLearnt = true;
  }

  compare(tx: pg.ClientBase, { block, ledger }: DerivedBlock): Promise<RowSets[]> {
    return compareSats(tx, satBlockOf(block), ledger, this.#applied.at(-1) ?? null);
  }
}

function totalsOf({ lostSats, replacedSats }: SatTotals): SatTotals {
  return { lostSats, replacedSats };
}

/** Maximum number of outpoints that blocks can spend, make and replace. */
function outpointsOf(blocks: readonly ParsedBlock[]): number {
  return blocks.reduce(
    (sum, { columns, facts: { flow } }) =>
      sum + columns.inputValue.length + (flow?.value.length ?? 0) + (flow?.txFirstOutput[1] ?? 0),
    0,
  );
}

/**
 * Deletes the rows of outputs of earlier batches that a batch spends, in one statement. The height is compared too,
 * because two coinbases can have the same outpoint.
 */
async function deleteSpent(tx: pg.ClientBase, outputs: SatOutputs, rows: readonly number[]): Promise<void> {
  if (rows.length === 0) return;
  const { txids, vouts } = outpointColumns(outputs, rows);
  const heights = int4Array(rows.map((row) => outputs.heightOf(row)));
  const { rowCount } = await tx.query(
    `DELETE FROM chain.sat_ranges r
     USING (
       SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, height
       FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS given(vout, height, place)
     ) AS gone
     WHERE chain.hash64(r.txid, r.vout) = chain.hash64(gone.txid, gone.vout)
       AND r.txid = gone.txid AND r.vout = gone.vout AND r.height = gone.height`,
    [txids, vouts, heights],
  );
  assert(rowCount === rows.length, 'an output that is spent has its ranges');
}
