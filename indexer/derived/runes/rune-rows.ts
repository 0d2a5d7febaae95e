import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { LedgerEvents } from '#indexer/events/event-kind.ts';
import { writeRuneLines } from '#indexer/events/rune-events.ts';
import { applyRunes } from '#indexer/ledger/runes/apply-runes.ts';
import type { RecentTransactions } from '#indexer/ledger/runes/commitment.ts';
import type { RuneChanges } from '#indexer/ledger/runes/rune-changes.ts';
import { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type {
  DerivedBlock,
  DerivedContext,
  DerivedQuestion,
  DerivedRows,
  RowSets,
} from '../derived-table.ts';
import { type EarlierBatch, nextPosition, type ReadRunes, type RuneBatch, readRunes } from './read-runes.ts';
import { encodeBalances, encodeBurn, encodeMints, encodeRune, encodeRuneBlock } from './rune-encoding.ts';
import { RuneMemory, type RunePosition } from './rune-memory.ts';
import { RuneSpends } from './rune-spends.ts';

/** The encoders of the tables. */
export interface RuneEncoders {
  readonly blocks: CopyEncoder;
  readonly runes: CopyEncoder;
  readonly balances: CopyEncoder;
  readonly mints: CopyEncoder;
  readonly burns: CopyEncoder;
}

const noTransactions: RecentTransactions = { has: () => false };
const timeAt = 68;

/** Result of the ledger for a block. */
interface AppliedRunes {
  readonly bytes: Uint8Array;
  readonly changes: RuneChanges;
}

/** The rows of runes of a batch. */
export class RuneRows implements DerivedRows {
  readonly #out: RuneEncoders;
  readonly #context: DerivedContext;
  readonly #memory: RuneMemory | null;
  /** Null: the batch has no block of these tables, so it asked no question. */
  #batch: RuneBatch | null = null;
  /** Position after the last block that was added. */
  #position: RunePosition | null = null;
  readonly #applied: AppliedRunes[] = [];
  /** Null: the last added block is not anchored. */
  #last: AppliedRunes | null = null;

  constructor(out: RuneEncoders, context: DerivedContext) {
    const { memory } = context;
    assert(memory === null || memory instanceof RuneMemory, 'the memory of runes');
    this.#out = out;
    this.#context = context;
    this.#memory = memory;
  }

  async ask(question: DerivedQuestion): Promise<void> {
    const { before } = question;
    assert(before === null || before instanceof RuneRows, 'rows of runes');
    const { chain } = this.#context;
    const earlier = before === null ? null : before.#asEarlier();
    this.#batch = await readRunes(question, { chain, memory: this.#memory, earlier });
    this.#position = this.#batch.start;
  }

  /** The results of this batch for the batch after it. */
  #asEarlier(): EarlierBatch | null {
    if (this.#batch === null || this.#position === null) return null;
    return { position: this.#position, state: this.#batch.state };
  }

  add({ block }: DerivedBlock): void {
    const { height } = block.ref;
    const batch = this.#batch;
    const before = this.#position;
    assert(batch !== null && before !== null, 'the batch was asked about');
    const read = batch.read.get(height);
    const position = nextPosition(before, block, this.#context.chain.network.firstRuneHeight);
    assert(position.anchored === (read !== undefined), 'an anchored block was read');
    this.#last = read === undefined ? null : this.#apply(block, read, batch);
    this.#position = { ...position, nextKey: batch.state.nextKey };
    encodeRuneBlock(this.#out.blocks, this.#position);
  }

  #apply(block: ParsedBlock, { messages, question }: ReadRunes, batch: RuneBatch): AppliedRunes {
    const { bytes, columns, facts, ref } = block;
    const { height } = ref;
    const { runestoneCandidates, spentScripts } = facts;
    assert(runestoneCandidates !== undefined, 'the candidates of a block were not read');
    const { network, fingerprintKey } = this.#context.chain;
    const changes = applyRunes(
      {
        height,
        timestamp: new DataView(columns.header.buffer, columns.header.byteOffset).getUint32(timeAt, true),
        network,
        bytes,
        columns,
        messages,
        txids: runestoneCandidates.txid,
        inputs: question.inputs,
        spentScripts: spentScripts ?? null,
        fingerprintKey,
        recent: batch.recent.get(height) ?? noTransactions,
      },
      batch.state,
    );
    for (const entry of changes.etched) encodeRune(this.#out.runes, entry);
    for (const burned of changes.burned) encodeBurn(this.#out.burns, height, burned);
    encodeMints(this.#out.mints, height, changes);
    const applied = { bytes, changes };
    this.#applied.push(applied);
    return applied;
  }

  /** Encodes the outputs. If a later block of the batch spent an output, it is written with its end. */
  end(): void {
    const made = this.#batch?.state.made;
    if (made === undefined) return;
    for (const { bytes, changes } of this.#applied) encodeOutputs(this.#out.balances, bytes, made, changes);
    this.#batch?.txids.remember();
  }

  events(): LedgerEvents | null {
    const last = this.#last;
    const state = this.#batch?.state;
    if (last === null || state === undefined) return null;
    const { changes } = last;
    return {
      count: changes.eventCount,
      isKnown: true,
      write: (out) => writeRuneLines(out, changes, (key) => state.byKey(key).entry),
    };
  }

  async write(tx: pg.ClientBase): Promise<void> {
    await this.#spends().write(tx);
  }

  #spends(): RuneSpends {
    return new RuneSpends(this.#batch?.state.held ?? new RuneOutputs());
  }

  committed(): void {
    const memory = this.#memory;
    if (memory === null || this.#position === null) return;
    memory.position = this.#position;
    const { newest } = memory;
    const state = this.#batch?.state;
    if (state === undefined) return;
    // first add, then remove: the batch spends outputs of the previous batch only
    learnMade(state.made, memory);
    forgetSpent(state.held, memory);
    for (const rune of state.known()) newest.learn(rune);
  }

  /** Compares the outputs of earlier blocks that the block spends. */
  async compare(tx: pg.ClientBase, { block: { ref } }: DerivedBlock): Promise<RowSets[]> {
    const { rows } = await tx.query<{ row: string }>(
      `SELECT DISTINCT 'height ' || height || ', tx_index ' || tx_index || ', vout ' || vout
         || ', spent_tx_index ' || spent_tx_index AS row
       FROM chain.rune_balances WHERE spent_height = $1 AND height < $1`,
      [ref.height],
    );
    const found = rows.map(({ row }) => row);
    return [
      { table: 'chain.rune_balances', column: 'spent_height', expected: this.#spends().shown(), found },
    ];
  }
}

/** The outputs that a block made. */
function encodeOutputs(
  out: CopyEncoder,
  block: Uint8Array,
  made: RuneOutputs,
  { firstOutput, endOutput }: RuneChanges,
): void {
  for (let row = firstOutput; row < endOutput; row++) encodeBalances(out, block, made, row);
}

/** Adds the unspent outputs of a committed batch to memory. */
function learnMade(made: RuneOutputs, { tracked, newest }: RuneMemory): void {
  for (let row = 0; row < made.size; row++) {
    if (made.isSpent(row)) continue;
    for (let left = made.countOf(row); left > 0; left--) tracked.add(made.lowOf(row), made.highOf(row));
    newest.add(made, row);
  }
}

/** Removes from memory the outputs of earlier batches that a committed batch spent. */
function forgetSpent(held: RuneOutputs, { tracked }: RuneMemory): void {
  for (let row = 0; row < held.size; row++) {
    if (!held.isSpent(row)) continue;
    for (let left = held.countOf(row); left > 0; left--) tracked.remove(held.lowOf(row), held.highOf(row));
  }
}
