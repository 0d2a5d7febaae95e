import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/app-dependencies.ts';
import { createRoutesApp } from '#test/support/routes-app.ts';
import { html } from '#web/html.ts';
import { layout } from '#web/layout.ts';

interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly info: { version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let app: App;
/** Every route as it was added, by its method and path. */
const routes = new Map<string, { readonly errors: unknown; readonly isHidden: boolean }>();

beforeAll(async () => {
  app = createRoutesApp();
  app.addHook('onRoute', ({ method, url, config, schema }) => {
    for (const name of [method].flat())
      routes.set(`${name} ${url}`, { errors: config?.errors, isHidden: schema?.hide === true });
  });
  await app.ready();
  // many routes are made while other tests use the processor
}, 120_000);

afterAll(async () => {
  await app.close();
});

const served = async (): Promise<Document> => (await app.inject('/openapi.json')).json<Document>();

test('the document is the written one', async () => {
  const document = await served();
  const written = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
  expect({ ...document, info: { ...document.info, version: written.info.version } }).toEqual(written);
});

test('every route says its error form, but for files of packages', () => {
  const silent = [...routes].filter(([, { errors }]) => errors === undefined).map(([name]) => name);
  expect(silent.filter((name) => !/ \/(?:assets|docs)(?:\/|$)|^OPTIONS \*$/u.test(name))).toEqual([]);
});

test('every operation has a name of its own, a tag and answers', async () => {
  const operations = Object.values((await served()).paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { tags = [], responses, operationId } of operations) {
    expect([operationId, tags.length]).toEqual([operationId, 1]);
    expect(Object.keys(responses)).toContain('500');
  }
});

test('is there as YAML, and as pages that run nothing but their own scripts', async () => {
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

test('is linked from every page', () => {
  expect(layout({ title: 'x', site: null, main: html`x` }).text).toContain('<a href="/docs/">');
});
