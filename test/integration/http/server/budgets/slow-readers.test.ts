import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addLargeAnswer, largeBody } from '#test/support/http/large-answer.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
let port: number;
let large: string;

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'large', body: 'hello' }] }], {
    // this rate is faster than any loopback
    budgets: { pace: { patienceMs: 1500, rate: 1e12 } },
  });
  large = await addLargeAnswer(http.database.pool);
  port = Number(new URL(await http.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => http.close());

test('a client that does not take its answer is disconnected, and one that waits for an answer is not', async () => {
  const idle = connect({ port, host: '127.0.0.1' });
  const reader = connect({ port, host: '127.0.0.1' });
  reader.on('error', () => undefined);
  reader.write(`GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const ended = once(reader, 'close');
  await once(reader, 'readable');
  // the client reads now, and bytes in transit end with the connection
  await expect
    .poll(async () => (await http.app.inject('/metrics')).body, { timeout: 20_000 })
    .toMatch(/^satscribe_http_connections_ended\{why="slow"\} 1$/mu);
  let bytes = 0;
  reader.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await ended;
  expect(bytes).toBeLessThan(largeBody.length);
  expect(idle.closed).toBe(false);
  idle.destroy();
});
