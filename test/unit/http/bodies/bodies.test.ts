import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseBody } from '#http/bodies/parsing/parse-body.ts';
import { cutSlowBodies } from '#http/bodies/slow-bodies.ts';
import { batchBody, batchList } from '#http/ord/answers/batch.ts';
import { open } from '#http/server/access/guard.ts';
import { BodyRoom } from '#http/server/budgets/body-room.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const roomBytes = 6_000_000;
const room = new BodyRoom({ totalBytes: roomBytes, eachBytes: roomBytes });
let app: App;
let port: number;
/** Requests to `/test/order` are answered when this promise settles. */
let held: Promise<void> = Promise.resolve();
let handled = 0;

/** A path that accepts large lists of texts. */
function takeLists(scope: App): void {
  apiRoute(scope, {
    method: 'POST',
    url: '/test/list',
    schema: {
      operationId: 'testList',
      summary: 'A path of a test',
      tags: ['test'],
      body: batchBody({}, 1000),
      response: { 200: Type.Object({ count: Type.Integer() }) },
    },
    config: { errors: 'plain', guard: open, body: 'texts', textsMax: 1000 },
    bodyLimit: bodyLimits.batch,
    handler: async ({ body }) => ({ count: batchList(body).count }),
  });
}

beforeAll(async () => {
  app = createRoutesApp({ bodyRoom: room });
  app.register(async (scope) => takeLists(scope as App));
  app.register(async (scope) => {
    const response = { 200: Type.Object({ keys: Type.Array(Type.String()), body: Type.Unknown() }) };
    const schema = { summary: 'A path of a test', tags: ['test'], response } as const;
    const body = Type.Object({});
    apiRoute(scope as App, {
      method: 'POST',
      url: '/test/order',
      schema: { ...schema, operationId: 'testOrder', body },
      config: { errors: 'orderWrite', guard: open },
      bodyLimit: bodyLimits.order,
      handler: async (request) => {
        handled++;
        await held;
        return { keys: Object.keys(request.body), body: null };
      },
    });
    apiRoute(scope as App, {
      method: 'POST',
      url: '/test/small',
      schema: { ...schema, operationId: 'testSmall', body },
      config: { errors: 'own', guard: open },
      handler: async (request) => ({ keys: Object.keys(request.body), body: request.body }),
    });
    apiRoute(scope as App, {
      method: 'POST',
      url: '/test/small-form',
      schema: { ...schema, operationId: 'testSmallForm', body },
      config: { errors: 'own', guard: open, body: 'form' },
      handler: async (request) => ({ keys: Object.keys(request.body), body: request.body }),
    });
    apiRoute(scope as App, {
      method: 'POST',
      url: '/test/form',
      schema: { ...schema, operationId: 'testForm', body },
      config: { errors: 'orderWrite', guard: open, body: 'form' },
      bodyLimit: bodyLimits.collection,
      handler: async (request) => ({ keys: Object.keys(request.body), body: request.body }),
    });
  });
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}, 120_000);

beforeEach(() => {
  held = Promise.resolve();
  handled = 0;
});

afterAll(async () => {
  await app.close();
});

/** Number of large bodies in progress, from the metrics. */
async function largeBodies(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^satscribe_queue_length\{queue="large bodies"\} (\d+)$/mu.exec(text)?.[1]);
}

const jsonOf = (bytes: number): string => JSON.stringify({ file: 'a'.repeat(bytes) });

function post(
  path: string,
  body: string | ReadableStream<Uint8Array>,
  contentType = 'application/json',
): Promise<Response> {
  const headers = { 'content-type': contentType };
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
}

function inChunks(text: string, chunkBytes = 100_000): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let place = 0;
  return new ReadableStream({
    pull(controller) {
      if (place >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(place, (place += chunkBytes)));
    },
  });
}

