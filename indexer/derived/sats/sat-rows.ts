import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { applySats, type SatBlock, type SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import { SatState, type SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type {
  DerivedBlock,
  DerivedContext,
  DerivedQuestion,
  DerivedRows,
  RowSets,
} from '../derived-table.ts';
import { type AppliedSats, inscribedSats, lostRangesOf, satBlockOf } from './applied-sats.ts';
import { compareSats } from './compare-sats.ts';
import { encodeHeld, encodeRanges, packOutputs } from './sat-encoding.ts';
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
}

/** The rows of sats of a batch. */
export class SatRows implements DerivedRows {
  readonly #out: SatEncoders;
  readonly #context: DerivedContext;
  readonly #memory: SatMemory | null;
  /** Null: there was no question, or `verify` asks about a block whose spends are not kept any more. */
  #state: SatState | null = null;
  #firstHeight = 0;
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
    const earlier = before === null ? null : before.#state;
    const totals = earlier ?? this.#memory?.totals ?? (await readSatTotals(client, below));
    const state = new SatState(totals);
    for (const block of blocks) this.#read.set(block.ref.height, satBlockOf(block));
    const names = this.#tellKnown([...this.#read.values()], earlier, state);
    if (this.#memory === null && !(await recallSpent(client, below, state))) return;
    await askRanges(client, names, below, state);
    this.#state = state;
  }

  /** Tells the state what is in memory, and returns the outpoints that are left to ask. */
  #tellKnown(blocks: readonly SatBlock[], earlier: SatState | null, state: SatState): string[] {
    const made = new Set(blocks.flatMap(({ flow: { txid } }) => txidsOf(txid)));
    const names: string[] = [];
    const tell = (name: string, isMade: boolean): void => {
      const held = earlier?.find(name);
      // spent by that batch
      if (held === null) return;
      const known = held ?? this.#memory?.find(name);
      if (known !== undefined) state.learn(name, known);
      else if (!isMade) names.push(name);
    };
    for (const { asked } of blocks) {
      const { spent, replaced } = asked;
      for (const name of spent) tell(name, made.has(name.slice(0, hashLength)));
      for (const name of replaced) tell(name, false);
    }
    return names;
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
    // outputs of this batch were not written
    this.#spent.add(changes.spent.filter(({ held }) => held.height < this.#firstHeight));
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
    for (const [name, held] of this.#state?.left() ?? []) encodeHeld(this.#out.ranges, name, held);
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
    await Promise.all([this.#spent.write(tx), forgotten]);
  }

  committed(): void {
    const memory = this.#memory;
    const state = this.#state;
    if (memory === null || state === null) return;
    memory.totals = totalsOf(state);
    for (const { changes } of this.#applied) for (const { name } of changes.spent) memory.forget(name);
    const pairs = this.#applied.reduce((sum, { changes }) => sum + changes.pairs.length, 0);
    memory.learn(state.left(), pairs);
  }

  compare(tx: pg.ClientBase, { block, ledger }: DerivedBlock): Promise<RowSets[]> {
    return compareSats(tx, satBlockOf(block), ledger, this.#applied.at(-1) ?? null);
  }
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
