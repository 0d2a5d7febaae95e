import { expect, test } from 'vitest';
import { lazyValidators, validatorOptions } from '#http/server/requests/lazy-validators.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

type Validate = ReturnType<ReturnType<typeof lazyValidators>>;

const parts = ['params', 'querystring', 'headers', 'body'] as const;

test('every schema of a request compiles', async () => {
  const app = createRoutesApp();
  const schemas: unknown[] = [];
  app.addHook('onRoute', ({ schema = {} }) => {
    for (const part of parts) if (schema[part] !== undefined) schemas.push(schema[part]);
  });
  await app.ready();
  expect(schemas.length).toBeGreaterThan(100);
  const compiler = lazyValidators({}, validatorOptions) as (route: object) => Validate;
  for (const schema of schemas) expect(() => compiler({ schema })({})).not.toThrow();
  await app.close();
});

test('a schema is compiled by the first request, and reports faults', () => {
  const compiler = lazyValidators({}, validatorOptions) as (route: object) => Validate;
  const broken = compiler({ schema: { type: 'no such type' } });
  expect(() => broken({})).toThrow(/type/u);
  const check = compiler({ schema: { type: 'object', required: ['height'] } });
  expect(check({})).toBe(false);
  expect(check.errors?.map(({ keyword }) => keyword)).toEqual(['required']);
  expect(check({ height: 1 })).toBe(true);
  expect(check.errors).toBeNull();
});

test('an application starts with a schema that does not compile, and its first request fails', async () => {
  const app = createRoutesApp();
  app.get('/broken', { schema: { querystring: { type: 'no such type' } } }, async () => 'never');
  await app.ready();
  expect((await app.inject('/broken')).statusCode).toBe(500);
  await app.close();
});
