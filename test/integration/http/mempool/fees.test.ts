import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';

const url = '/mempool/api/v1/fees/recommended';

test('without a node there are no fees', async () => {
  const app = createRoutesApp();
  const answer = await app.inject(url);
  expect([answer.statusCode, answer.json()]).toEqual([
    404,
    { status: 'error', error: 'fees come from a node, but this server has no node' },
  ]);
  await app.close();
});

describe.skipIf(bitcoindForTests() === null)('with a node', () => {
  let node: Bitcoind;
  let app: App;

  beforeAll(async () => {
    node = await startBitcoind({ zmq: [], extra: ['-minrelaytxfee=0.00004001'] });
    app = createRoutesApp({ node: node.rpc });
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await node.remove();
  });

  test('without data for estimates, all fees are its minimum', async () => {
    const answer = await app.inject(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      fastestFee: 5,
      halfHourFee: 5,
      hourFee: 5,
      economyFee: 5,
      minimumFee: 5,
    });
  });
});
