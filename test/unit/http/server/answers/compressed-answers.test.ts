import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limits } from '#http/server/limits.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let app: App;
let port: number;
const open: IncomingMessage[] = [];

beforeEach(async () => {
  app = createRoutesApp({ trustedProxies: ['127.0.0.1'] });
  app.register(async (routes) => {
    routes.get('/endless', { config: { compression: 'stream' } }, async (_request, reply) => {
      const stream = new PassThrough();
      // enough text, because the plugin checks the first ten bytes
      stream.write('the first of many events\n');
      return reply.type('application/x-ndjson').send(stream);
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const answer of open.splice(0)) answer.destroy();
  await app.close();
});

/** The encoding of a response that continues until its client disconnects. */
async function encodingFor(client: string): Promise<string | undefined> {
  const headers = { 'accept-encoding': 'br', 'x-forwarded-for': client };
  const [answer] = (await once(get({ host: '127.0.0.1', port, path: '/endless', headers }), 'response')) as [
    IncomingMessage,
  ];
  open.push(answer);
  return answer.headers['content-encoding'];
}

test('a client beyond its share gets uncompressed answers, and others get compressed ones', async () => {
  const own = await Promise.all(
    Array.from({ length: limits.compressedAnswersEach }, () => encodingFor('10.0.0.1')),
  );
  expect(new Set(own)).toEqual(new Set(['br']));
  expect(await encodingFor('10.0.0.1')).toBeUndefined();
  expect(await encodingFor('10.0.0.2')).toBe('br');
  // when a client has disconnected, another response may be compressed
  open.shift()?.destroy();
  await waitUntil(async () => (await encodingFor('10.0.0.1')) === 'br');
});

test('beyond the bound of all clients an answer is sent uncompressed', async () => {
  const encodings: (string | undefined)[] = [];
  for (let client = 0; client <= limits.compressedAnswers; client++)
    encodings.push(await encodingFor(`10.0.1.${client}`));
  expect(encodings[0]).toBe('br');
  expect(encodings.at(-1)).toBeUndefined();
});
