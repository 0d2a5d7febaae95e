import { expect, test } from 'vitest';
import type { StageRow } from '#kernel/stages/stage-sums.ts';
import { stageTable } from '#kernel/stages/stage-table.ts';

const row = (stage: string, rest: Partial<StageRow>): StageRow => ({
  stage,
  count: 1,
  ms: 0,
  cpuMs: null,
  waitMs: 0,
  bytes: 0,
  rows: 0,
  waitedFor: {},
  ...rest,
});

test('shows units, the longest waits, the stages that matter, and whole processes', () => {
  const waitedFor = { 'workers, messages': 20, fetch: 1500, 'disk, locks, processors': 1 };
  const rows = [
    row('fetch', { ms: 1500, bytes: 2_000_000, waitMs: 4 }),
    row('check', { ms: 9, cpuMs: 9 }),
    row('ledger', { ms: 500, cpuMs: 250, rows: 7, waitMs: 1521, waitedFor }),
    row('commit', { ms: 19, cpuMs: 1, waitMs: 19 }),
    row('Postgres, other', { cpuMs: 20 }),
  ];
  const table = stageTable({ ms: 2000, rows, processes: { satscribe: 1234, postgres: 600 } });
  expect(table.split('\n')).toEqual([
    'stage             processor (s)  waiting (s)  all (s)  times   MB  rows  waited for (s)',
    'fetch                                            1.50      1  2.0',
    'ledger                     0.25         1.52     0.50      1          7  fetch 1.50, workers, messages 0.02',
    'Postgres, other            0.02',
    'all of Satscribe           1.23',
    'all of Postgres            0.60',
    '2.00 s in all; 2 stages below 1 % of it are only in the trace',
  ]);
});

test('omits unknown values, and those that were not left out', () => {
  const table = stageTable({ ms: 2000, rows: [], processes: { satscribe: 10, postgres: null } });
  expect(table.split('\n').slice(1)).toEqual(['all of Satscribe           0.01', '2.00 s in all']);
});
