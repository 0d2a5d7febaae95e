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
 * Reusable buffers: a file is read into one, which is transferred to a worker and back, and used again. A new
 * allocation of 2 MB per block would be zeroed each time, and the garbage collector does not account for the old
 * ones.
 */
export function createBufferPool(): BufferPool {
  const idle = new Map<number, ArrayBuffer[]>();
  let idleBytes = 0;
  return {
    take(sizeBytes) {
      const size = sizeClass(sizeBytes);
      const found = idle.get(size)?.pop();
      if (found === undefined) return new ArrayBuffer(size);
      idleBytes -= size;
      return found;
    },
    give(buffer) {
      const size = buffer.byteLength;
      // a detached buffer has no bytes; one of another size is not from this pool
      if (size === 0 || sizeClass(size) !== size || idleBytes + size > idleBytesMax) return;
      idleBytes += size;
      const list = idle.get(size);
      if (list === undefined) idle.set(size, [buffer]);
      else list.push(buffer);
    },
  };
}
