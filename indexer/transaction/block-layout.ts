import { withRoom } from '#kernel/growable.ts';
import { breakAt, broken, compactSizeAt, compactSizeLength, longCompactSize } from './compact-size.ts';

/**
 * The structure of transactions as the network serialises them (BIP 144, Bitcoin Core primitives/transaction.h
 * `UnserializeTransaction`). Only this file reads it; all other code uses the offsets that are found here.
 *
 *     version            4 bytes
 *     marker, flag       00 01, only with witnesses
 *     inputs             count; each 36 bytes of outpoint, script, 4 bytes of sequence
 *     outputs            count; each 8 bytes of value, script
 *     witnesses          only with the flag: for each input a count, and as many items
 *     lock time          4 bytes
 */

export const headerLength = 80;
export const versionLength = 4;
export const lockTimeLength = 4;
export const outpointLength = 36;
export const sequenceLength = 4;
export const valueLength = 8;
const txidLength = 32;
/** Length of marker and flag together. */
export const markerLength = 2;
const witnessFlag = 1;
/** First byte of an annex, which is the last item of a taproot witness (BIP 341). */
export const annexPrefix = 0x50;

/**
 * Minimum number of bytes of a transaction and of each part. A count that does not fit in the bytes is refused before
 * memory is allocated.
 */
const transactionLengthMin = 10;
const inputLengthMin = outpointLength + 1 + sequenceLength;
const outputLengthMin = valueLength + 1;

/** Initial room, in rows. It is more than a usual block needs. */
const blockRows = { transactions: 1 << 13, inputs: 1 << 14 };
/** Usual number of bytes of a transaction, and of an input with its witness. */
const usualTransactionBytes = 400;
const usualInputBytes = 150;
/**
 * Initial room for a block that is read once. It depends on the block's length, and is at most the room of a usual
 * block. It grows if needed.
 */
export const roomForOnce = (blockBytes: number): { transactions: number; inputs: number } => ({
  transactions: Math.min(blockRows.transactions, Math.ceil(blockBytes / usualTransactionBytes)),
  inputs: Math.min(blockRows.inputs, Math.ceil(blockBytes / usualInputBytes)),
});
/** Initial room for a single transaction. */
export const oneTransaction = { transactions: 1, inputs: 8 };

/**
 * Positions of all parts of a block, as columns of offsets; the inputs of all transactions are consecutive. Reusable:
 * it keeps the memory of the largest block.
 */
export class BlockLayout {
  transactionCount = 0;
  inputCount = 0;
  /** The largest value of a single output. */
  maxOutputValue = 0;
  /**
   * End of the first transaction that has marker and flag but no witness item, which Bitcoin Core refuses ("Superfluous
   * witness record"). -1: there is no such transaction. ord's own test vectors have such transactions, so the block is
   * not treated as broken.
   */
  emptyWitnessAt = -1;

  /** Start of each transaction. `start` and `firstInput` have one more element, the end of the last transaction. */
  start: Uint32Array<ArrayBuffer>;
  /** Offset of the input count, which follows marker and flag if present. */
  inputsAt: Uint32Array<ArrayBuffer>;
  firstInput: Uint32Array<ArrayBuffer>;
  /** Offset of the output count. */
  outputsAt: Uint32Array<ArrayBuffer>;
  /** Offset after the last output. The witnesses begin here if present. */
  outputsEnd: Uint32Array<ArrayBuffer>;
  /** Sum of the outputs in sats. */
  outputValue: Float64Array<ArrayBuffer>;

  /**
   * Txids of the transactions, 32 bytes each. Null: not hashed yet (`keepTxids`), so callers must hash the txids that
   * they need.
   */
  txids: Uint8Array<ArrayBuffer> | null = null;
  #txidRoom = new Uint8Array(0);

  /** Keyed by input: offset of the 36 bytes of its outpoint. */
  inputAt: Uint32Array<ArrayBuffer>;
  /**
   * Keyed by input: start and end of the script that ord reads. It is the second-last item of the witness, an annex
   * excluded, for any spent output (rust-bitcoin `Witness::taproot_leaf_script`). Start 0: there is no script.
   */
  scriptAt: Uint32Array<ArrayBuffer>;
  scriptEnd: Uint32Array<ArrayBuffer>;