/** Sends the head of a request and a part of its body. The test reads the response. */
function begin(path: string, header: string, body = '', localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${header}\r\n\r\n${body}`,
  );
  return socket;
}

async function answerOf(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return bytes.toString();
}

describe('a body', () => {
  test('is accepted up to the limit of its route, chunked or not', async () => {
    for (const body of [jsonOf(5_000_000), inChunks(jsonOf(5_000_000))]) {
      const answer = await post('/test/order', body);
      expect(await answer.json()).toEqual({ keys: ['file'], body: null });
    }
    for (const body of [jsonOf(1_100_000), inChunks(jsonOf(1_100_000))]) {
      // if the client still sends, its connection may end before it reads the response
      const answer = await post('/test/small', body).catch(() => null);
      if (answer !== null) expect(answer.status).toBe(413);
    }
    expect(room.usedBytes).toBe(0);
  });

  test('with too large a content-length is refused before its first byte', async () => {
    const text = await answerOf(begin('/test/order', `Content-Length: ${bodyLimits.order + 1}`));
    expect(text).toMatch(/^HTTP\/1.1 413 .*connection: close/isu);
    expect(text).toContain('{"error":[{"msg":"the body is larger than this path accepts"}]}');
  });

  test('without room is 503 with Retry-After in the form of its route, and accepted later', async () => {
    let answerHeld = (): void => undefined;
    held = new Promise((resolve) => {
      answerHeld = resolve;
    });
    const first = post('/test/order', jsonOf(4_000_000));
    await waitUntil(() => handled === 1);
    const text = await answerOf(begin('/test/order', 'Content-Length: 3000000'));
    expect(text).toMatch(/^HTTP\/1.1 503 .*retry-after: 2\r\n/isu);
    expect(text).toContain('{"status":"error","reason":"too many large bodies are being sent');
    const chunked = await post('/test/order', inChunks(jsonOf(3_000_000))).catch(() => null);
    if (chunked !== null) expect(chunked.status).toBe(503);
    // small bodies need no room
    expect((await post('/test/small', jsonOf(1000))).status).toBe(200);
    answerHeld();
    expect((await first).status).toBe(200);
    await waitUntil(() => room.usedBytes === 0);
    expect((await post('/test/order', jsonOf(3_000_000))).status).toBe(200);
  });

  test.each([
    ['with its length', 'Content-Length: 3000000', 'a'.repeat(2_000_000)],
    ['in chunks', 'Transfer-Encoding: chunked', `1e8480\r\n${'a'.repeat(2_000_000)}\r\n`],
  ])('releases its room when its client gives up: %s', async (_name, header, body) => {
    const socket = begin('/test/order', header, body);
    await waitUntil(() => room.usedBytes >= 2_000_000);
    socket.destroy();
    await waitUntil(() => room.usedBytes === 0);
    expect(handled).toBe(0);
  });

  test('that is large and wrong releases its room, and has the same error as a small one', async () => {
    for (const body of ['[', `{"file":"${'a'.repeat(2_000_000)}`]) {
      const answer = await post('/test/order', body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ error: [{ msg: 'the body is not JSON' }] });
    }
    await waitUntil(() => room.usedBytes === 0);
  });

  test('is refused before its first byte if it is the third large one of its client', async () => {
    const first = begin('/test/order', 'Content-Length: 1500000', '{');
    const second = begin('/test/order', 'Content-Length: 1500000', '{');
    await waitUntil(async () => (await largeBodies()) === 2);
    const text = await answerOf(begin('/test/order', 'Content-Length: 1500000'));
    expect(text).toMatch(/^HTTP\/1.1 429 .*connection: close.*retry-after: /isu);
    const chunked = begin(
      '/test/order',
      'Transfer-Encoding: chunked',
      `12d688\r\n${'a'.repeat(1_234_568)}\r\n`,
    );
    expect(await answerOf(chunked)).toMatch(/^HTTP\/1.1 429 .*connection: close/isu);
    expect((await post('/test/small', jsonOf(1000))).status).toBe(200);
    first.destroy();
    second.destroy();
    await waitUntil(async () => (await largeBodies()) === 0);
    expect((await post('/test/order', jsonOf(1_500_000))).status).toBe(200);
  });

  test('from a trusted proxy counts for the client that it names, else for the proxy', async () => {
    const behind = createRoutesApp({ trustedProxies: ['loopback'] });
    behind.register(async (scope) => takeLists(scope as App));
    const usual = port;
    try {
      port = Number(new URL(await behind.listen({ host: '127.0.0.1', port: 0 })).port);
      const large = (named: string): Socket => begin('/test/list', `${named}Content-Length: 1500000`, '["');
      for (const named of ['', 'X-Forwarded-For: 203.0.113.1\r\n']) {
        const open = [large(named), large(named)];
        await waitUntil(async () => (await largeBodies()) === 2);
        const third = large(named);
        expect(await answerOf(third)).toMatch(/^HTTP\/1.1 429 /u);
        for (const socket of [...open, third]) socket.destroy();
        await waitUntil(async () => (await largeBodies()) === 0);
      }
    } finally {
      port = usual;
      await behind.close();
    }
  });

  test('holds the bytes that its client has sent, not those that it announced', async () => {
    const sockets = Array.from({ length: 8 }, () =>
      begin('/test/order', 'Content-Length: 1000000', 'a'.repeat(70_000)),
    );
    await waitUntil(() => room.usedBytes > 0);
    await wait(50);
    expect(room.usedBytes).toBeLessThan(8 * 140_000);
    for (const socket of sockets) socket.destroy();
    await waitUntil(() => room.usedBytes === 0);
  });

  test('with a wrong list is read to its end, so that its client reads the answer', async () => {
    const wrong = `[1,${'"a",'.repeat(700_000)}"a"]`;
    for (const body of [wrong, inChunks(wrong)]) {
      const answer = await post('/test/list', body);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining('an item of the body is not a string'),
      ]);
    }
    expect(room.usedBytes).toBe(0);
  });

  test('in very small chunks is refused', async () => {
    // another client than in the other tests, because this one is refused for a second
    const chunks = '1\r\n \r\n'.repeat(20_000);
    const socket = begin('/test/order', 'Transfer-Encoding: chunked', chunks, '127.0.0.9');
    expect(await answerOf(socket)).toMatch(
      /^HTTP\/1.1 400 .*connection: close.*the chunks of the body are too small/isu,
    );
  });

  test.each([
    ['values', `[${'{"a":1},'.repeat(5000)}0]`, 'more than 12000 brackets, commas and colons'],
    ['levels', '['.repeat(1000), 'nested deeper than 500 levels'],
  ])(
    'of a route for small bodies is refused with more %s than the event loop can handle',
    async (_name, text, words) => {
      const answer = await post('/test/small', text);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(words)]);
    },
  );

  test('with many values is parsed in the thread if its route takes large bodies', async () => {
    const value = Array.from({ length: 10_000 }, (_, place) => ({ [`k${place}`]: place }));
    const answer = await post('/test/order', JSON.stringify({ value }));
    expect(await answer.json()).toEqual({ keys: ['value'], body: null });
  });

  test.each([
    ['more values', `[${'[],'.repeat(600_000)}0]`, 'more than 1000000 brackets, commas and colons'],
    ['deeper lists', `${'['.repeat(600_000)}${']'.repeat(600_000)}`, 'nested deeper than 500 levels'],
  ])('with %s than memory allows is refused', async (_name, text, words) => {
    const answer = await post('/test/order', text);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(words)]);
  });

  test('may have any brackets in its texts', async () => {
    const text = JSON.stringify({ file: `${String.raw`\"[{,`.repeat(400_000)}\\`, b: 1 });
    expect(await (await post('/test/order', text)).json()).toEqual({ keys: ['file', 'b'], body: null });
  });

  test.each([
    '{"__proto__":{"a":1}}',
    '[{"a":{"__proto__":1}}]',
    String.raw`{"\u005f_proto__":1}`,
    '{"constructor":{"prototype":{}}}',
  ])('that would change the prototypes of objects is refused: %s', (text) => {
    expect(parseBody('json', Buffer.from(text))).toEqual({ ok: false, message: 'the body is not JSON' });
  });

  test('may have those names if they do no harm', () => {
    expect(parseBody('json', Buffer.from('\ufeff{"constructor":"Miller","b":"__proto__"}'))).toEqual({
      ok: true,
      value: { constructor: 'Miller', b: '__proto__' },
    });
  });

  test('that arrives too slowly is 408, read or not; one that keeps the pace is accepted', async () => {
    const slow = createRoutesApp();
    cutSlowBodies(slow, { bodyPatienceMs: 300, bodyRate: 20_000, checkMs: 20 });
    const usual = port;
    try {
      port = Number(new URL(await slow.listen({ host: '127.0.0.1', port: 0 })).port);
      for (const path of ['/search/hashes', '/nothing/there']) {
        const socket = begin(path, 'Content-Length: 100000', '{');
        let text = '';
        for await (const chunk of socket) text += String(chunk);
        if (path === '/search/hashes') expect(text).toContain('HTTP/1.1 408');
        else expect(text).toContain('HTTP/1.1 404');
      }
      const paced = begin('/search/hashes', 'Content-Length: 60000', '{');
      for (let part = 0; part < 6; part++) {
        await wait(100);
        paced.write('x'.repeat(part === 5 ? 9999 : 10_000));
      }
      expect(await answerOf(paced)).toContain('the body is not JSON');
    } finally {
      port = usual;
      await slow.close();
    }
  });
});

