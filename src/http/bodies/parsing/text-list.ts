/**
 * Texts in blocks of bytes, one after another. Two bytes with its length precede each text. As strings, half a million
 * texts would need 60 MB of heap.
 */
export class TextList {
  readonly #blocks: readonly Uint8Array[];
  readonly count: number;

  /**
   * Creates a list from full blocks.
   *
   * @param blocks contain complete texts, so no text continues in the next block
   */
  constructor(blocks: readonly Uint8Array[], count: number) {
    this.#blocks = blocks;
    this.count = count;
  }

  /** Number of bytes of memory that the texts need. */
  get bytes(): number {
    return this.#blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Returns the texts in parts of `size` texts. The last part may be smaller. */
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

/** Number of bytes before each text. They contain the text's length. */
export const lengthBytes = 2;
