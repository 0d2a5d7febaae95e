import type { BufferPool } from '#kernel/contracts/block-source.ts';

const smallest = 64 * 1024;

/**
 * What may lie idle: six usual blocks, of 2 MiB, with their spent outputs and columns; beyond it a buffer is left to the
 * garbage collector.
 */
const idleBytesMax = 48 * 1024 * 1024;

/** Sizes step by powers of two from 64 KiB on, so that a buffer fits almost every later block. */
function sizeClass(sizeBytes: number): number {
  let size = smallest;
  while (size < sizeBytes) size *= 2;
  return size;
}

/**
 * Buffers that go round: a file is read into one, it is transferred to a worker and back, and taken again. Allocating
 * 2 MB a block instead would zero them each time and leave the old ones to a collector that does not see them.
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
      // a detached buffer has no bytes; one of another size was not taken here
      if (size === 0 || sizeClass(size) !== size || idleBytes + size > idleBytesMax) return;
      idleBytes += size;
      const list = idle.get(size);
      if (list === undefined) idle.set(size, [buffer]);
      else list.push(buffer);
    },
  };
}
