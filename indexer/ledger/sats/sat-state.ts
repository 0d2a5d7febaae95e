import { viewOf } from '../view-of.ts';
import type { SatBlock } from './sat-block.ts';
import { outpointWords, outputFates, readWords, SatOutputs } from './sat-outputs.ts';

const hashLength = 32;
const hashWords = outpointWords - 1;

/** Sats that no output has, of all blocks up to one. */
export interface SatTotals {
  readonly lostSats: number;
  readonly replacedSats: number;
}

/** Where a block's outputs are in the table of its batch. -1 is no row. */
export interface BlockRows {
  /** Per input: the row of what it spends of an earlier block. */
  readonly spent: Int32Array;
  /** Per output of the coinbase: the row of an earlier output with the same outpoint, whose place it takes (BIP 30). */
  readonly replaced: Int32Array;
  /** Per output, where it has a value and the block itself does not spend it. */
  readonly made: Int32Array;
}

/**
 * The outputs that the blocks of a batch spend and make. Each block is entered once, in order, which looks up all of
 * its outpoints; then the rows that are still asked for are told their ranges, and the blocks are applied.
 */
export class SatState {
  /** Of all blocks so far: what coinbases left to nobody. */
  lostSats: number;
  /** And what was in outputs whose place a later coinbase took. */
  replacedSats: number;
  readonly outputs: SatOutputs;
  /** Of the first block of the batch. */
  readonly firstHeight: number;
  readonly #words = new Int32Array(outpointWords);

  /** @param rows that it has room for from the beginning */
  constructor({ lostSats, replacedSats }: SatTotals, firstHeight: number, rows?: number) {
    this.lostSats = lostSats;
    this.replacedSats = replacedSats;
    this.firstHeight = firstHeight;
    this.outputs = new SatOutputs(rows);
  }

  /**
   * @param bytes of the block
   * @param earlier what is known of earlier batches, the newest first
   */
  enter(block: SatBlock, bytes: Uint8Array, earlier: readonly SatOutputs[]): BlockRows {
    const spent = this.#enterInputs(block, viewOf(bytes), earlier);
    const replaced = this.#enterTwins(block, earlier);
    return { spent, replaced, made: this.#enterOutputs(block) };
  }

  #enterInputs({ flow, columns }: SatBlock, bytes: DataView, earlier: readonly SatOutputs[]): Int32Array {
    const { source, outpointAt } = flow;
    const { txFirstInput, inputFingerprintLow } = columns;
    const rows = new Int32Array(source.length).fill(-1);
    for (let input = txFirstInput[1]!; input < source.length; input++) {
      if (source[input]! >= 0) continue;
      readWords(bytes, outpointAt[input]!, this.#words, outpointWords);
      rows[input] = this.#known(inputFingerprintLow[input]! | 0, earlier);
    }
    return rows;
  }

  #enterTwins({ flow }: SatBlock, earlier: readonly SatOutputs[]): Int32Array {
    const { fingerprint, txFirstOutput, txid } = flow;
    readWords(viewOf(txid), 0, this.#words, hashWords);
    const rows = new Int32Array(txFirstOutput[1]!);
    for (let vout = 0; vout < rows.length; vout++) {
      this.#words[hashWords] = vout;
      rows[vout] = this.#known(fingerprint[vout]!, earlier);
    }
    return rows;
  }

  /** The row of an outpoint: the batch has it already, an earlier one tells it, or it is asked for. */
  #known(fingerprint: number, earlier: readonly SatOutputs[]): number {
    const { outputs } = this;
    const words = this.#words;
    const known = outputs.find(fingerprint, words);
    if (known >= 0) return known;
    const row = outputs.add(fingerprint, words, -1);
    for (const table of earlier) {
      let found = table.find(fingerprint, words);
      // of a block that was refused after it was entered: an older row may be known
      while (found >= 0 && table.fateOf(found) === outputFates.asked) found = table.older(found);
      if (found < 0) continue;
      if (table.fateOf(found) === outputFates.unspent) outputs.giveAs(row, table, found);
      else outputs.setFate(row, outputFates.gone);
      break;
    }
    return row;
  }

  #enterOutputs({ height, flow }: SatBlock): Int32Array {
    const { value, fingerprint, txFirstOutput, txid } = flow;
    const rows = new Int32Array(value.length);
    for (const row of flow.source) if (row >= 0) rows[row] = -1;
    const view = viewOf(txid);
    for (let tx = 0; tx + 1 < txFirstOutput.length; tx++) {
      readWords(view, tx * hashLength, this.#words, hashWords);
      const first = txFirstOutput[tx]!;
      for (let row = first; row < txFirstOutput[tx + 1]!; row++) {
        if (rows[row] === -1) continue;
        this.#words[hashWords] = row - first;
        rows[row] = value[row] === 0 ? -1 : this.outputs.add(fingerprint[row]!, this.#words, height);
      }
    }
    return rows;
  }

  /** Rows of earlier blocks that nobody has told yet. */
  asked(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.outputs.size; row++) if (this.#isAsked(row)) rows.push(row);
    return rows;
  }

  /** The one of them that has an outpoint; -1: none has. */
  askedOf(fingerprint: number, words: Int32Array): number {
    let row = this.outputs.find(fingerprint, words);
    // a coinbase that takes the place of another one has made a newer row
    while (row >= 0 && !this.#isAsked(row)) row = this.outputs.older(row);
    return row;
  }

  #isAsked(row: number): boolean {
    return this.outputs.fateOf(row) === outputFates.asked && this.outputs.heightOf(row) < 0;
  }

  /** Whether it was told an output of a block below a height. */
  knowsBelow(below: number): boolean {
    const { outputs } = this;
    for (let row = 0; row < outputs.size; row++)
      if (outputs.fateOf(row) === outputFates.unspent && outputs.heightOf(row) < below) return true;
    return false;
  }

  /** Takes an output that is unspent; false: there is none. */
  spend(row: number): boolean {
    const { outputs } = this;
    if (row < 0 || outputs.fateOf(row) !== outputFates.unspent) return false;
    outputs.setFate(row, outputFates.spent);
    return true;
  }

  /** Rows of its own blocks that none of them has spent, in the order of their blocks. */
  left(): number[] {
    const { outputs, firstHeight } = this;
    const rows: number[] = [];
    for (let row = 0; row < outputs.size; row++)
      if (outputs.fateOf(row) === outputFates.unspent && outputs.heightOf(row) >= firstHeight) rows.push(row);
    return rows;
  }

  /** Whether the batch has spent an output of an earlier one, that `row` of another table has. */
  hasSpent(other: SatOutputs, row: number): boolean {
    const { outputs } = this;
    const height = other.heightOf(row);
    let own = outputs.findAs(other, row);
    // a twin has the same outpoint, and another height
    while (own >= 0 && outputs.heightOf(own) !== height) own = outputs.older(own);
    return own >= 0 && outputs.fateOf(own) === outputFates.spent;
  }
}
