import type { BufferPool } from '#kernel/contracts/block-source.ts';

/**
 * Smallest buffer. The columns of a block without inscriptions fit, and those of a batch of a thousand blocks are some
 * megabytes.
 */
const smallest = 4 * 1024;

/** Maximum of idle memory: the buffers of a batch (`heldBytesMax`), and the blocks that are read ahead of it. */
export const idleBytesMax = 48 * 1024 * 1024;

/** Size of the buffer for a block. Sizes are powers of two, so that a buffer fits almost every later block. */
function sizeClass(sizeBytes: number): number {
  let size = smallest;
  while (size < sizeBytes) size *= 2;
  return size;
}

/**
 * Reusable buffers: a block is read into one, a worker parses it there, and it is used again. A new allocation of 2 MB
 * per block would be zeroed each time. The buffers are shared ones. V8 counts any other buffer as memory of its
 * isolate, again with each transfer, and marks the whole heap whenever that count has grown by 64 MB: that was every
 * ten megabytes of blocks. V8 does not count shared buffers, so those that are not reused pile up.
 */
export function createBufferPool(): BufferPool {
  // by size; the size that was released least recently is first
  const idle = new Map<number, SharedArrayBuffer[]>();
  const own = new WeakSet<SharedArrayBuffer>();
  let idleBytes = 0;
  /**
   * Drops buffers of the oldest size. Blocks grow with the chain, so buffers of an outgrown size make room for those in
   * use.
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