  /** @param rows initial capacity: for a block, unless a single transaction is read */
  constructor({ transactions, inputs } = blockRows) {
    this.start = new Uint32Array(transactions + 1);
    this.inputsAt = new Uint32Array(transactions + 1);
    this.firstInput = new Uint32Array(transactions + 1);
    this.outputsAt = new Uint32Array(transactions + 1);
    this.outputsEnd = new Uint32Array(transactions + 1);
    this.outputValue = new Float64Array(transactions + 1);
    this.inputAt = new Uint32Array(inputs);
    this.scriptAt = new Uint32Array(inputs);
    this.scriptEnd = new Uint32Array(inputs);
  }

  /** Reads a block. Returns the offset after its last transaction, or `broken`, with the reason in `breakFound`. */
  readBlock(block: Uint8Array): number {
    const count = compactSizeAt(block, headerLength, block.length);
    if (count < 0) return broken;
    return this.#read(block, headerLength + compactSizeLength(block[headerLength]!), count);
  }

  /** Reads the transaction that begins at `at`. Returns the offset after it, or `broken`. */
  readTransaction(bytes: Uint8Array, at: number): number {
    return this.#read(bytes, at, 1);
  }

  /** Copies the txids of the current block, which were hashed to check the block. */
  keepTxids(hashes: Uint8Array): void {
    const length = this.transactionCount * txidLength;
    if (length > this.#txidRoom.length) this.#txidRoom = new Uint8Array(length * 2);
    this.txids = this.#txidRoom.subarray(0, length);
    this.txids.set(hashes.subarray(0, length));
  }

  /** Whether a transaction is serialised with marker and flag. */
  hasWitness(tx: number): boolean {
    return this.inputsAt[tx]! - this.start[tx]! > versionLength;
  }

  /**
   * Reads any bytes in linear time. It is one function because each split costs time: with separate functions for
   * inputs, outputs and witnesses it read 11.6 GB/s of mainnet blocks instead of 13.5 (medians of 50 runs in turns, one
   * core).
   */
  // oxlint-disable-next-line complexity, max-lines-per-function -- the cost of a split is measured above
  #read(bytes: Uint8Array, from: number, count: number): number {
    const end = bytes.length;
    this.transactionCount = 0;
    this.inputCount = 0;
    this.txids = null;
    if (count * transactionLengthMin > end - from) return breakAt('truncated', end);
    this.#reserveTransactions(count);
    const { start, inputsAt, firstInput, outputsAt, outputsEnd, outputValue } = this;
    let { inputAt, scriptAt, scriptEnd } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let row = 0;
    let most = 0;
    let emptyWitnessAt = -1;
    let at = from;
    for (let tx = 0; tx < count; tx++) {
      if (at + transactionLengthMin > end) return breakAt('truncated', end);
      start[tx] = at;
      firstInput[tx] = row;
      at += versionLength;
      const hasWitness = bytes[at] === 0 && bytes[at + 1] !== 0;
      if (hasWitness) {
        if (bytes[at + 1] !== witnessFlag) return breakAt('unknown-flag', at + 1);
        at += markerLength;
      }
      inputsAt[tx] = at;
      let inputCount = bytes[at++]!;
      if (inputCount >= 0xfd) {
        inputCount = longCompactSize(bytes, at - 1, end);
        if (inputCount < 0) return broken;
        at += compactSizeLength(bytes[at - 1]!) - 1;
      }
      if (inputCount * inputLengthMin > end - at) return breakAt('truncated', end);
      const nextRow = row + inputCount;
      if (nextRow > inputAt.length) {
        this.#reserveInputs(nextRow);
        ({ inputAt, scriptAt, scriptEnd } = this);
      }
      for (let input = row; input < nextRow; input++) {
        if (at + inputLengthMin > end) return breakAt('truncated', end);
        inputAt[input] = at;
        at += outpointLength;
        let length = bytes[at++]!;
        if (length >= 0xfd) {
          length = longCompactSize(bytes, at - 1, end);
          if (length < 0) return broken;
          at += compactSizeLength(bytes[at - 1]!) - 1;
        }
        at += length + sequenceLength;
      }

      if (at >= end) return breakAt('truncated', end);
      outputsAt[tx] = at;
      let outputCount = bytes[at++]!;
      if (outputCount >= 0xfd) {
        outputCount = longCompactSize(bytes, at - 1, end);
        if (outputCount < 0) return broken;
        at += compactSizeLength(bytes[at - 1]!) - 1;
      }
      if (outputCount * outputLengthMin > end - at) return breakAt('truncated', end);
      let sum = 0;
      for (let output = 0; output < outputCount; output++) {
        if (at + outputLengthMin > end) return breakAt('truncated', end);
        sum += view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
        at += valueLength;
        let length = bytes[at++]!;
        if (length >= 0xfd) {
          length = longCompactSize(bytes, at - 1, end);
          if (length < 0) return broken;
          at += compactSizeLength(bytes[at - 1]!) - 1;
        }
        at += length;
      }
      if (sum > most) most = sum;
      outputValue[tx] = sum;
      outputsEnd[tx] = at;

      if (hasWitness) {
        let isEmpty = true;
        for (let input = row; input < nextRow; input++) {
          if (at >= end) return breakAt('truncated', end);
          let items = bytes[at++]!;
          if (items >= 0xfd) {
            items = longCompactSize(bytes, at - 1, end);
            if (items < 0) return broken;
            at += compactSizeLength(bytes[at - 1]!) - 1;
          }
          if (items > end - at) return breakAt('truncated', end);
          if (items > 0) isEmpty = false;
          // start and end of the last three items
          let thirdAt = 0;
          let thirdEnd = 0;
          let secondAt = 0;
          let secondEnd = 0;
          let lastAt = 0;
          let lastEnd = 0;
          for (let item = 0; item < items; item++) {
            if (at >= end) return breakAt('truncated', end);
            let length = bytes[at++]!;
            if (length >= 0xfd) {
              length = longCompactSize(bytes, at - 1, end);
              if (length < 0) return broken;
              at += compactSizeLength(bytes[at - 1]!) - 1;
            }
            thirdAt = secondAt;
            thirdEnd = secondEnd;
            secondAt = lastAt;
            secondEnd = lastEnd;
            lastAt = at;
            at += length;
            lastEnd = at;
          }
          if (at > end) return breakAt('truncated', end);
          if (items < 2) {
            scriptAt[input] = 0;
            continue;
          }
          // the last item may be an annex. With one more item this is a key path spend; with two or more, the script is
          // the third item from the end
          const hasAnnex = lastEnd > lastAt && bytes[lastAt] === annexPrefix;
          scriptAt[input] = hasAnnex ? thirdAt : secondAt;
          scriptEnd[input] = hasAnnex ? thirdEnd : secondEnd;
        }
        if (isEmpty && emptyWitnessAt < 0) emptyWitnessAt = at;
      } else {
        for (let input = row; input < nextRow; input++) scriptAt[input] = 0;
      }
      row = nextRow;
      at += lockTimeLength;
      if (at > end) return breakAt('truncated', end);
    }
    start[count] = at;
    firstInput[count] = row;
    this.transactionCount = count;
    this.inputCount = row;
    this.maxOutputValue = most;
    this.emptyWitnessAt = emptyWitnessAt;
    return at;
  }

  #reserveTransactions(rows: number): void {
    if (rows < this.start.length) return;
    this.start = withRoom(this.start, rows + 1);
    this.inputsAt = withRoom(this.inputsAt, rows + 1);
    this.firstInput = withRoom(this.firstInput, rows + 1);
    this.outputsAt = withRoom(this.outputsAt, rows + 1);
    this.outputsEnd = withRoom(this.outputsEnd, rows + 1);
    this.outputValue = withRoom(this.outputValue, rows + 1);
  }

  #reserveInputs(rows: number): void {
    this.inputAt = withRoom(this.inputAt, rows);
    this.scriptAt = withRoom(this.scriptAt, rows);
    this.scriptEnd = withRoom(this.scriptEnd, rows);
  }
}
