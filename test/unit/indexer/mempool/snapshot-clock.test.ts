import { expect, test } from 'vitest';
import { SnapshotClock } from '#indexer/mempool/stream/snapshot-clock.ts';

const joined = { isJoined: true, missing: 0 };

test('a snapshot that is hurried is due at once, and the next one after the usual time', () => {
  const clock = new SnapshotClock(true);
  clock.taken(0, 100);
  expect(clock.isDue(joined, 1000)).toBe(false);
  clock.hurry();
  expect(clock.isDue(joined, 1000)).toBe(true);
  clock.taken(1000, 1100);
  expect(clock.isDue(joined, 3000)).toBe(false);
  expect(clock.isDue(joined, 3100)).toBe(true);
});
