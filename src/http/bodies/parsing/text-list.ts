/**
 * Texts one after another in blocks of bytes, each after two bytes with its length. As strings, half a million texts
 * would take 60 MB of heap.
 */
export class TextList {
  readonly #blocks: readonly Uint8Array[];
  readonly count: number;

  /**
   * Takes full blocks.
   *
   * @param blocks contain whole texts, so no text continues in the next block
   */
  constructor(blocks: readonly Uint8Array[], count: number) {
    this.#blocks = blocks;
    this.count = count;
  }

  /** Bytes of memory that the texts take. */
  get bytes(): number {
    return this.#blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The texts in parts of `size` texts. The last part may be smaller. */
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

/** Number of bytes before each text, which contain its length. */
export const lengthBytes = 2;
