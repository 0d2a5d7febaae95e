import type { BufferPool } from '#kernel/contracts/block-source.ts';

const smallest = 64 * 1024;

/**
 * Maximum of idle memory: six usual blocks, of 2 MiB, with their spent outputs and columns; further buffers are left
 * to the garbage collector.
 */
const idleBytesMax = 48 * 1024 * 1024;

/** Sizes are powers of two from 64 KiB on, so that a buffer fits almost every later block. */
function sizeClass(sizeBytes: number): number {
  let size = smallest;
  while (size < sizeBytes) size *= 2;
  return size;
}

/**
 * Reusable buffers: a block is read into one, a worker parses it there, and it is used again. A new allocation of
 * 2 MB per block would be zeroed each time. They are shared because V8 counts each other buffer as its isolate's
 * memory, again with each transfer, and marks the whole heap whenever that count has grown by 64 MB: that was every
 * ten megabytes of blocks.
 */
export function createBufferPool(): BufferPool {
  const idle = new Map<number, SharedArrayBuffer[]>();
  const own = new WeakSet<SharedArrayBuffer>();
  let idleBytes = 0;
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
      const size = buffer.byteLength;
      if (!(buffer instanceof SharedArrayBuffer) || !own.has(buffer) || idleBytes + size > idleBytesMax)
        return;
      idleBytes += size;
      const list = idle.get(size);
      if (list === undefined) idle.set(size, [buffer]);
      else list.push(buffer);
    },
  };
}
