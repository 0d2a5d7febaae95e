import fastify from 'fastify';
import { expect, test } from 'vitest';
import { compressAnswers } from '#http/server/answers/compression.ts';
import { answerOfPieces } from '#http/server/budgets/answer-pieces.ts';
import { keepBudgets } from '#http/server/budgets/budgets.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { createMetrics } from '#kernel/reports/metrics.ts';

test('pieces of an answer to HEAD are neither made nor compressed', async () => {
  const app = fastify() as unknown as App;
  keepBudgets(app, { metrics: createMetrics(() => undefined), trustedProxies: [] });
  compressAnswers(app);
  let made = 0;
  function* pieces(): Generator<string> {
    for (; made < 500; made++) yield 'x'.repeat(10_000);
  }
  app.register(async (routes) => {
    routes.get('/', async (_request, reply) =>
      reply.type('text/plain').send(answerOfPieces({ pieces: pieces(), bytes: 5_000_000 }, 'a client')),
    );
    routes.get('/text', async (_request, reply) => reply.type('text/plain').send('x'.repeat(100_000)));
  });
  await app.ready();
  const headers = { 'accept-encoding': 'br' };
  const head = await app.inject({ method: 'HEAD', url: '/', headers });
  expect([head.statusCode, head.payload]).toEqual([200, '']);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(made).toBeLessThanOrEqual(1);
  expect(
    (await app.inject({ method: 'HEAD', url: '/text', headers })).headers['content-encoding'],
  ).toBeUndefined();
  expect((await app.inject({ url: '/text', headers })).headers['content-encoding']).toBe('br');
  expect((await app.inject('/')).payload).toHaveLength(5_000_000);
  await app.close();
});
