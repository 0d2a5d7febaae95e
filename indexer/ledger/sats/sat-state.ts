import { viewOf } from '../view-of.ts';
import type { SatBlock } from './sat-block.ts';
import { outpointWords, outputFates, readWords, SatOutputs } from './sat-outputs.ts';

const hashLength = 32;
const hashWords = outpointWords - 1;

/** Sats outside of all outputs, up to a block. */
export interface SatTotals {
  readonly lostSats: number;
  readonly replacedSats: number;
}

/** Rows of a block's outputs in the table of its batch. -1: no row. */
export interface BlockRows {
  /** Row of the earlier output that each input spends. */
  readonly spent: Int32Array;
  /** Row of the earlier output that each coinbase output replaces, because both have the same outpoint (BIP 30). */
  readonly replaced: Int32Array;
  /** Row of each output that has a value and that the block itself does not spend. */
  readonly made: Int32Array;
}

/**
 * The outputs that the blocks of a batch spend and make. Each block is entered once, in order: this finds the rows of
 * all its outpoints. Then the rows in state `asked` get their ranges, and the blocks are applied.
 */
export class SatState {
  /** Number of sats that the coinbases of all blocks so far gave to no output. */
  lostSats: number;
  /** Number of sats in outputs that a later coinbase replaced. */
  replacedSats: number;
  readonly outputs: SatOutputs;
  /** Height of the first block of the batch. */
  readonly firstHeight: number;
  readonly #words = new Int32Array(outpointWords);

  /** @param rows initial room in rows */
  constructor({ lostSats, replacedSats }: SatTotals, firstHeight: number, rows?: number) {
    this.lostSats = lostSats;
    this.replacedSats = replacedSats;
    this.firstHeight = firstHeight;
    this.outputs = new SatOutputs(rows);
  }

  /**
   * @param bytes bytes of the block
   * @param earlier tables of earlier batches, the newest first
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

  /**
   * The row of an outpoint. It is already in the batch, or copied from an earlier batch, or new and in state `asked`.
   */
  #known(fingerprint: number, earlier: readonly SatOutputs[]): number {
    const { outputs } = this;
    const words = this.#words;
    const known = outputs.find(fingerprint, words);
    if (known >= 0) return known;
    const row = outputs.add(fingerprint, words, -1);
    for (const table of earlier) {
      let found = table.find(fingerprint, words);
      // a refused block may have left a row in state `asked`, so an older row may have the ranges
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

  /** Rows of earlier blocks whose ranges are still unknown. */
  asked(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.outputs.size; row++) if (this.#isAsked(row)) rows.push(row);
    return rows;
  }

  /** The row in state `asked` of an outpoint. -1: there is no such row. */
  askedOf(fingerprint: number, words: Int32Array): number {
    let row = this.outputs.find(fingerprint, words);
    // a coinbase that replaces another one may have made a newer row
    while (row >= 0 && !this.#isAsked(row)) row = this.outputs.older(row);
    return row;
  }

  #isAsked(row: number): boolean {
    return this.outputs.fateOf(row) === outputFates.asked && this.outputs.heightOf(row) < 0;
  }

  /** Whether it has an output of a block below the given height. */
  knowsBelow(below: number): boolean {
    const { outputs } = this;
    for (let row = 0; row < outputs.size; row++)
      if (outputs.fateOf(row) === outputFates.unspent && outputs.heightOf(row) < below) return true;
    return false;
  }

  /** Spends an unspent output. Returns false if the output is missing or already spent. */
  spend(row: number): boolean {
    const { outputs } = this;
    if (row < 0 || outputs.fateOf(row) !== outputFates.unspent) return false;
    outputs.setFate(row, outputFates.spent);
    return true;
  }

  /** Unspent rows of its own blocks, in block order. */
  left(): number[] {
    const { outputs, firstHeight } = this;
    const rows: number[] = [];
    for (let row = 0; row < outputs.size; row++)
      if (outputs.fateOf(row) === outputFates.unspent && outputs.heightOf(row) >= firstHeight) rows.push(row);
    return rows;
  }

  /** Whether the batch has spent the output of another table's row. That row belongs to an earlier batch. */
  hasSpent(other: SatOutputs, row: number): boolean {
    const { outputs } = this;
    const height = other.heightOf(row);
    let own = outputs.findAs(other, row);
    // the twin of a coinbase has the same outpoint, but another height
    while (own >= 0 && outputs.heightOf(own) !== height) own = outputs.older(own);
    return own >= 0 && outputs.fateOf(own) === outputFates.spent;
  }
}
