import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { createElasticClient, type ElasticSettings } from '#search/elastic/server/elastic-client.ts';
import { type Certificates, makeCertificates } from '#test/support/postgres/tls-front.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that misbehaves. Each request is answered by the next function, and further requests by the last one. */
async function hostile(
  answers: ((response: ServerResponse, body: string) => void)[],
  settings: Partial<ElasticSettings> = {},
): Promise<{ client: ReturnType<typeof createElasticClient>; bodies: string[]; headers: string[] }> {
  const bodies: string[] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      headers.push(request.headers.authorization ?? '');
      response.setHeader('x-elastic-product', 'Elasticsearch');
      response.setHeader('content-type', 'application/json');
      const answer = answers[Math.min(bodies.length, answers.length - 1)]!;
      bodies.push(body);
      answer(response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  const client = createElasticClient({ url: `http://127.0.0.1:${port}`, ...settings });
  closers.push(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, bodies, headers };
}

const answer =
  (status: number, body: unknown) =>
  (response: ServerResponse): void => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

test.each([
  [401, { error: { type: 'security_exception', reason: 'missing authentication' } }, 'search_engine_refused'],
  [403, { error: { type: 'security_exception', reason: 'action is unauthorized' } }, 'search_engine_refused'],
  [429, { error: { type: 'es_rejected_execution_exception', reason: 'queue' } }, 'search_engine_busy'],
  [429, { error: { type: 'circuit_breaking_exception', reason: 'Data too large' } }, 'search_engine_busy'],
  [
    429,
    { error: { type: 'cluster_block_exception', reason: 'disk usage exceeded flood-stage watermark' } },
    'search_engine_full',
  ],
  [403, { error: { type: 'cluster_block_exception', reason: 'index read-only' } }, 'search_engine_full'],
  [404, { error: { type: 'index_not_found_exception', reason: 'no such index' } }, 'search_engine_missing'],
  [
    404,
    {
      error: {
        type: 'search_phase_execution_exception',
        root_cause: [{ type: 'search_context_missing_exception', reason: 'no context' }],
      },
    },
    'search_engine_missing',
  ],
  [
    429,
    {
      error: {
        type: 'es_rejected_execution_exception',
        reason: 'rejected execution [primary_operation_bytes=96000272, max_primary_bytes=107374182]',
      },
    },
    'search_engine_rejected',
  ],
  [
    429,
    {
      error: {
        type: 'es_rejected_execution_exception',
        reason: 'rejected execution [primary_operation_bytes=16000272, max_primary_bytes=107374182]',
      },
    },
    'search_engine_busy',
  ],
  [400, { error: { type: 'parsing_exception', reason: 'unknown' } }, 'search_engine_rejected'],
  [503, { error: { type: 'no_shard_available_action_exception' } }, 'search_engine_failed'],
  [502, '<html>bad gateway</html>', 'search_engine_failed'],
  [200, '{"cut', 'search_engine_failed'],
])('status %i with %j is %s', async (status, body, code) => {
  const { client } = await hostile([answer(status, body)]);
  expect(await codeOf(client.request({ method: 'GET', path: '/x/_search' }))).toBe(code);
});

test('a server that is not there, that closes, that is silent', async () => {
  const none = createElasticClient({ url: 'http://127.0.0.1:1' });
  closers.push(() => none.close());
  expect(await codeOf(none.request({ method: 'GET', path: '/x' }))).toBe('search_engine_unreachable');
  const closing = await hostile([(response) => response.destroy()]);
  expect(await codeOf(closing.client.request({ method: 'GET', path: '/x' }))).toBe(
    'search_engine_unreachable',
  );
  const silent = await hostile([() => undefined], { timeoutMs: 100 });
  expect(await codeOf(silent.client.request({ method: 'GET', path: '/x' }))).toBe('search_engine_slow');
});

describe('a server with TLS', () => {
  let certificates: Certificates;
  let port: number;
  beforeEach(async () => {
    certificates = await makeCertificates();
    await certificates.sign('server', 'IP:127.0.0.1');
    const [cert, key] = ['pem', 'key'].map((kind) => readFileSync(certificates.path(`server.${kind}`)));
    const server = createTlsServer({ cert, key } as object, (_, response) => {
      response.setHeader('x-elastic-product', 'Elasticsearch');
      response.setHeader('content-type', 'application/json');
      response.end('{"answered":true}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    closers.push(certificates.remove, () => new Promise((resolve) => server.close(resolve)));
  });

  const ask = (settings: ElasticSettings): Promise<unknown> => {
    const client = createElasticClient(settings);
    closers.unshift(() => client.close());
    return client.request({ method: 'GET', path: '/x' });
  };

  test('answers where its authority is known', async () => {
    const url = `https://127.0.0.1:${port}`;
    expect(await ask({ url, caFile: certificates.authority })).toEqual({ answered: true });
  });

  test('is told from one that does not answer', async () => {
    await expect(ask({ url: `https://127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'search_engine_tls',
      message: expect.stringMatching(/answers, but the connection by TLS failed: .*certificate/u) as string,
    });
    const named = { url: `https://localhost:${port}`, caFile: certificates.authority };
    expect(await codeOf(ask(named))).toBe('search_engine_tls');
    const plain = createServer((_, response) => void response.end('{}'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => plain.close(resolve)));
    const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    expect(await codeOf(ask({ url }))).toBe('search_engine_tls');
  });
});

test('what answers and is no Elasticsearch is refused', async () => {
  const { client } = await hostile([
    (response) => {
      response.removeHeader('x-elastic-product');
      response.end('{}');
    },
  ]);
  expect(await codeOf(client.request({ method: 'GET', path: '/x' }))).toBe('search_engine_rejected');
});

test('no failure shows a password, a key or what was sent', async () => {
  const settings = { user: 'someone', password: 'hunter2secret' };
  const { client, headers } = await hostile(
    [answer(401, { error: { type: 'security_exception', reason: 'no' } }), (response) => response.destroy()],
    settings,
  );
  for (let round = 0; round < 2; round++) {
    const error = await client
      .request({ method: 'POST', path: '/x/_search', body: { query: 'needle-of-a-client' } })
      .catch((thrown: unknown) => thrown as AppError);
    const shown = JSON.stringify([error, (error as AppError).message, (error as AppError).details]);
    expect(shown).not.toMatch(/hunter2secret|aHVudGVy|Basic|needle-of-a-client/u);
    expect((error as AppError).cause).toBeUndefined();
  }
  expect(headers[0]).toBe(`Basic ${Buffer.from('someone:hunter2secret').toString('base64')}`);
  expect(createElasticClient({ url: 'http://a:hunter2secret@127.0.0.1:1,http://127.0.0.1:2' }).url).toBe(
    'http://127.0.0.1:1,http://127.0.0.1:2',
  );
});

test('an API key goes before a password', async () => {
  const { client, headers } = await hostile([answer(200, {})], { apiKey: 'a2V5', user: 'u', password: 'p' });
  await client.request({ method: 'GET', path: '/x' });
  expect(headers).toEqual(['ApiKey a2V5']);
});

const documents = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: String(at), version: 1, source: { text: `text ${at}` } }));
const idsIn = (body: string): string[] => [...body.matchAll(/"_id":"(\d+)"/gu)].map(([, id]) => id!);
const items = (body: string, statusOf: (id: string) => number) => ({
  errors: true,
  items: idsIn(body).map((id) => ({
    index: {
      status: statusOf(id),
      ...(statusOf(id) < 300 ? {} : { error: { type: 'es_rejected_execution_exception' } }),
    },
  })),
});

test('documents that the server has no room for are sent again alone, and newer ones are left', async () => {
  const { client, bodies } = await hostile([
    answer(429, { error: { type: 'es_rejected_execution_exception' } }),
    (response, body) =>
      response.end(JSON.stringify(items(body, (id) => (id === '3' ? 429 : id === '4' ? 409 : 200)))),
    answer(200, { errors: false }),
  ]);
  const retried: string[] = [];
  const counts = await bulkDocuments(client, 'index', documents(6), {
    onRetry: ({ code }) => retried.push(code),
  });
  expect(bodies.map(idsIn)).toEqual([['0', '1', '2', '3', '4', '5'], ['0', '1', '2', '3', '4', '5'], ['3']]);
  expect(counts).toMatchObject({ documents: 5, superseded: 1 });
  expect(retried).toEqual(['search_engine_busy', 'search_engine_busy']);
});

test('a document that is refused for good fails the call', async () => {
  const refused = { status: 400, error: { type: 'document_parsing_exception', reason: 'no field' } };
  const { client } = await hostile([
    answer(200, { errors: true, items: [{ index: { status: 200 } }, { index: refused }] }),
  ]);
  expect(await codeOf(bulkDocuments(client, 'index', documents(2)))).toBe('search_engine_rejected');
});

test('a request holds no more than its bytes, and a large document is one of its own', async () => {
  const { client, bodies } = await hostile([answer(200, { errors: false })]);
  const large = { id: '100', version: 1, source: { text: 'x'.repeat(5000) } };
  const counts = await bulkDocuments(client, 'index', [...documents(20), large, ...documents(3)], {
    bytesMax: 1000,
  });
  expect(counts.documents).toBe(24);
  for (const body of bodies) {
    const isSmall = Buffer.byteLength(body) <= 1000;
    expect(isSmall || idsIn(body).length === 1).toBe(true);
  }
  expect(bodies.flatMap(idsIn).length).toBe(24);
});

test('a server that stays busy fails the call when its time is over, and a signal ends it at once', async () => {
  const busy = answer(429, { error: { type: 'es_rejected_execution_exception' } });
  const { client } = await hostile([busy]);
  expect(await codeOf(bulkDocuments(client, 'index', documents(1), { budgetMs: 50 }))).toBe(
    'search_engine_busy',
  );
  const controller = new AbortController();
  const work = bulkDocuments(client, 'index', documents(1), { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('enough')), 50);
  expect(await codeOf(work)).toBe('Error: enough');
});
