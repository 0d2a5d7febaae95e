import { hash } from 'node:crypto';
import { Block } from 'bitcoinjs-lib';

/**
 * Start of an envelope in a script. The functions below are references for the parser. They do not know ord's rules.
 * They show the cost of a plain library, and the cost of only reading the block, with or without the hashes that an
 * indexer needs.
 */
const envelopeStart = Buffer.from([0x00, 0x63, 0x03, 0x6f, 0x72, 0x64]);

/**
 * Decodes every transaction to an object with bitcoinjs-lib, and then checks each witness item. Returns the number of
 * items with an envelope.
 */
export function bitcoinjsScan(block: Uint8Array): number {
  const parsed = Block.fromBuffer(Buffer.from(block.buffer as ArrayBuffer, block.byteOffset, block.length));
  let found = 0;
  for (const transaction of parsed.transactions ?? []) {
    for (const input of transaction.ins) {
      for (const item of input.witness) {
        if (Buffer.from(item.buffer as ArrayBuffer, item.byteOffset, item.length).includes(envelopeStart))
          found++;
      }
    }
  }
  return found;
}

/** Reads a block by offset. No size in a block exceeds 2^32. */
class Cursor {
  at: number;
  readonly #block: Uint8Array;

  constructor(block: Uint8Array, at: number) {
    this.#block = block;
    this.at = at;
  }

  compactSize(): number {
    const block = this.#block;
    const first = block[this.at++]!;
    if (first < 0xfd) return first;
    const at = this.at;
    this.at = at + (first === 0xfd ? 2 : 4);
    const low = block[at]! | (block[at + 1]! << 8);
    if (first === 0xfd) return low;
    return (low | (block[at + 2]! << 16) | (block[at + 3]! << 24)) >>> 0;
  }

  /** Skips the bytes whose count comes first, and then `more` bytes. */
  pass(more: number): void {
    const length = this.compactSize();
    this.at += length + more;
  }
}

/** The offset after the next `OP_0 OP_IF "ord"` of a script, or −1 if there is none. */
function findEnvelope(block: Uint8Array, from: number, end: number): number {
  for (let i = from + 1; i < end - 4; i++) {
    if (
      block[i] === 0x63 &&
      block[i - 1] === 0x00 &&
      block[i + 1] === 0x03 &&
      block[i + 2] === 0x6f &&
      block[i + 3] === 0x72 &&
      block[i + 4] === 0x64
    ) {
      return i + 5;
    }
  }
  return -1;
}

const scratch = Buffer.alloc(4_000_000);
let hashed = 0; // keeps the compiler from removing the hashes

/** Joins the pushes of the body and hashes them. Returns the end of the envelope. */
function hashBody(block: Uint8Array, from: number, end: number): number {
  let at = from;
  let length = 0;
  let items = 0;
  let inBody = false;
  while (at < end) {
    let push = block[at++]!;
    if (push > 0x4e) break; // OP_ENDIF, or an opcode that no usual envelope has
    if (push === 0x4c) push = block[at++]!;
    else if (push === 0x4d) {
      push = block[at]! | (block[at + 1]! << 8);
      at += 2;
    } else if (push === 0x4e) break;
    if (inBody) {
      scratch.set(block.subarray(at, at + push), length);
      length += push;
    } else if (push === 0 && items % 2 === 0) inBody = true;
    items++;
    at += push;
  }
  if (inBody) hashed = (hashed + hash('sha256', scratch.subarray(0, length), 'buffer')[0]!) | 0;
  return at;
}

/** Computes sha256d of version, inputs, outputs and locktime. */
function hashTxid(block: Uint8Array, start: number, outputsEnd: number, end: number): void {
  const length = outputsEnd - start - 2;
  scratch.set(block.subarray(start, start + 4), 0);
  scratch.set(block.subarray(start + 6, outputsEnd), 4);
  scratch.set(block.subarray(end - 4, end), length);
  const txid = hash('sha256', hash('sha256', scratch.subarray(0, length + 4), 'buffer'), 'buffer');
  hashed = (hashed + txid[0]!) | 0;
}

/** Skips the witness of one input. Returns the number of envelopes in its leaf script. */
function walkWitness(block: Uint8Array, cursor: Cursor, withHashes: boolean): number {
  // the last three items; without an annex, the leaf script is the last but one
  let third = 0;
  let thirdEnd = 0;
  let second = 0;
  let secondEnd = 0;
  let last = 0;
  let lastEnd = 0;
  const items = cursor.compactSize();
  for (let item = items; item > 0; item--) {
    const length = cursor.compactSize();
    third = second;
    thirdEnd = secondEnd;
    second = last;
    secondEnd = lastEnd;
    last = cursor.at;
    lastEnd = cursor.at += length;
  }
  const annex = lastEnd > last && block[last] === 0x50;
  if (items < (annex ? 3 : 2)) return 0;
  const end = annex ? thirdEnd : secondEnd;
  let found = 0;
  let envelope = findEnvelope(block, annex ? third : second, end);
  while (envelope >= 0) {
    found++;
    envelope = findEnvelope(block, withHashes ? hashBody(block, envelope, end) : envelope, end);
  }
  return found;
}

/**
 * Reads all transactions, and searches every leaf script for the start of an envelope. `withHashes` adds the hashing
 * that every index of inscriptions needs: the txid of each reveal, and each body. Returns the number of envelopes.
 */
export function walk(block: Uint8Array, withHashes: boolean): number {
  const cursor = new Cursor(block, 80);
  let found = 0;
  for (let transactions = cursor.compactSize(); transactions > 0; transactions--) {
    const start = cursor.at;
    const before = found;
    cursor.at += 4;
    const segwit = block[cursor.at] === 0;
    if (segwit) cursor.at += 2;
    const inputs = cursor.compactSize();
    for (let input = inputs; input > 0; input--) {
      cursor.at += 36;
      cursor.pass(4);
    }
    for (let outputs = cursor.compactSize(); outputs > 0; outputs--) {
      cursor.at += 8;
      cursor.pass(0);
    }
    const outputsEnd = cursor.at;
    if (segwit) {
      for (let input = inputs; input > 0; input--) found += walkWitness(block, cursor, withHashes);
    }
    cursor.at += 4;
    if (withHashes && found > before) hashTxid(block, start, outputsEnd, cursor.at);
  }
  return found;
}

/** The combined hashes. Printing them proves that they were computed. */
export function hashedByte(): number {
  return hashed;
}
