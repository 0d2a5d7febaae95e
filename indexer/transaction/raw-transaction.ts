import { createHash } from 'node:crypto';
import { AppError } from '#kernel/errors/app-error.ts';

/** An input, its parts being views of the bytes that were read. Hashes are in internal order. */
export interface RawInput {
  readonly previousTxid: Uint8Array;
  readonly previousVout: number;
  readonly scriptSig: Uint8Array;
  readonly sequence: number;
  readonly witness: readonly Uint8Array[];
}

export interface RawOutput {
  /** In sats. Consensus keeps it below 21,000,000 BTC; bytes that say more are refused. */
  readonly value: number;
  readonly script: Uint8Array;
}

/** A transaction as the network serialises it, taken apart. */
export interface RawTransaction {
  /** Signed, as Bitcoin Core and rust-bitcoin read it. */
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly RawInput[];
  readonly outputs: readonly RawOutput[];
  readonly hasWitness: boolean;
  /** All of its bytes. */
  readonly bytes: Uint8Array;
  /** Bytes of inputs and outputs with their counts: what the txid covers beside version and lock time. */
  readonly body: Uint8Array;
}

const headerLength = 80;
const hashLength = 32;

/** Reads the transactions of a block, or one transaction, from the front. Throws `block_truncated` and `block_corrupt`. */
export class TransactionReader {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
  }

  /** Stands behind the header of a block, and gives the number of its transactions. */
  blockTransactions(): number {
    this.at = headerLength;
    return this.compactSize();
  }

  transaction(): RawTransaction {
    const start = this.at;
    const version = this.view.getInt32(this.pass(4), true);
    const hasWitness = this.bytes[this.at] === 0 && this.bytes[this.at + 1] === 1;
    if (hasWitness) this.pass(2);
    const bodyStart = this.at;
    const inputs = this.many(() => this.input());
    const outputs = this.many(() => this.output());
    const body = this.bytes.subarray(bodyStart, this.at);
    const whole = hasWitness
      ? inputs.map((input) => ({ ...input, witness: this.many(() => this.sized()) }))
      : inputs;
    const lockTime = this.view.getUint32(this.pass(4), true);
    const bytes = this.bytes.subarray(start, this.at);
    return { version, lockTime, inputs: whole, outputs, hasWitness, bytes, body };
  }

  compactSize(): number {
    const prefix = this.bytes[this.pass(1)] as number;
    if (prefix < 0xfd) return prefix;
    if (prefix === 0xfd) return this.view.getUint16(this.pass(2), true);
    if (prefix === 0xfe) return this.view.getUint32(this.pass(4), true);
    return Number(this.view.getBigUint64(this.pass(8), true));
  }

  /** 8 bytes of value, and a script behind its length: an output, in transactions and in spent outputs alike. */
  output(): RawOutput {
    const value = this.view.getBigUint64(this.pass(8), true);
    if (value > Number.MAX_SAFE_INTEGER)
      throw new AppError('block_corrupt', 'an output has a value that no output can have');
    return { value: Number(value), script: this.sized() };
  }

  private input(): RawInput {
    const txidAt = this.pass(hashLength);
    const previousVout = this.view.getUint32(this.pass(4), true);
    const scriptSig = this.sized();
    const sequence = this.view.getUint32(this.pass(4), true);
    const previousTxid = this.bytes.subarray(txidAt, txidAt + hashLength);
    return { previousTxid, previousVout, scriptSig, sequence, witness: [] };
  }

  private many<T>(read: () => T): T[] {
    const count = this.compactSize();
    const all: T[] = [];
    // each takes a byte at least: a count that lies runs into the end, not into memory
    for (let index = 0; index < count; index++) all.push(read());
    return all;
  }

  private sized(): Uint8Array {
    const length = this.compactSize();
    const start = this.pass(length);
    return this.bytes.subarray(start, start + length);
  }

  /** Passes over bytes and gives where they begin. */
  private pass(length: number): number {
    const start = this.at;
    if (length > this.bytes.length - start)
      throw new AppError('block_truncated', 'the bytes end before the transaction is complete');
    this.at = start + length;
    return start;
  }
}

/** The double sha256 of bytes, as txids and block hashes are made. */
export function doubleSha256(...parts: readonly Uint8Array[]): Buffer {
  const first = createHash('sha256');
  for (const part of parts) first.update(part);
  return createHash('sha256').update(first.digest()).digest();
}

/** The id of a transaction (internal order): what it is without its witnesses. */
export function txidOf({ bytes, body }: RawTransaction): Buffer {
  return doubleSha256(bytes.subarray(0, 4), body, bytes.subarray(-4));
}