describe('a form', () => {
  const form = 'application/x-www-form-urlencoded';

  test('has lists and objects', async () => {
    const text =
      'name=Great+Art&phases[0][price]=1&phases[1][price]=2&phases[1][allowList][]=x&phases[1][allowList][]=y';
    expect(await (await post('/test/form', text, form)).json()).toEqual({
      keys: ['name', 'phases'],
      body: { name: 'Great Art', phases: [{ price: '1' }, { price: '2', allowList: ['x', 'y'] }] },
    });
  });

  test('keeps every item of a list of a thousand, in both notations', async () => {
    for (const name of ['files[]', 'files[PLACE]']) {
      const text = Array.from(
        { length: 1000 },
        (_, place) => `${name.replace('PLACE', String(place))}=${place}`,
      ).join('&');
      const { body } = (await (await post('/test/form', text, form)).json()) as { body: { files: string[] } };
      expect(body.files).toEqual(Array.from({ length: 1000 }, (_, place) => String(place)));
    }
  });

  test('above a mebibyte is read in the thread', async () => {
    const answer = await post('/test/form', `file=${'a'.repeat(3_000_000)}`, form);
    expect(((await answer.json()) as { keys: string[] }).keys).toEqual(['file']);
  });

  test.each([
    ['a list of more', 'files[]=1&'.repeat(1001), 'a list of the form has more than 1000 entries'],
    ['a place far away', 'files[5000]=1', 'a list of the form has more than 1000 entries'],
    [
      'more fields',
      Array.from({ length: 20_001 }, (_, place) => `f${place}=`).join('&'),
      'the form has more than 20000 fields',
    ],
    ['deeper names', 'a[b][c][d][e][f][g]=1', 'a name in the form is more than 5 levels deep'],
  ])('beyond its bounds is refused: %s', async (_name, text, msg) => {
    const answer = await post('/test/form', text, form);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: [{ msg }] });
  });

  test('of a route for small bodies has fewer fields and brackets', async () => {
    const text = Array.from({ length: 5000 }, (_, place) => `k[${place}][a]=1`).join('&');
    const answer = await post('/test/small-form', text, form);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('more than 12000 fields and brackets'),
    ]);
  });

  test('does not change the prototypes of objects', () => {
    for (const text of ['__proto__[a]=1', 'constructor[prototype][a]=1', 'b[__proto__][a]=1']) {
      parseBody('form', Buffer.from(text));
      expect(({} as { a?: unknown }).a).toBeUndefined();
    }
  });

  test('is accepted only by the routes that name it, and these accept nothing else', async () => {
    const refused = await post('/test/small', 'a=1', form);
    expect([refused.status, await refused.text()]).toEqual([
      415,
      expect.stringContaining('application/json'),
    ]);
    const json = await post('/test/form', '{}');
    expect([json.status, await json.text()]).toEqual([415, expect.stringContaining(form)]);
    const text = await post('/test/form', 'a=1', 'text/plain');
    expect([text.status, await text.text()]).toEqual([415, expect.stringContaining(form)]);
  });
});

