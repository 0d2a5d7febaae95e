import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerOfPieces } from '#http/server/budgets/answer-pieces.ts';
import { jsonPieces, madeInTurns, piecesOf } from '#http/server/budgets/json-in-turns.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

describe('the JSON of an answer in pieces', () => {
  test('is that of the whole answer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2_500), (value, count) => {
        const answer = {
          value,
          absent: undefined,
          list: Array.from({ length: count }, () => value),
          empty: {},
        };
        expect([...jsonPieces(answer)].join('')).toBe(JSON.stringify(answer));
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test('has a piece for each part of a long list, wherever it is', () => {
    const ranges = Array.from({ length: 50_000 }, (_, start) => ({ start, size: 1 }));
    expect([...jsonPieces({ result: { ranges } })]).toHaveLength(50);
  });

  test('is made with a turn of the event loop between two pieces', async () => {
    let made = 0;
    let turns = 0;
    const count = (): void => {
      turns++;
      // one piece in a turn, and one before the first
      expect(made).toBeLessThanOrEqual(turns + 1);
      if (made < 20) setImmediate(count);
    };
    setImmediate(count);
    const pieces = function* pieces(): Generator<string> {
      for (; made < 20; made++) yield 'ab';
    };
    expect(await madeInTurns(pieces(), { client: 'somebody', signal: new AbortController().signal })).toEqual(
      { pieces: Array(20).fill('ab'), bytes: 40 },
    );
  });

  test('is not made any further for a client that is gone', async () => {
    const controller = new AbortController();
    let made = 0;
    const pieces = function* pieces(): Generator<string> {
      for (; made < 20; made++) {
        if (made === 3) controller.abort(new Error('gone'));
        yield 'ab';
      }
    };
    const asker = { client: 'somebody', signal: controller.signal };
    await expect(madeInTurns(pieces(), asker)).rejects.toThrow('gone');
    expect(made).toBe(3);
  });

  test('has a piece for each turn of long parts', () => {
    const parts = ['a', 'b'.repeat(300_000), 'c', null, 'd'];
    expect([...piecesOf(parts)].map(({ length }) => length)).toEqual([300_001, 1, 1]);
  });
});

test('an empty piece of an answer is a turn without text', async () => {
  const pieces = ['', 'a', '', '', 'b', ''];
  const answer = answerOfPieces({ pieces, bytes: 2 }, 'somebody');
  const chunks: string[] = [];
  for await (const chunk of answer) chunks.push(String(chunk));
  expect(chunks.join('|')).toBe('a|b');
});
