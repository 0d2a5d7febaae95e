/**
 * Texts one after another in blocks of bytes, each after two bytes with its length: half a million strings would take
 * 60 MB of heap.
 */
export class TextList {
  readonly #blocks: readonly Uint8Array[];
  readonly count: number;

  /**
   * Takes full blocks.
   *
   * @param blocks of whole texts: no text continues in the next block
   */
  constructor(blocks: readonly Uint8Array[], count: number) {
    this.#blocks = blocks;
    this.count = count;
  }

  /** Bytes that it holds in memory. */
  get bytes(): number {
    return this.#blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The texts in parts of `size`, the last one smaller. */
  *parts(size: number): Generator<string[]> {
    let part: string[] = [];
    for (const block of this.#blocks) {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      for (let place = 0; place < bytes.length; ) {
        const start = place + lengthBytes;
        place = start + bytes.readUInt16BE(place);
        part.push(bytes.toString('utf8', start, place));
        if (part.length < size) continue;
        yield part;
        part = [];
      }
    }
    if (part.length > 0) yield part;
  }
}

/** Bytes before each text, which have its length. */
export const lengthBytes = 2;
