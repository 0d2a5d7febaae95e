import type { BufferPool } from '#kernel/contracts/block-source.ts';

/**
 * Minimum size of a buffer in bytes. The columns of a block without inscriptions fit in it. A batch of a thousand such
 * blocks then takes some megabytes.
 */
const smallest = 4 * 1024;

/**
 * Maximum number of bytes of idle buffers: the buffers of a batch (`heldBytesMax`), and those of the blocks that are
 * read ahead.
 */
export const idleBytesMax = 64 * 1024 * 1024;

/**
 * Size of the buffer for a block. Sizes are powers of two, so that a buffer is large enough for almost every later
 * block.
 */
function sizeClass(sizeBytes: number): number {
  let size = smallest;
  while (size < sizeBytes) size *= 2;
  return size;
}

/**
 * Reusable buffers. A block is read into a buffer, a worker parses the block there, and then the buffer is used again.
 * A new allocation of 2 MB per block would be zeroed each time. The buffers are shared buffers. V8 counts any other
 * buffer as memory of its isolate, again with each transfer, and marks the whole heap whenever that count has grown by
 * 64 MB, which happened every ten megabytes of blocks. V8 does not count shared buffers, so buffers that are not reused
 * would accumulate.
 */
export function createBufferPool(): BufferPool {
  // idle buffers by size; the size that was released least recently comes first
  const idle = new Map<number, SharedArrayBuffer[]>();
  const own = new WeakSet<SharedArrayBuffer>();
  let idleBytes = 0;
  /**
   * Drops buffers of the oldest size. Blocks grow with the chain, so buffers of an old size make room for sizes in use.
   */
  const dropOldest = (): void => {
    for (const [size, list] of idle) {
      while (idleBytes > idleBytesMax && list.pop() !== undefined) idleBytes -= size;
      if (idleBytes <= idleBytesMax) return;
    }
  };
  return {
    take(sizeBytes) {
      const size = sizeClass(sizeBytes);
      const found = idle.get(size)?.pop();
      if (found === undefined) {
        const made = new SharedArrayBuffer(size);
        own.add(made);
        return made;
      }
      idleBytes -= size;
      return found;
    },
    give(buffer) {
      if (!(buffer instanceof SharedArrayBuffer) || !own.has(buffer)) return;
      const size = buffer.byteLength;
      const list = idle.get(size) ?? [];
      list.push(buffer);
      idle.delete(size);
      idle.set(size, list);
      idleBytes += size;
      dropOldest();
    },
  };
}
