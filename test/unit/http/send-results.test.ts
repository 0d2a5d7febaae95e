import fastify from 'fastify';
import { expect, test } from 'vitest';
import { sendResults } from '#http/search/send-results.ts';

test.each([0, 1, 100, 101, 1000])('the JSON of %i results is that of the whole answer', async (count) => {
  const results = Array.from({ length: count }, (_, place) => ({ place, text: 'ü"\n💎'.repeat(500) }));
  const answer = { status: 'ok', count, absent: undefined, none: null, results, last: [1, 2] };
  const app = fastify();
  app.get('/', async (_request, reply) => sendResults(reply, answer));
  const { body, headers } = await app.inject('/');
  expect(body === JSON.stringify(answer)).toBe(true);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  await app.close();
});

test('a result with long texts is made in parts that are its JSON, whatever its characters', async () => {
  const long = 'a💎\ud800"\u0007ü'.repeat(200_000);
  const answer = {
    status: 'ok',
    results: [{ id: 'x', absent: undefined, text: long, none: null, more: `z${long}` }],
  };
  const app = fastify();
  app.get('/', async (_request, reply) => sendResults(reply, answer));
  const { body, headers } = await app.inject('/');
  expect(body === JSON.stringify(answer)).toBe(true);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  await app.close();
});
