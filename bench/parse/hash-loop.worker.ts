import { hash } from 'node:crypto';

/** Hashes a small buffer repeatedly. This shows how much faster two threads are than one if they share nothing. */
export default function hashLoop(count: number): number {
  const bytes = Buffer.alloc(1000);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    bytes.writeUInt32LE(i, 0);
    sum ^= hash('sha256', bytes, 'buffer')[0]!;
  }
  return sum;
}
