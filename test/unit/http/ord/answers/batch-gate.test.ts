import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BatchGate } from '#http/ord/answers/batch.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { testAsker } from '#test/support/http/asker.ts';

const never = new Promise<void>(() => undefined);
const run = async (gate: BatchGate, asker: Asker, count: number): Promise<string> =>
  gate.run(asker, count, async () => 'done');

test('a client may have two long lists at once and any number of short ones, without delaying others', async () => {
  const gate = new BatchGate();
  const greedy = testAsker('192.0.2.1');
  void gate.run(greedy, 1001, () => never);
  expect(await run(gate, greedy, 1001)).toBe('done');
  await expect((async () => run(gate, greedy, 1001))()).rejects.toMatchObject({
    code: 'too_many_at_once',
  });
  expect(await run(gate, greedy, 1000)).toBe('done');
  expect(await run(gate, testAsker('192.0.2.2'), 5000)).toBe('done');
  greedy.end();
  expect(await run(gate, greedy, 1001)).toBe('done');
});

test('long lists run two at once; short ones do not wait', async () => {
  const gate = new BatchGate();
  for (const name of ['192.0.2.1', '192.0.2.2']) void gate.run(testAsker(name), 2000, () => never);
  const third = run(gate, testAsker('192.0.2.3'), 2000);
  expect(await Promise.race([third, wait(20, 'waits')])).toBe('waits');
  expect(await run(gate, testAsker('192.0.2.3'), 10)).toBe('done');
});