describe('a text of a body', () => {
  const number = 'is a number that cannot be kept exactly; send it as a text';
  test.each<[string, string, { readonly message: string; readonly parameter?: string }[]]>([
    [
      'a NUL and half of a surrogate pair',
      String.raw`{"a":[{"b":"\u0000"},"\ud800"]}`,
      [
        { message: 'a[0].b has a NUL character (U+0000)', parameter: 'a[0].b' },
        { message: 'a[1] is not valid Unicode', parameter: 'a[1]' },
      ],
    ],
    [
      'a name with a NUL',
      String.raw`{"a":{"\u0000":1}}`,
      [{ message: 'the name of a field of a has a NUL character (U+0000)', parameter: 'a' }],
    ],
    ['a whole body of half a pair', String.raw`"\udc00"`, [{ message: 'the body is not valid Unicode' }]],
    [
      'numbers that lose digits',
      '{"a":1e400,"b":9007199254740993}',
      [
        { message: `a ${number}`, parameter: 'a' },
        { message: `b ${number}`, parameter: 'b' },
      ],
    ],
  ])('that cannot be stored is refused with its place: %s', (_name, text, faults) => {
    expect(parseBody('json', Buffer.from(text))).toEqual({ ok: false, message: faults[0]!.message, faults });
  });

  test('of a form follows the same rules as in JSON', () => {
    const fault = 'a.b[0] has a NUL character (U+0000)';
    expect(parseBody('form', Buffer.from('a[b][]=x%00'))).toEqual({
      ok: false,
      message: fault,
      faults: [{ message: fault, parameter: 'a.b[0]' }],
    });
    const message = 'the form is not percent-encoded UTF-8';
    for (const text of ['a=%ff', 'a=%', '%zz=1'])
      expect(parseBody('form', Buffer.from(text))).toEqual({ ok: false, message });
    expect(parseBody('form', Buffer.from('a+b=c%2B+d%C3%BC'))).toEqual({
      ok: true,
      value: { 'a b': 'c+ dü' },
    });
  });

  test.each(['json', 'form'] as const)('in bytes that are not UTF-8 is refused: %s', (kind) => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')]);
    expect(parseBody(kind, bytes)).toEqual({ ok: false, message: 'the body is not UTF-8' });
  });

  test('is also checked in the thread, and refused in the form of the route', async () => {
    const large = `{"file":"${'a'.repeat(2_000_000)}","name":"\\u0000","other":"\\ud800"}`;
    const answer = await post('/test/order', large);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: [{ msg: 'name has a NUL character (U+0000)' }, { msg: 'other is not valid Unicode' }] },
    ]);
    const small = await post('/test/small', String.raw`{"a":"\u0000"}`);
    expect(await small.json()).toMatchObject({ parameter: 'a', code: 'request_invalid' });
    await waitUntil(() => room.usedBytes === 0);
  });
});

