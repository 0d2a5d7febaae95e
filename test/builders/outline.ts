/** Positions of the parts of a transaction in a block, so that tests can change the parts in place. */
export interface TransactionOutline {
  readonly start: number;
  readonly end: number;
  readonly segwit: boolean;
  /** Offset of each input's outpoint (36 bytes). */
  readonly outpoints: readonly number[];
  /** Offset and length of each output's script. */
  readonly scripts: readonly (readonly [at: number, length: number])[];
  /** End of the outputs. Together with `start` and `end`, it is enough for the stripped form. */
  readonly outputsEnd: number;
}

class Cursor {
  at: number;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
  }

  compactSize(): number {
    const first = this.#bytes.readUInt8(this.at++);
    if (first < 0xfd) return first;
    const size = first === 0xfd ? 2 : first === 0xfe ? 4 : 8;
    this.at += size;
    return size === 8
      ? Number(this.#bytes.readBigUInt64LE(this.at - 8))
      : this.#bytes.readUIntLE(this.at - size, size);
  }

  peek(): number {
    return this.#bytes.readUInt8(this.at);
  }

  /** Skips bytes that have a length before them. Returns their position and length. */
  sized(): readonly [at: number, length: number] {
    const length = this.compactSize();
    this.at += length;
    return [this.at - length, length];
  }
}

/** The outlines of all transactions of a block. The block must be well-formed. */
export function outlineBlock(block: Uint8Array): TransactionOutline[] {
  const cursor = new Cursor(block, 80);
  return Array.from({ length: cursor.compactSize() }, () => {
    const start = cursor.at;
    cursor.at += 4;
    const segwit = cursor.peek() === 0;
    if (segwit) cursor.at += 2;
    const outpoints = Array.from({ length: cursor.compactSize() }, () => {
      const at = cursor.at;
      cursor.at += 36;
      cursor.sized();
      cursor.at += 4;
      return at;
    });
    const scripts = Array.from({ length: cursor.compactSize() }, () => {
      cursor.at += 8;
      return cursor.sized();
    });
    const outputsEnd = cursor.at;
    if (segwit)
      for (const _ of outpoints) for (let items = cursor.compactSize(); items > 0; items--) cursor.sized();
    cursor.at += 4;
    return { start, end: cursor.at, segwit, outpoints, scripts, outputsEnd };
  });
}

/** The bytes that a txid hashes: version, inputs, outputs, locktime. */
export function strippedTransaction(
  block: Uint8Array,
  { start, end, segwit, outputsEnd }: TransactionOutline,
): Uint8Array {
  if (!segwit) return block.subarray(start, end);
  return Buffer.concat([
    block.subarray(start, start + 4),
    block.subarray(start + 6, outputsEnd),
    block.subarray(end - 4, end),
  ]);
}
