import { compactSizeWidth, longCompactSize } from './compact-size.ts';

/** A place in the block where what is read cannot be so; `verifyBlock` answers with it. */
export class WalkError extends Error {
  readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt';
  readonly at: number;

  constructor(code: WalkError['code'], at: number, message: string) {
    super(message);
    this.code = code;
    this.at = at;
  }
}

const outpointLength = 36;
const sequenceLength = 4;
const valueLength = 8;
const versionLength = 4;
const locktimeLength = 4;

/** Steps over the transactions of a block by offset. The fields say where the parts of the last one are. */
export class TransactionWalk {
  at: number;
  /** First byte of the transaction. */
  start = 0;
  /** Inputs begin here, at their count: behind marker and flag where there are any. */
  inputsAt = 0;
  outputsAt = 0;
  /** The byte behind the last output. */
  outputsEnd = 0;
  hasWitness = false;
  private readonly block: Uint8Array;
  private readonly end: number;

  constructor(block: Uint8Array, at: number) {
    this.block = block;
    this.end = block.length;
    this.at = at;
  }

  /** Reads a compact size that stands at `at`. Throws a WalkError. */
  compactSize(): number {
    if (this.at >= this.end) this.truncated();
    const prefix = this.block[this.at++] as number;
    if (prefix < 0xfd) return prefix;
    const size = longCompactSize(this.block, this.at, this.end, prefix);
    if (size < 0) throw new WalkError('block_corrupt', this.at, 'a compact size is not in its shortest form');
    this.at += compactSizeWidth(prefix);
    return size;
  }

  /** Passes over a counted run of bytes and gives its length. Throws a WalkError. */
  sized(): number {
    const length = this.compactSize();
    this.pass(length);
    return length;
  }

  /** Passes over the transaction that begins at `at`. Throws a WalkError. */
  next(): void {
    this.start = this.at;
    this.pass(versionLength);
    this.hasWitness = this.block[this.at] === 0 && this.block[this.at + 1] !== 0;
    if (this.hasWitness) {
      if (this.block[this.at + 1] !== 1)
        throw new WalkError('block_corrupt', this.at, 'a transaction has a flag that nobody knows');
      this.at += 2;
    }
    this.inputsAt = this.at;
    const inputs = this.compactSize();
    for (let input = 0; input < inputs; input++) {
      this.pass(outpointLength);
      this.sized();
      this.pass(sequenceLength);
    }
    this.outputsAt = this.at;
    const outputs = this.compactSize();
    for (let output = 0; output < outputs; output++) {
      this.pass(valueLength);
      this.sized();
    }
    this.outputsEnd = this.at;
    if (this.hasWitness) this.witnesses(inputs);
    this.pass(locktimeLength);
  }

  private witnesses(inputs: number): void {
    let empty = true;
    for (let input = 0; input < inputs; input++) {
      const items = this.compactSize();
      if (items > 0) empty = false;
      for (let item = 0; item < items; item++) this.sized();
    }
    // Bitcoin Core primitives/transaction.h: "Superfluous witness record"
    if (empty) throw new WalkError('block_corrupt', this.at, 'a transaction has a marker but no witness');
  }

  private pass(length: number): void {
    this.at += length;
    if (this.at > this.end) this.truncated();
  }

  private truncated(): never {
    throw new WalkError(
      'block_truncated',
      this.end,
      'the block ends before its last transaction is complete',
    );
  }
}
