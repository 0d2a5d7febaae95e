import { expect, test } from 'vitest';
import { criticalPart } from '#bench/follow/stage-rows.ts';
import type { StageRow } from '#kernel/stages/stage-sums.ts';

const row = (stage: string, cpuMs: number | null): StageRow => ({
  stage,
  cpuMs,
  count: 1,
  ms: 0,
  waitMs: 0,
  bytes: 0,
  rows: 0,
  waitedFor: {},
});

test('the part that bounds a sync may be the main thread, with what it does outside of stages', () => {
  const rows = [
    row('parse', 9000),
    row('ledger', 1500),
    row('encode', 1000),
    row('write', null),
    row('COPY locations', 3000),
    row('index inscriptions_id', 9000),
    row('other threads (V8, libuv)', 9000),
  ];
  expect(criticalPart(rows)).toEqual({ name: 'writer connection', seconds: 3 });
  expect(criticalPart([...rows, row('main thread, other', 2000)])).toEqual({
    name: 'main thread',
    seconds: 4.5,
  });
});
