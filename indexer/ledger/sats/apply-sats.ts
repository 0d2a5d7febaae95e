import { strict as assert } from 'node:assert';
import { AppError } from '#kernel/errors/app-error.ts';
import { withRoom } from '#kernel/growable.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { firstSatAt, isFirstOfBlock } from '#kernel/sats/epoch.ts';
import { type Sat, trustedSat } from '#kernel/sats/sat.ts';
import { RangeQueue } from './range-queue.ts';
import type { SatBlock } from './sat-block.ts';
import type { BlockRows, SatState, SatTotals } from './sat-state.ts';

/** Position of a sat that is not common, after the block that moved it. */
export interface RarePlace {
  readonly sat: Sat;
  /** Index of the transaction. Null: the sat is lost. */
  readonly tx: number | null;
  readonly vout: number;
  readonly offset: number;
}

/** Changes of sats by a block. */
export interface SatChanges {
  readonly height: Height;
  /** All ranges that outputs receive, as pairs. */
  readonly pairs: Float64Array;
  /** First range of each output. `rangeCount` is the number of its ranges. */
  readonly firstRange: Uint32Array;
  readonly rangeCount: Uint32Array;
  /** 1 if the block itself spends the output. */
  readonly spentHere: Uint8Array;
  /**
   * Rows of the state: outputs of earlier blocks that the block spent, and outputs that a coinbase with the same txid
   * replaces.
   */
  readonly spent: readonly number[];
  readonly rare: readonly RarePlace[];
  /** Index of the first lost range. The coinbase gave this range and all later ranges to no output. */
  readonly firstLost: number;
  readonly lostCount: number;
  /** The totals before the block. `after` has the totals after it. */
  readonly before: SatTotals;
  readonly after: SatTotals;
}

/**
 * Applies a block to the sats: it finds the ranges of each output, as ord --index-sats does (ord src/index/updater.rs).
 * Sats flow first in, first out. The coinbase comes last: it takes the subsidy, then the rest of each transaction in
 * block order. The rest of the coinbase is lost. Every output gets its ranges, even an unspendable one. A coinbase with
 * the txid of an earlier one replaces its outputs (BIP 30).
 *
 * Ranges are cut at the ends of outputs, and never joined again. A sat that is not common is the first of a subsidy, so
 * it is always the first of its range.
 *
 * Pure. `rows` come from entering the block into the state. The state knows every earlier output that the block spends,
 * and the unspent outputs that have the outpoints of its coinbase. Throws `block_corrupt` if an unchecked block spends
 * missing outputs.
 */
export function applySats(block: SatBlock, rows: BlockRows, state: SatState): SatChanges {
  const pass = new SatPass(block, rows, state);
  const { txFirstOutput } = block.flow;
  for (let tx = 1; tx + 1 < txFirstOutput.length; tx++) pass.transaction(tx);
  return pass.coinbase();
}

/** Buffers for ranges between inputs and outputs, reused for one block after another. */
const moving = new RangeQueue();
const fees = new RangeQueue();

class SatPass {
  readonly #block: SatBlock;
  readonly #rows: BlockRows;
  readonly #state: SatState;
  #pairs: Float64Array;
  #used = 0;
  readonly #firstRange: Uint32Array;
  readonly #rangeCount: Uint32Array;
  readonly #spentHere: Uint8Array;
  readonly #spent: number[] = [];
  readonly #rare = new Map<number, RarePlace>();

  constructor(block: SatBlock, rows: BlockRows, state: SatState) {
    const outputs = block.flow.value.length;
    this.#block = block;
    this.#rows = rows;
    this.#state = state;
    this.#pairs = new Float64Array(outputs * 4 + 2);
    this.#firstRange = new Uint32Array(outputs);
    this.#rangeCount = new Uint32Array(outputs);
    this.#spentHere = new Uint8Array(outputs);
    moving.clear();
    fees.clear();
  }

  transaction(tx: number): void {
    const { txFirstInput, txInputValue, txOutputValue } = this.#block.columns;
    for (let input = txFirstInput[tx]!; input < txFirstInput[tx + 1]!; input++) this.#take(input);
    this.#fillOutputs(tx);
    const fee = txInputValue[tx]! - txOutputValue[tx]!;
    // the source gives the fee, so a difference means that an output is missing
    if (!Number.isNaN(fee) && moving.size !== fee) this.#refuse();
    moving.drainInto(fees);
  }

