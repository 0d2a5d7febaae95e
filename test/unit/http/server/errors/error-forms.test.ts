import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open, searches } from '#http/server/access/guard.ts';
import { type ErrorFormName, errorForms } from '#http/server/errors/error-forms.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

const names = Object.keys(errorForms) as ErrorFormName[];
let app: App;

/** Adds a path for a form of errors. The path fails as its query says. */
function failingRoute(scope: App, errors: ErrorFormName): void {
  apiRoute(scope, {
    method: 'GET',
    url: `/test/${errors}`,
    schema: {
      operationId: `test${errors}`,
      summary: 'A path of a test',
      tags: ['test'],
      querystring: Type.Object({
        code: Type.Optional(Type.String()),
        size: Type.Optional(Type.Integer({ minimum: 1 })),
        fee: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    config: { errors, guard: searches('test') },
    handler: async ({ query: { code } }) => {
      if (code === 'unexpected') throw new Error('secret');
      if (code !== undefined) throw new AppError(code as ErrorCode, 'as it was asked');
      return { ok: true };
    },
  });
  apiRoute(scope, {
    method: 'POST',
    url: `/test/${errors}`,
    schema: {
      operationId: `test${errors}Post`,
      summary: 'A path of a test',
      tags: ['test'],
      body: Type.Object({ names: Type.Array(Type.String()) }),
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    config: { errors, guard: open },
    handler: async () => ({ ok: true }),
  });
}

beforeAll(async () => {
  app = createRoutesApp();
  app.register(async (scope) => {
    for (const name of names) failingRoute(scope as App, name);
  });
  await app.ready();
  // long, because many routes are made while other tests use the processor
}, 120_000);

afterAll(async () => {
  await app.close();
});

async function ask(form: ErrorFormName, query: string): Promise<{ status: number; body: unknown }> {
  const answer = await app.inject(`/test/${form}?${query}`);
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  return { status: answer.statusCode, body: isJson ? answer.json() : answer.body };
}

const error = { status: 'error', error: 'as it was asked' };
const parameters = { errors: [{ msg: 'as it was asked', param: '', location: 'query' }] };
const list = { error: [{ msg: 'as it was asked' }] };
const reason = { status: 'error', reason: 'internal error' };
const coded = { ...error, docs: expect.stringMatching(/^\/docs\/#\/test\/testown/u) as string };
const psbt = (status: number, message = 'as it was asked'): object => ({
  success: false,
  status,
  message,
  stack: {},
});

type Expected = readonly [status: number, body: unknown];

describe.each<[ErrorFormName, Record<'fault' | 'unknown' | 'failure', Expected>]>([
  ['search', { fault: [200, error], unknown: [200, error], failure: [500, reason] }],
  ['plain', { fault: [400, error], unknown: [404, error], failure: [500, reason] }],
  [
    'text',
    {
      fault: [400, 'as it was asked\n'],
      unknown: [404, 'as it was asked\n'],
      failure: [500, 'internal error\n'],
    },
  ],
  [
    'own',
    {
      fault: [400, { ...coded, code: 'request_invalid' }],
      unknown: [404, { ...coded, code: 'not_found' }],
      failure: [500, { ...reason, code: 'internal_error' }],
    },
  ],
  ['orderRead', { fault: [200, error], unknown: [200, error], failure: [500, reason] }],
  ['orderWrite', { fault: [400, list], unknown: [404, list], failure: [500, reason] }],
  [
    'textOrder',
    {
      fault: [400, list],
      unknown: [404, list],
      failure: [500, { status: 'error', error: 'internal error' }],
    },
  ],
  ['serviceRead', { fault: [400, error], unknown: [404, error], failure: [500, reason] }],
  [
    'psbt',
    { fault: [400, psbt(400)], unknown: [404, psbt(404)], failure: [500, psbt(500, 'internal error')] },
  ],
  [
    'tokenpay',
    { fault: [400, list], unknown: [404, list], failure: [500, { error: [{ msg: 'internal error' }] }] },
  ],
  [
    'marketplace',
    {
      fault: [400, parameters],
      unknown: [404, { ...parameters, code: 'not_found' }],
      failure: [500, { ...reason, code: 'internal_error' }],
    },
  ],
  [
    'market',
    {
      fault: [400, { ...parameters, code: 'request_invalid' }],
      unknown: [404, { ...parameters, code: 'not_found' }],
      failure: [500, { ...reason, code: 'internal_error' }],
    },
  ],
])('the form %s', (form, { fault, unknown, failure }) => {
  test.each([
    ['what a client did wrong', 'request_invalid', fault],
    ['what is not known', 'not_found', unknown],
    ['what failed here', 'unexpected', failure],
  ] as const)('says %s', async (_name, code, [status, body]) => {
    expect(await ask(form, `code=${code}`)).toEqual({ status, body });
  });

  test.each([
    ['key_missing', 401],
    ['key_scope', 403],
    ['rate_limited', 429],
    ['search_busy', 503],
  ] as const)('answers %s with its status, also in forms with errors in the body', async (code, status) => {
    const answer = await ask(form, `code=${code}`);
    expect(answer.status).toBe(status);
    const word = status === 503 ? 'reason' : 'error';
    if (form === 'text') expect(answer.body).toBe('as it was asked\n');
    else expect(answer.body).toMatchObject({ status: 'error', [word]: 'as it was asked' });
  });

  test('never has an id in an error, which clients would read as a creation', async () => {
    for (const code of ['request_invalid', 'not_found', 'unexpected', 'rate_limited', 'search_busy']) {
      const { body } = await ask(form, `code=${code}`);
      if (typeof body === 'object') expect(Object.keys(body as object)).not.toContain('id');
    }
  });
});

test('lists have all faults of a query', async () => {
  const faults = ['size must be >= 1', 'fee must be >= 1'];
  expect((await ask('orderWrite', 'size=0&fee=0')).body).toEqual({ error: faults.map((msg) => ({ msg })) });
  expect((await ask('marketplace', 'size=0&fee=0')).body).toEqual({
    errors: [
      { msg: faults[0], param: 'size', location: 'query' },
      { msg: faults[1], param: 'fee', location: 'query' },
    ],
  });
  expect((await ask('psbt', 'size=0&fee=0')).body).toMatchObject({ message: 'size must be >= 1' });
});

test('lists have wrong numbers as well as numbers out of bounds', async () => {
  const faults = ['fee is not a whole number', 'size must be >= 1'];
  expect((await ask('orderWrite', 'size=0&fee=x')).body).toEqual({ error: faults.map((msg) => ({ msg })) });
  expect((await ask('orderWrite', 'size=x&fee=0x1')).body).toEqual({
    error: ['size', 'fee'].map((name) => ({ msg: `${name} is not a whole number` })),
  });
  expect((await ask('plain', 'size=0&fee=x')).body).toMatchObject({ error: 'fee is not a whole number' });
});

test('lists have all faults of a body, at most 50', async () => {
  const post = async (count: number): Promise<string[]> => {
    const payload = { names: Array.from({ length: count }, (_, place) => place) };
    const answer = await app.inject({ method: 'POST', url: '/test/orderWrite', payload });
    expect(answer.statusCode).toBe(400);
    return answer.json<{ error: { msg: string }[] }>().error.map(({ msg }) => msg);
  };
  expect(await post(2)).toEqual(['names[0] must be a text', 'names[1] must be a text']);
  expect(await post(200)).toHaveLength(50);
});

test('too small a balance has its own message', async () => {
  expect(await ask('tokenpay', 'code=token_balance_missing')).toEqual({
    status: 400,
    body: { success: false, message: 'as it was asked' },
  });
});

test('our own paths refuse unknown fields, other paths ignore them', async () => {
  for (const name of names) {
    const { status } = await ask(name, 'codes=1');
    expect([name, status]).toEqual([name, name === 'own' || name === 'market' ? 400 : 200]);
  }
});
