import { expect, test } from 'vitest';
import { isStatement, partOf, workerMessages } from '#kernel/stages/stage-list.ts';
import { boundOf } from '#src/app/indexing/stages.ts';

test('a stage has a part, by its name or the beginning of it', () => {
  expect(
    ['ledger, held outputs', 'COPY blocks', 'index locations_outpoint', 'outbox, texts', 'outbox'].map(
      partOf,
    ),
  ).toEqual(['main thread', 'writer connection', 'other connections', 'main thread', 'writer connection']);
  expect([partOf('COPY'), partOf(workerMessages), partOf('disk, locks, processors')]).toEqual([
    null,
    null,
    null,
  ]);
});

test('a batch is not a statement, and neither is work of this process', () => {
  expect(['write', 'encode', 'sealing', 'fetch', 'Postgres, other'].filter(isStatement)).toEqual([]);
  expect(
    ['commit', 'COPY blocks', 'analyze', 'sealing, statements'].filter((stage) => !isStatement(stage)),
  ).toEqual([]);
});

test('groups stages by the parts that an operator can change', () => {
  const stages = [
    'fetch',
    'check',
    workerMessages,
    'outbox, texts',
    'searches',
    'write',
    'questions',
    'COPY blocks',
  ];
  expect(stages.map(boundOf)).toEqual([
    'fetch',
    'parse',
    'parse',
    'ledger',
    'searches',
    'database',
    'database',
    'database',
  ]);
});