  #take(input: number): void {
    const row = this.#block.flow.source[input]!;
    if (row >= 0) {
      if (this.#spentHere[row] === 1) this.#refuse();
      this.#spentHere[row] = 1;
      moving.pushAll(this.#pairs, this.#firstRange[row]!, this.#rangeCount[row]!);
      return;
    }
    const earlier = this.#rows.spent[input]!;
    // outputs without value are not stored; if a missing output has a value, the sums differ
    if (!this.#state.spend(earlier)) return;
    this.#spent.push(earlier);
    const { outputs } = this.#state;
    moving.pushAll(outputs.pairs, outputs.firstOf(earlier), outputs.countOf(earlier));
  }

  #fillOutputs(tx: number): void {
    const { value, txFirstOutput } = this.#block.flow;
    const first = txFirstOutput[tx]!;
    for (let row = first; row < txFirstOutput[tx + 1]!; row++) this.#fill(row, value[row]!, tx, row - first);
  }

  #fill(row: number, value: number, tx: number, vout: number): void {
    this.#firstRange[row] = this.#used / 2;
    for (let open = value; open > 0; ) {
      if (moving.isEmpty) this.#refuse();
      const { pairs, head } = moving;
      const start = pairs[head]!;
      let end = pairs[head + 1]!;
      if (end - start > open) {
        end = start + open;
        pairs[head] = end;
      } else {
        moving.head += 2;
      }
      this.#give(start, end);
      if (isFirstOfBlock(trustedSat(start)))
        this.#rare.set(start, { sat: trustedSat(start), tx, vout, offset: value - open });
      open -= end - start;
    }
    this.#rangeCount[row] = this.#used / 2 - this.#firstRange[row]!;
  }

  #give(start: number, end: number): void {
    if (this.#used + 2 > this.#pairs.length) this.#pairs = withRoom(this.#pairs, this.#used + 2);
    this.#pairs[this.#used++] = start;
    this.#pairs[this.#used++] = end;
  }

  coinbase(): SatChanges {
    const { height } = this.#block;
    const subsidy = subsidyAt(height);
    const first = firstSatAt(height);
    if (subsidy > 0) moving.push(first, first + subsidy);
    fees.drainInto(moving);
    this.#fillOutputs(0);
    const state = this.#state;
    const before = { lostSats: state.lostSats, replacedSats: state.replacedSats };
    const firstLost = this.#used / 2;
    this.#lose();
    this.#replaceTwins();
    this.#keepOutputs();
    return {
      height,
      pairs: this.#pairs,
      firstRange: this.#firstRange,
      rangeCount: this.#rangeCount,
      spentHere: this.#spentHere,
      spent: this.#spent,
      rare: [...this.#rare.values()],
      firstLost,
      lostCount: this.#used / 2 - firstLost,
      before,
      after: { lostSats: state.lostSats, replacedSats: state.replacedSats },
    };
  }

  #lose(): void {
    const state = this.#state;
    for (; !moving.isEmpty; moving.head += 2) {
      const start = moving.pairs[moving.head]!;
      const end = moving.pairs[moving.head + 1]!;
      this.#give(start, end);
      if (isFirstOfBlock(trustedSat(start)))
        this.#rare.set(start, { sat: trustedSat(start), tx: null, vout: 0, offset: state.lostSats });
      state.lostSats += end - start;
    }
  }

  /**
   * Removes the outputs of an earlier coinbase with the same txid. The new outputs replace them, so their sats are
   * gone.
   */
  #replaceTwins(): void {
    const { outputs } = this.#state;
    for (const row of this.#rows.replaced) {
      if (!this.#state.spend(row)) continue;
      this.#spent.push(row);
      const first = outputs.firstOf(row) * 2;
      for (let at = first; at < first + outputs.countOf(row) * 2; at += 2)
        this.#state.replacedSats += outputs.pairs[at + 1]! - outputs.pairs[at]!;
    }
  }

  #keepOutputs(): void {
    const { made } = this.#rows;
    const { outputs } = this.#state;
    const { height } = this.#block;
    const pairs = this.#pairs;
    for (let row = 0; row < made.length; row++)
      if (made[row]! >= 0)
        outputs.give(made[row]!, height, {
          pairs,
          first: this.#firstRange[row]!,
          count: this.#rangeCount[row]!,
        });
  }

  /** Throws because the block spends a missing output, or more sats than it has. */
  #refuse(): never {
    const { height, isUnchecked } = this.#block;
    assert(isUnchecked, `the sats that block ${height} spends are there`);
    throw new AppError('block_corrupt', `Block ${height} spends sats that it does not have.`, { height });
  }
}

/** The number of the sat at an offset of some ranges. Null: the offset is beyond their end. */
export function satAt(pairs: Float64Array, first: number, count: number, offset: number): Sat | null {
  let left = offset;
  for (let at = first * 2; at < (first + count) * 2; at += 2) {
    const size = pairs[at + 1]! - pairs[at]!;
    if (left < size) return trustedSat(pairs[at]! + left);
    left -= size;
  }
  return null;
}
