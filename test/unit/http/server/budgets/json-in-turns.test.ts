import fc from 'fast-check';
import fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { answerOfPieces } from '#http/server/budgets/answer-pieces.ts';
import { jsonParts, madeInTurns, piecesOf, sendJsonInTurns } from '#http/server/budgets/json-in-turns.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

describe('the JSON of an answer in pieces', () => {
  test('equals that of the whole answer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2_500), (value, count) => {
        const answer = {
          value,
          absent: undefined,
          list: Array.from({ length: count }, () => value),
          empty: {},
        };
        expect([...piecesOf(jsonParts(answer))].join('')).toBe(JSON.stringify(answer));
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test('has a piece for each part of a long list, at any depth', () => {
    const ranges = Array.from({ length: 50_000 }, (_, start) => ({ start, size: 1 }));
    expect([...piecesOf(jsonParts({ result: { ranges } }))]).toHaveLength(50);
  });

  test('takes a turn of the event loop between two pieces', async () => {
    let made = 0;
    let turns = 0;
    const count = (): void => {
      turns++;
      // one piece in each turn, and one before the first turn
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

  test('is not continued for a disconnected client', async () => {
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

test.each([0, 1, 100, 101, 1000])('the JSON of %i results equals that of the whole answer', async (count) => {
  const results = Array.from({ length: count }, (_, place) => ({ place, text: 'ü"\n💎'.repeat(500) }));
  const answer = { status: 'ok', count, absent: undefined, none: null, results, last: [1, 2] };
  const app = fastify();
  app.get('/', async (_request, reply) => sendJsonInTurns(reply, answer));
  const { body, headers } = await app.inject('/');
  expect(body === JSON.stringify(answer)).toBe(true);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  await app.close();
});

test('a result with long texts is made in parts that are its JSON, with any characters', async () => {
  const long = 'a💎\ud800"\u0007ü'.repeat(200_000);
  const answer = {
    status: 'ok',
    results: [{ id: 'x', absent: undefined, text: long, none: null, more: `z${long}` }, long, undefined],
    at: new Date(0),
    long,
  };
  const app = fastify();
  app.get('/', async (_request, reply) => sendJsonInTurns(reply, answer));
  const { body, headers } = await app.inject('/');
  expect(body === JSON.stringify(answer)).toBe(true);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  await app.close();
});

test.each([
  ['long texts', { text: 'a'.repeat(300_000), last: 1 }],
  ['many texts', { list: Array.from({ length: 60 }, () => 'b'.repeat(10_000)) }],
  ['many numbers', { list: Array.from({ length: 50_000 }, (_, number) => ({ number })) }],
])('an answer of %s is written in pieces', async (_, answer) => {
  const app = fastify();
  const kinds: string[] = [];
  app.addHook('onSend', (_request, _reply, payload, done) => {
    kinds.push(typeof payload);
    done(null, payload);
  });
  app.get('/', async (_request, reply) => sendJsonInTurns(reply, answer));
  const { body } = await app.inject('/');
  expect(body).toBe(JSON.stringify(answer));
  expect(kinds).toEqual(['object']);
});
