import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllowedDomains } from '#accounts/allowed-domains.ts';
import { KeyDirectory } from '#accounts/key-directory.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import { SearchAccess } from '#accounts/search-access.ts';
import { UnknownKeys } from '#accounts/unknown-keys.ts';
import { UsageCounter } from '#accounts/usage-counter.ts';
import { guardRoutes } from '#http/server/access/guard-routes.ts';
import { noBody } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

const pool = new pg.Pool({ max: 1 });
/** Subjects for which the limiter was asked for a token. */
const subjects: string[] = [];
const limiter = new RateLimiter({
  lease: async (asks) =>
    asks.map(({ subject }) => {
      subjects.push(subject);
      return { subject, granted: 0, level: 0 };
    }),
});
const usage = new UsageCounter({ write: async () => undefined, onError: () => undefined });
const access = new SearchAccess({
  mode: 'open',
  domains: parseAllowedDomains('').domains,
  ownHost: null,
  buckets: {
    search: { burst: 10, perSeconds: 60 },
    build: null,
    price: null,
    create: null,
    orders: null,
    market: null,
  },
  keys: new KeyDirectory(pool),
  unknownKeys: new UnknownKeys(null),
  limiter,
  usage,
});
let app: App;

beforeAll(async () => {
  app = createRoutesApp();
  app.register(async (routes) => {
    const scope = routes as App;
    guardRoutes(scope, access);
    apiRoute(scope, {
      method: 'GET',
      url: '/test/search',
      schema: {
        operationId: 'testSearch',
        summary: 'A path of a test',
        tags: ['test'],
        response: { 204: noBody('nothing') },
      },
      config: { errors: 'plain', guard: { kind: 'page', endpoints: 'test', bucket: 'search' } },
      handler: async (_request, reply) => reply.code(204).send(),
    });
  });
  await app.ready();
}, 120_000);

afterAll(async () => {
  await app.close();
  await limiter.close();
  await usage.close();
  await pool.end();
});

test('a route is limited by the bucket that it names', async () => {
  const first = await app.inject('/test/search');
  expect([first.statusCode, first.headers['x-ratelimit-limit']]).toEqual([429, '10']);
  expect(subjects).toEqual(['search 127.0.0.1']);
});
