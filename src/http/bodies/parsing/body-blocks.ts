import assert from 'node:assert/strict';

/**
 * Maximum size of a block in bytes. A body of 100 MB has a hundred blocks, and each is transferred to the thread
 * without a copy.
 */
const blockBytesMax = 1024 * 1024;
/** Maximum size of the first block of a body, in bytes. Further blocks are up to twice as large as the block before. */
const blockBytesMin = 16 * 1024;

/**
 * The bytes of a body, copied once into blocks. Chunks are not kept, because a client may send a hundred million chunks
 * of one byte, and each kept chunk would take a hundred times its size.
 */
export class BodyBlocks {
  readonly #expected: number;
  readonly #takeRoom: (bytes: number) => void;
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #byteLength = 0;
  /** Free bytes at the end of the last block. */
  #free = 0;

  /**
   * Creates an empty body.
   *
   * @param expected length of the body in bytes that the client announced; 0 if unknown
   * @param takeRoom called with the size of each block before it is created; may throw
   */
  constructor(expected: number, takeRoom: (bytes: number) => void = () => undefined) {
    this.#expected = expected;
    this.#takeRoom = takeRoom;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  append(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.byteLength; ) {
      if (this.#free === 0) this.#addBlock();
      const block = this.#blocks.at(-1);
      assert(block !== undefined, 'there is a block to write to');
      const part = chunk.subarray(start, start + this.#free);
      block.set(part, block.byteLength - this.#free);
      start += part.byteLength;
      this.#free -= part.byteLength;
      this.#byteLength += part.byteLength;
    }
  }

  /** Returns the blocks. The unused end of the last block is cut off. No bytes may be appended afterwards. */
  blocks(): Uint8Array<ArrayBuffer>[] {
    const last = this.#blocks.pop();
    if (last !== undefined) this.#blocks.push(last.subarray(0, last.byteLength - this.#free));
    this.#free = 0;
    return this.#blocks;
  }

  #addBlock(): void {
    const left = this.#expected - this.#byteLength;
    const doubled = Math.max(blockBytesMin, 2 * (this.#blocks.at(-1)?.byteLength ?? 0));
    // limit the size, because a client may never send the bytes that it announced
    const bytes = Math.min(left > 0 ? left : doubled, doubled, blockBytesMax);
    this.#takeRoom(bytes);
    this.#blocks.push(new Uint8Array(bytes));
    this.#free = bytes;
  }
}

/**
 * Joins the bytes of all blocks. If there is only one block, its bytes are not copied. Several blocks are emptied, so
 * that the bytes are not in memory twice.
 */
export function joinBlocks(blocks: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = blocks;
  if (blocks.length === 1 && first !== undefined) return first;
  const joined = new Uint8Array(blocks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let place = 0;
  for (const block of blocks) {
    joined.set(block, place);
    place += block.byteLength;
    release(block);
  }
  return joined;
}

/** Frees the memory of bytes that are no longer needed, before garbage is collected. */
export const release = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0);
