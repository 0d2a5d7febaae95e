import { expect, test } from 'vitest';
import { SyncPace } from '#http/operations/sync-pace.ts';
import { asHeight } from '#kernel/primitives/height.ts';

test('a pace is known after some seconds, and is that of the last minute', () => {
  const pace = new SyncPace();
  pace.see(-1, 0);
  pace.see(asHeight(10), 2000);
  expect(pace.blocksPerSecond()).toBeNull();
  pace.see(asHeight(99), 10_000);
  expect(pace.blocksPerSecond()).toBe(10);
  // from here on the pace is ten times as fast
  pace.see(asHeight(199), 70_000);
  pace.see(asHeight(6199), 130_000);
  expect(pace.blocksPerSecond()).toBe(100);
});

test('an undone block begins a new pace', () => {
  const pace = new SyncPace();
  pace.see(asHeight(100), 0);
  pace.see(asHeight(90), 10_000);
  expect(pace.blocksPerSecond()).toBeNull();
});
