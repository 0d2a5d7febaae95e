import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { LedgerEvents } from '#indexer/events/event-kind.ts';
import { writeRuneLines } from '#indexer/events/rune-events.ts';
import { applyRunes, type RuneChanges } from '#indexer/ledger/runes/apply-runes.ts';
import type { RecentTransactions } from '#indexer/ledger/runes/commitment.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';
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

/** What the ledger did with a block. */
interface AppliedRunes {
  readonly height: Height;
  readonly bytes: Uint8Array;
  readonly changes: RuneChanges;
}

/** The rows of runes of a batch. */
export class RuneRows implements DerivedRows {
  readonly #out: RuneEncoders;
  readonly #context: DerivedContext;
  readonly #memory: RuneMemory | null;
  /** Null: there was no question, because the batch has no block of these tables. */
  #batch: RuneBatch | null = null;
  /** After the last block that was added. */
  #position: RunePosition | null = null;
  readonly #applied: AppliedRunes[] = [];
  readonly #spends = new RuneSpends();
  /** Null: the block that was added last is not anchored. */
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

  /** What it knows, for the batch after it. */
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
    const { network, fingerprintKey } = this.#context.chain;
    const changes = applyRunes(
      {
        height,
        timestamp: new DataView(columns.header.buffer, columns.header.byteOffset).getUint32(timeAt, true),
        network,
        bytes,
        columns,
        messages,
        inputs: question.inputs,
        spentScripts: facts.spentScripts ?? null,
        fingerprintKey,
        recent: batch.recent.get(height) ?? noTransactions,
      },
      batch.state,
    );
    for (const entry of changes.etched) encodeRune(this.#out.runes, entry);
    for (const event of changes.events)
      if (event.kind === 'burned') encodeBurn(this.#out.burns, height, event);
    encodeMints(
      this.#out.mints,
      height,
      changes.events.filter((event) => event.kind === 'minted'),
    );
    for (const spent of changes.spent) this.#spends.add(bytes, height, spent);
    const applied = { height, bytes, changes };
    this.#applied.push(applied);
    return applied;
  }

  /** Outputs that a later block of the batch spent are written with their end. */
  end(): void {
    for (const { bytes, changes } of this.#applied)
      for (const output of changes.outputs) encodeBalances(this.#out.balances, bytes, output);
    this.#batch?.txids.remember();
  }

  events(): LedgerEvents | null {
    const last = this.#last;
    const state = this.#batch?.state;
    if (last === null || state === undefined) return null;
    const { events } = last.changes;
    return {
      count: events.length,
      isKnown: true,
      write: (out) => writeRuneLines(out, events, (key) => state.byKey(key).entry),
    };
  }

  write(tx: pg.ClientBase): Promise<void> {
    return this.#spends.write(tx);
  }

  committed(): void {
    const memory = this.#memory;
    if (memory === null || this.#position === null) return;
    memory.position = this.#position;
    const { tracked, newest } = memory;
    // additions first: the batch spends outputs of the one before it alone
    for (const { changes } of this.#applied) {
      for (const output of changes.outputs) {
        if (output.spentHeight !== null) continue;
        for (const _ of output.balances) tracked.add(output.fingerprintLow, output.fingerprintHigh);
        newest.add(output);
      }
      for (const { held, fingerprintLow, fingerprintHigh } of changes.spent)
        for (const _ of held.balances) tracked.remove(fingerprintLow, fingerprintHigh);
    }
    for (const rune of this.#batch?.state.known() ?? []) newest.learn(rune);
  }

  /** Outputs of earlier blocks that the block spends. */
  async compare(tx: pg.ClientBase, { block: { ref } }: DerivedBlock): Promise<RowSets[]> {
    const { rows } = await tx.query<{ row: string }>(
      `SELECT DISTINCT 'height ' || height || ', tx_index ' || tx_index || ', vout ' || vout
         || ', spent_tx_index ' || spent_tx_index AS row
       FROM chain.rune_balances WHERE spent_height = $1 AND height < $1`,
      [ref.height],
    );
    const found = rows.map(({ row }) => row);
    return [{ table: 'chain.rune_balances', column: 'spent_height', expected: this.#spends.shown(), found }];
  }
}