describe('each path with a body', () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    paths: Readonly<Record<string, { readonly post?: object }>>;
  };
  const posts = Object.keys(paths).filter((path) => paths[path]?.post !== undefined);
  /** Paths of ord. They answer 415 here. */
  const lists = ['/inscriptions', '/missing', '/outputs'];
  const typeOf = (path: string): string =>
    path.startsWith('/key') || path.startsWith('/watches/') || path === '/collectioncreate'
      ? 'application/x-www-form-urlencoded'
      : 'application/json';

  test.each(posts)('%s refuses a request without one', async (url) => {
    const answer = await app.inject({ method: 'POST', url });
    expect(answer.statusCode).toBe(lists.includes(url) ? 415 : 400);
    expect(answer.body).toContain(
      `the body is missing; send it with the header content-type: ${typeOf(url)}`,
    );
    const empty = await app.inject({ method: 'POST', url, headers: { 'content-type': typeOf(url) } });
    expect(empty.statusCode).toBe(400);
  });

  test.each(posts)('%s refuses another type, and an encoding', async (url) => {
    const sent = { method: 'POST', url, payload: Buffer.from('x') } as const;
    for (const type of [
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      '',
      'a',
      '/',
      ';',
    ]) {
      const typed = await app.inject({ ...sent, headers: { 'content-type': type } });
      expect([type, typed.statusCode]).toEqual([type, 415]);
    }
    for (const encoding of ['gzip', 'br', 'x', 'gzip, identity', 'GZIP']) {
      const headers = { 'content-type': typeOf(url), 'content-encoding': encoding };
      const encoded = await app.inject({ ...sent, headers });
      expect(encoded.statusCode).toBe(415);
      expect(encoded.body).toContain(
        `must be sent without content-encoding, because ${encoding} is not decoded here`,
      );
      expect(encoded.headers).toMatchObject({ 'accept-encoding': 'identity' });
    }
    const headers = { 'content-type': typeOf(url), 'content-encoding': 'Identity' };
    expect((await app.inject({ ...sent, headers })).statusCode).not.toBe(415);
  });
});
