import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { SlowReaders } from '#http/server/budgets/slow-readers.ts';

const pace = { patienceMs: 10_000, rate: 1_000 };

/** A connection that is observed once per second, with the bytes written to it and the bytes that wait. */
class Reader {
  bytesWritten = 0;
  writableLength = 0;

  write(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }

  take(bytes: number): void {
    this.writableLength -= Math.min(bytes, this.writableLength);
  }
}

/** The second in which the connection is found too slow; `null` if it is not found in this time. */
function cutAt(reader: Reader, seconds: number, each: (second: number) => void): number | null {
  const readers = new SlowReaders();
  for (let second = 0; second <= seconds; second++) {
    each(second);
    if (readers.find([reader as unknown as Socket], pace, second * 1000).length > 0) return second;
  }
  return null;
}

describe('a connection', () => {
  test('that takes no bytes is too slow once patience has ended', () => {
    const reader = new Reader();
    expect(cutAt(reader, 60, (second) => second === 1 && reader.write(50_000))).toBe(10);
  });

  test('is too slow when its average is, but not while it only pauses', () => {
    const steady = new Reader();
    expect(
      cutAt(steady, 300, (second) => {
        if (second === 0) steady.write(1_000_000);
        // reads 1,500 bytes per second, but the operating system passes them on only every 40 seconds
        if (second % 40 === 1) steady.take(60_000);
      }),
    ).toBeNull();
    const slow = new Reader();
    expect(
      cutAt(slow, 300, (second) => {
        if (second === 1) slow.write(1_000_000);
        if (second > 1) slow.take(900);
      }),
    ).toBe(10);
  });

  test('without waiting bytes is never slow, and each wait is counted separately', () => {
    const reader = new Reader();
    expect(
      cutAt(reader, 300, (second) => {
        if (second % 20 === 0) reader.write(500);
        if (second % 20 === 8) reader.take(500);
      }),
    ).toBeNull();
  });
});
