import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { applySats, type SatBlock, type SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import { type HeldSats, SatState, type SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
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
import { encodeHeld, encodeRanges, packNames, packOutputs } from './sat-encoding.ts';
import { ensureOutpointIndex } from './sat-indexes.ts';
import { SatMemory } from './sat-memory.ts';
import { askRanges, readSatTotals, recallSpent } from './sat-question.ts';
import { SpentRanges } from './spent-ranges.ts';

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

/**
 * The rows of sats of a batch. In a first load, outputs of the newest blocks have no rows: most are spent before memory
 * needs their room. Until then what a batch made and spent of them is one row (`recent_sats`), for a writer that begins
 * again.
 */
export class SatRows implements DerivedRows {
  readonly #out: SatEncoders;
  readonly #context: DerivedContext;
  readonly #memory: SatMemory | null;
  /** Null: there was no question, or `verify` asks about a block whose spends are not kept any more. */
  #state: SatState | null = null;
  #firstHeight = 0;
  /** Of the batch that was being committed when this one asked; null: there was none. */
  #earlier: SatState | null = null;
  /** Unspent outputs of lower blocks have their rows: before this batch, and after it. */
  #writtenBefore = 0;
  #writtenAfter = 0;
  /** By height. */
  readonly #read = new Map<number, SatBlock>();
  readonly #applied: AppliedSats[] = [];
  readonly #spent = new SpentRanges();

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
    this.#writtenBefore = Math.min(first, this.#writtenBelow(before));
    const earlier = before === null ? null : before.#state;
    this.#earlier = earlier;
    const totals = earlier ?? this.#memory?.totals ?? (await readSatTotals(client, below));
    const state = new SatState(totals);
    for (const block of blocks) this.#read.set(block.ref.height, satBlockOf(block));
    const names = this.#tellKnown([...this.#read.values()], earlier, state);
    if (this.#memory === null && !(await recallSpent(client, below, state))) return;
    await this.#ensureIndex(client, names, state);
    await askRanges(client, names, below, state);
    this.#state = state;
  }

  #writtenBelow(before: SatRows | null): number {
    if (before !== null) return before.#writtenAfter;
    // who remembers nothing asks for all
    return this.#memory?.writtenBelow ?? maxHeight;
  }

  /** Before the first question, and before the first row is deleted. */
  async #ensureIndex(client: pg.ClientBase, asked: readonly string[], state: SatState): Promise<void> {
    const memory = this.#memory;
    if (memory === null || memory.hasIndex) return;
    let isNeeded = asked.length > 0;
    for (const { height } of state.learnt()) isNeeded ||= height < this.#writtenBefore;
    if (!isNeeded) return;
    await ensureOutpointIndex(client);
    memory.hasIndex = true;
  }

  /** Tells the state what is in memory, and returns the outpoints that are left to ask. */
  #tellKnown(blocks: readonly SatBlock[], earlier: SatState | null, state: SatState): string[] {
    const unknown: string[] = [];
    for (const { asked } of blocks)
      for (const names of [asked.spent, asked.replaced])
        for (const name of names) {
          const held = earlier?.find(name);
          // spent by that batch
          if (held === null) continue;
          const known = held ?? this.#memory?.find(name);
          if (known === undefined) unknown.push(name);
          else state.learn(name, known);
        }
    // until the first rows are written, memory has all outputs
    if (this.#writtenBefore === 0 || unknown.length === 0) return [];
    // a twin of a coinbase is asked for though the batch makes its outpoint
    const twins = new Set(blocks.flatMap(({ asked }) => asked.replaced));
    const made = new Set(blocks.flatMap(({ flow: { txid } }) => txidsOf(txid)));
    return unknown.filter((name) => twins.has(name) || !made.has(name.slice(0, hashLength)));
  }

  add({ block, ledger, isUnchecked }: DerivedBlock): void {
    const state = this.#state;
    if (state === null) return;
    const read = this.#read.get(block.ref.height);
    assert(read !== undefined, 'the batch was asked about');
    const satBlock = { ...read, isUnchecked };
    const changes = applySats(satBlock, state);
    const applied = { block: satBlock, changes, inscribed: inscribedSats(ledger, satBlock, changes) };
    if (this.#applied.length === 0) this.#firstHeight = changes.height;
    this.#applied.push(applied);
    // others were not written
    this.#spent.add(changes.spent.filter(({ held }) => held.height < this.#writtenBefore));
    this.#encode(applied);
  }

  #encode({ block: { flow }, changes, inscribed }: AppliedSats): void {
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
    if (this.#keeps(height)) this.#encodeSpent(changes);
  }

  /** Whether a block is, as far as is known, among the newest that can be taken back. */
  #keeps(height: number): boolean {
    const { undo } = this.#context.chain;
    return undo === undefined || height > undo.tipHeight() - undo.keepBlocks;
  }

  #encodeSpent({ height, spent }: SatChanges): void {
    const bytes = packOutputs(spent);
    this.#out.spent.row();
    this.#out.spent.int4(height);
    this.#out.spent.range(bytes, 0, bytes.length);
  }

  /** Outputs that a later block of the batch spent are never written. */
  end(): void {
    const state = this.#state;
    const last = this.#applied.at(-1)?.changes.height;
    if (state === null || last === undefined) return;
    this.#writtenAfter = this.#writeBelow(last);
    for (const [name, held] of this.#unwritten(state, this.#writtenAfter))
      encodeHeld(this.#out.ranges, name, held);
    if (this.#writtenAfter <= last) this.#encodeRecent(state, last);
    this.#earlier = null;
  }

  /** Blocks that can be taken back have their rows, so that undo knows rows alone. */
  #writeBelow(last: Height): number {
    const memory = this.#memory;
    if (memory === null || this.#keeps(last)) return last + 1;
    const outputs = this.#applied.reduce((sum, { changes }) => sum + changes.rangeCount.length, 0);
    return Math.max(this.#writtenBefore, Math.min(last + 1, memory.makeRoom(outputs, this.#numbers)));
  }

  /** Numbers of the lists that its outputs share. */
  get #numbers(): number {
    return this.#applied.reduce((sum, { changes }) => sum + changes.pairs.length, 0);
  }

  /** Unspent outputs of blocks below a height that have no rows. */
  *#unwritten(state: SatState, below: number): Generator<readonly [name: string, held: HeldSats]> {
    const earlier = this.#earlier;
    const before = earlier === null ? this.#remembered(below) : this.#ofEarlier(earlier, below);
    for (const [name, held] of before) if (isUnspent(state, name, held)) yield [name, held];
    for (const [name, held] of state.left()) if (held.height < below) yield [name, held];
  }

  #remembered(below: number): Iterable<readonly [name: string, held: HeldSats]> {
    return this.#memory?.between(this.#writtenBefore, below) ?? [];
  }

  /** The same after the batch that was being committed: memory may have learnt it meanwhile, or not. */
  *#ofEarlier(earlier: SatState, below: number): Generator<readonly [name: string, held: HeldSats]> {
    for (const [name, held] of this.#remembered(below))
      if (isUnspent(earlier, name, held)) yield [name, held];
    for (const [name, held] of earlier.left())
      if (held.height >= this.#writtenBefore && held.height < below && this.#memory?.find(name) !== held)
        yield [name, held];
  }

  #encodeRecent(state: SatState, last: Height): void {
    const { recent } = this.#out;
    const made: { name: string; held: HeldSats }[] = [];
    for (const [name, held] of state.left()) if (held.height >= this.#writtenAfter) made.push({ name, held });
    const spent: string[] = [];
    for (const { changes } of this.#applied)
      for (const { name, held } of changes.spent)
        if (held.height >= this.#writtenBefore && held.height < this.#firstHeight) spent.push(name);
    recent.row();
    recent.int4(last);
    recent.int4(this.#writtenAfter);
    const outputs = packOutputs(made);
    recent.range(outputs, 0, outputs.length);
    const names = packNames(spent);
    recent.range(names, 0, names.length);
  }

  async write(tx: pg.ClientBase): Promise<void> {
    const last = this.#applied.at(-1);
    if (last === undefined) return;
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
    await Promise.all([this.#spent.write(tx), forgotten, written]);
  }

  committed(): void {
    const memory = this.#memory;
    const state = this.#state;
    if (memory === null || state === null) return;
    memory.totals = totalsOf(state);
    const last = this.#applied.at(-1);
    if (last === undefined) return;
    const batch = {
      left: state.left(),
      spent: this.#applied.flatMap(({ changes }) => changes.spent.map(({ name }) => name)),
      height: last.changes.height,
      numbers: this.#numbers,
    };
    memory.learn(batch, this.#writtenAfter);
  }

  compare(tx: pg.ClientBase, { block, ledger }: DerivedBlock): Promise<RowSets[]> {
    return compareSats(tx, satBlockOf(block), ledger, this.#applied.at(-1) ?? null);
  }
}

/** Whether a batch leaves an output of earlier blocks as it was. */
function isUnspent(state: SatState, name: string, held: HeldSats): boolean {
  const found = state.find(name);
  return found === undefined || found === held;
}

function totalsOf({ lostSats, replacedSats }: SatTotals): SatTotals {
  return { lostSats, replacedSats };
}

function txidsOf(txids: Uint8Array): string[] {
  const { buffer, byteOffset, length } = txids;
  const bytes = Buffer.from(buffer, byteOffset, length);
  return Array.from({ length: length / hashLength }, (_, tx) =>
    bytes.toString('latin1', tx * hashLength, (tx + 1) * hashLength),
  );
}
