import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { html } from '#web/html.ts';
import { layout } from '#web/layout.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: { readonly default?: unknown; readonly examples?: readonly unknown[] };
}
interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly object[];
  readonly tags?: readonly string[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface Response {
  readonly content?: Readonly<Record<string, { readonly schema?: Shape }>>;
}
interface Document {
  readonly info: { version: string };
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let app: App;
/** Every route that was added, by method and path. */
const routes = new Map<string, { readonly errors: unknown; readonly isHidden: boolean }>();

beforeAll(async () => {
  app = createRoutesApp();
  app.addHook('onRoute', ({ method, url, config, schema }) => {
    for (const name of [method].flat())
      routes.set(`${name} ${url}`, { errors: config?.errors, isHidden: schema?.hide === true });
  });
  await app.ready();
  // long, because many routes are made while other tests use the processor
}, 120_000);

afterAll(async () => {
  await app.close();
});

const served = async (): Promise<Document> => (await app.inject('/openapi.json')).json<Document>();

test('the document equals the stored one', async () => {
  const document = await served();
  const written = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
  expect({ ...document, info: { ...document.info, version: written.info.version } }).toEqual(written);
});

test('every route has an error form, except files of packages', () => {
  const silent = [...routes].filter(([, { errors }]) => errors === undefined).map(([name]) => name);
  expect(silent.filter((name) => !/ \/(?:assets|docs)(?:\/|$)|^OPTIONS \*$/u.test(name))).toEqual([]);
});

test('every operation has a unique name, a tag and answers', async () => {
  const operations = Object.values((await served()).paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { tags = [], responses, operationId } of operations) {
    expect([operationId, tags.length]).toEqual([operationId, 1]);
    expect(Object.keys(responses)).toContain('500');
  }
});

test('describes every parameter, and gives no examples of optional ones', async () => {
  const operations = Object.values((await served()).paths).flatMap((path) => Object.values(path));
  for (const { operationId, parameters = [] } of operations) {
    for (const parameter of parameters) {
      const { name, in: place, required, description, example, schema } = parameter;
      const where = `${operationId} ${name}`;
      expect([where, description !== undefined]).toEqual([where, true]);
      if (place === 'query' || schema.default !== undefined)
        expect([where, required]).toEqual([where, false]);
      // the reference page fills fields with examples, so with examples it would send every filter at once
      if (!required) expect([where, example]).toEqual([where, undefined]);
      expect(JSON.stringify([example, schema.examples])).not.toContain('…');
    }
  }
});

/** The keys of a response, in any of its shapes. */
function keysOf({ content = {} }: Response): string[] {
  const keysOfShape = ({ anyOf = [], properties = {} }: Shape): string[] => [
    ...Object.keys(properties),
    ...anyOf.flatMap(keysOfShape),
  ];
  return Object.values(content).flatMap(({ schema = {} }) => keysOfShape(schema));
}

test('every schema of items is one schema: lists of schemas belong to an older JSON Schema', async () => {
  const lists: string[] = [];
  JSON.stringify(await served(), function look(this: object, name: string, value: unknown): unknown {
    if (name === 'items' && Array.isArray(value)) lists.push(JSON.stringify(this));
    return value;
  });
  expect(lists).toEqual([]);
});

test('accepted forms are schemas in the document, also for fields of items', async () => {
  expect(JSON.stringify(await served())).not.toContain('acceptedForm');
});

test('no answer has the key data, which clients read as an envelope, and no error has an id', async () => {
  const { paths, components } = await served();
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const own = operations.flatMap(({ responses }) => Object.values(responses) as Response[]);
  const errors = Object.values(components.responses);
  expect(new Set(own.flatMap(keysOf)).has('results')).toBe(true);
  expect([...own, ...errors].flatMap(keysOf)).not.toContain('data');
  expect(new Set(errors.flatMap(keysOf)).has('error')).toBe(true);
  expect(errors.flatMap(keysOf)).not.toContain('id');
});

test('says that a key is accepted in either header', async () => {
  const { paths } = await served();
  expect(paths['/search']?.['get']?.security).toEqual([{ key: [] }, { bearer: [] }, {}]);
  expect(paths['/status']?.['get']?.security).toEqual([]);
  // pages need no key
  expect(Object.keys(paths['/search/{query}']?.['get']?.responses ?? {})).not.toContain('401');
});

test('does not describe the shape of inscribed bytes, which may be JSON or YAML', async () => {
  const operations = Object.values((await served()).paths).flatMap((path) => Object.values(path));
  const shapes = operations.flatMap(({ responses }) => {
    const answer = responses['200'] as
      | { readonly content?: Readonly<Record<string, { schema: object }>> }
      | undefined;
    return answer?.content?.['*/*']?.schema ?? [];
  });
  expect(shapes.length).toBeGreaterThan(2);
  expect(new Set(shapes.map((shape) => JSON.stringify(shape)))).toEqual(new Set(['{}']));
});

test('exists as YAML, and as pages that only run their own scripts', async () => {
  const yaml = await app.inject('/openapi.yaml');
  expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8');
  expect(yaml.body).toMatch(/^openapi: 3\.1\.0\n/u);
  for (const url of ['/docs', '/docs/', '/docs/static/swagger-ui-bundle.js']) {
    const page = await app.inject(url);
    expect([url, page.statusCode]).toEqual([url, 200]);
    const policies = String(page.headers['content-security-policy']);
    expect(policies).toContain("default-src 'none'");
    expect(policies).toContain('script-src *:*/docs/static/');
    expect(policies).toContain("frame-ancestors 'none'");
  }
  expect((await app.inject('/docs/')).body).not.toMatch(/https?:\/\//u);
});

test.each(['/openapi.json', '/openapi.yaml'])(
  '%s has a tag, and is not sent to clients that have it',
  async (url) => {
    const first = await app.inject(url);
    const tag = String(first.headers['etag']);
    expect(tag).toMatch(/^W\/"/u);
    const again = await app.inject({ url, headers: { 'if-none-match': tag } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  },
);

test('is linked from every page', () => {
  expect(layout({ title: 'x', description: 'x', site: null, main: html`x` }).text).toContain(
    '<a href="/docs/">',
  );
});
