import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { hashKey } from '#indexer/mempool/stream/membership.ts';
import { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';

function nodeWith(answer: unknown): NodeMempool {
  const call = <Result>(): Promise<Result> => Promise.resolve(answer as Result);
  return new NodeMempool({ url: 'http://node', call }, new AbortController().signal);
}

test('a snapshot of a full mempool lets other tasks run', async () => {
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
  ['an invalid txid', { txids: ['ff'], mempool_sequence: 7 }],
  ['nothing', null],
])('a snapshot with %s is refused', async (_, answer) => {
  await expect(nodeWith(answer).snapshot()).rejects.toMatchObject({ code: 'node_answer_invalid' });
});

describe('spent outputs of inputs', () => {
  const outpoint = Buffer.concat([Buffer.alloc(32, 7), Buffer.of(1, 0, 0, 0)]);
  const output = { value: 0.0001, scriptPubKey: { hex: '51' } };
  const coin = { value: 10_000, script: Buffer.of(0x51) };

  /** A node that returns the next response for each call of a method. `null` means an unknown transaction or output. */
  function nodeOf(answers: Readonly<Record<string, unknown[]>>): NodeMempool {
    const call = <Result>(method: string): Promise<Result> => {
      const answer = answers[method]?.shift();
      if (answer === 'unknown') {
        return Promise.reject(new AppError('node_call_failed', 'No such transaction', { rpcCode: -5 }));
      }
      return Promise.resolve(answer as Result);
    };
    return new NodeMempool({ url: 'http://node', call }, new AbortController().signal);
  }

  test('come from blocks, else from the mempool, else from a block that came in between', async () => {
    const inBlock = { ...output, confirmations: 3 };
    expect(await nodeOf({ gettxout: [inBlock] }).spentOutputs([outpoint])).toEqual([
      { ...coin, confirmations: 3 },
    ]);
    const pending = { vout: [{}, output] };
    expect(await nodeOf({ gettxout: [null], getrawtransaction: [pending] }).spentOutputs([outpoint])).toEqual(
      [{ ...coin, confirmations: 0 }],
    );
    const between = { gettxout: [null, { ...output, confirmations: 1 }], getrawtransaction: ['unknown'] };
    expect(await nodeOf(between).spentOutputs([outpoint])).toEqual([{ ...coin, confirmations: 1 }]);
    const never = { gettxout: [null, null], getrawtransaction: ['unknown'] };
    expect(await nodeOf(never).spentOutputs([outpoint])).toEqual([null]);
  });

  test.each([
    ['without a value', { ...output, value: undefined, confirmations: 1 }],
    ['without a script', { ...output, scriptPubKey: {}, confirmations: 1 }],
    ['without confirmations', output],
  ])('are refused %s', async (_, answer) => {
    await expect(nodeOf({ gettxout: [answer] }).spentOutputs([outpoint])).rejects.toMatchObject({
      code: 'node_answer_invalid',
    });
  });
});
