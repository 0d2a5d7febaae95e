/**
 * Texts one after the other in blocks of bytes, each behind two bytes that hold its length: half a million strings
 * would take 60 MB of heap.
 */
export class TextList {
  readonly #blocks: readonly Uint8Array[];
  readonly count: number;

  /** @param blocks full of texts: no block begins within one */
  constructor(blocks: readonly Uint8Array[], count: number) {
    this.#blocks = blocks;
    this.count = count;
  }

  /** What it holds in memory. */
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

/** Bytes before each text, for its length. */
export const lengthBytes = 2;
