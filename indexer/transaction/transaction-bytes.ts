import { doubleSha256 } from './double-sha256.ts';

/**
 * Reads of single transactions in the bytes of a block that the parser has walked already: whatever is read here
 * is known to be well formed. Only transactions that matter are read, so nothing here is kept.
 */

/** The last compact size that was read: its value, and the offset behind it. */
const compact = { value: 0, end: 0 };

function readCompactSize(block: Uint8Array, at: number): void {
  const prefix = block[at] as number;
  if (prefix < 0xfd) {
    compact.value = prefix;
    compact.end = at + 1;
    return;
  }
  // longer ones than four bytes cannot count anything within a block
  const width = prefix === 0xfd ? 2 : 4;
  let value = 0;
  for (let index = width; index > 0; index--) value = value * 256 + (block[at + index] as number);
  compact.value = value;
  compact.end = at + 1 + width;
}

/** Whether the transaction at `start` is serialised with witnesses (BIP 144: a count of 0 inputs, then the flag). */
function hasWitness(block: Uint8Array, start: number): boolean {
  return block[start + 4] === 0;
}

/** Offsets of the outpoints that a transaction spends. Inputs are to be asked for in ascending order. */
export class InputWalk {
  private readonly block: Uint8Array;
  private at = 0;
  private index = 0;

  constructor(block: Uint8Array) {
    this.block = block;
  }

  /** Goes to the transaction at `start`, and gives the number of its inputs. */
  open(start: number): number {
    readCompactSize(this.block, start + (hasWitness(this.block, start) ? 6 : 4));
    this.at = compact.end;
    this.index = 0;
    return compact.value;
  }

  /** Offset in the block of the 36 bytes of the outpoint of input `index`. */
  outpointOf(index: number): number {
    for (; this.index < index; this.index++) {
      readCompactSize(this.block, this.at + 36);
      this.at = compact.end + compact.value + 4;
    }
    return this.at;
  }
}

/** The outputs of a transaction, one after the other. */
export class OutputWalk {
  /** Of the output that `next` went to; -1 before the first. */
  vout = -1;
  /** Sats. */
  value = 0;
  scriptStart = 0;
  scriptLength = 0;

  private readonly block: Uint8Array;
  private readonly view: DataView;
  private left = 0;
  private at = 0;

  constructor(block: Uint8Array) {
    this.block = block;
    this.view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  }

  /** Goes before the first output; `outputs` is the offset of their compact size. */
  open(outputs: number): void {
    readCompactSize(this.block, outputs);
    this.left = compact.value;
    this.at = compact.end;
    this.vout = -1;
    this.value = 0;
  }

  /** Goes to the next output; false behind the last. */
  next(): boolean {
    if (this.left === 0) return false;
    this.left--;
    this.vout++;
    this.value = this.view.getUint32(this.at, true) + this.view.getUint32(this.at + 4, true) * 2 ** 32;
    readCompactSize(this.block, this.at + 8);
    this.scriptStart = compact.end;
    this.scriptLength = compact.value;
    this.at = compact.end + compact.value;
    return true;
  }

  /** Offset behind the last output. */
  end(): number {
    while (this.next());
    return this.at;
  }
}

let scratch = new Uint8Array(4096);

/**
 * The txid (internal order) of the transaction in [start, end) whose outputs stand at `outputs`: the double
 * sha256 of everything but marker, flag and witnesses.
 */
export function transactionId(block: Uint8Array, start: number, outputs: number, end: number): Uint8Array {
  if (!hasWitness(block, start)) return doubleSha256(block.subarray(start, end));
  const walk = new OutputWalk(block);
  walk.open(outputs);
  const outputsEnd = walk.end();
  const length = 4 + (outputsEnd - start - 6) + 4;
  if (length > scratch.length) scratch = new Uint8Array(length * 2);
  scratch.set(block.subarray(start, start + 4));
  scratch.set(block.subarray(start + 6, outputsEnd), 4);
  scratch.set(block.subarray(end - 4, end), length - 4);
  return doubleSha256(scratch.subarray(0, length));
}
