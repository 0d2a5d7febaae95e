import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hashKey } from '#indexer/mempool/stream/membership.ts';
import { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';

function nodeWith(answer: unknown): NodeMempool {
  const call = <Result>(): Promise<Result> => Promise.resolve(answer as Result);
  return new NodeMempool({ url: 'http://node', call }, new AbortController().signal);
}

test('a snapshot of a full mempool lets others have their turn', async () => {
  const txids = Array.from({ length: 100_000 }, (_, index) => index.toString(16).padStart(64, '0'));
  const reading = nodeWith({ txids, mempool_sequence: 7 }).snapshot();
  let turns = 0;
  let isRead = false;
  void reading.finally(() => {
    isRead = true;
  });
  while (!isRead) {
    await nextTurn();
    turns++;
  }
  const snapshot = await reading;
  expect(snapshot.sequence).toBe(7n);
  expect(snapshot.txids.size).toBe(100_000);
  expect(snapshot.txids.has(hashKey(parseTxid(txids.at(-1) as string) as Uint8Array))).toBe(true);
  expect(turns).toBeGreaterThan(10);
});

test.each([
  ['no txids', { mempool_sequence: 7 }],
  ['no number', { txids: [] }],
  ['a txid that is none', { txids: ['ff'], mempool_sequence: 7 }],
  ['nothing', null],
])('a snapshot with %s is refused', async (_, answer) => {
  await expect(nodeWith(answer).snapshot()).rejects.toMatchObject({ code: 'node_answer_invalid' });
});
