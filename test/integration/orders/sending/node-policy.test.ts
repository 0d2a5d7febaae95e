import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOrder } from '#orders/order/order.store.ts';
import { putNodePolicy } from '#orders/sending/node-policy.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const order = (fee: number, more: object = {}) =>
  http.post<{ readonly id: string; readonly error: readonly { readonly msg: string }[] }>('/inscribe', {
    ...more,
    files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
    receiveAddress: addressOf(700),
    fee,
  });

async function say(minRelayFeeRate: bigint, estimate: bigint | null): Promise<void> {
  const client = await http.database.pool.connect();
  try {
    await putNodePolicy(client, { minRelayFeeRate, mempoolMinFeeRate: minRelayFeeRate, estimate });
  } finally {
    client.release();
  }
}

test('an order below the node’s relay rate is refused before an address is shown', async () => {
  await say(100n, null);
  expect((await order(0.2)).status).toBe(200);
  await say(1000n, null);
  const refused = await order(0.2);
  expect(refused).toMatchObject({
    status: 400,
    body: {
      error: [{ msg: 'fee must be at least 1 sat/vB, not 0.2, because the node relays nothing below that.' }],
    },
  });
  expect((await order(1)).status).toBe(200);
});

test('the plan of a price warns of a rate that the node does not relay', async () => {
  const codes = async (fee: number, more: object = {}): Promise<readonly string[]> => {
    const { body } = await http.post<{ warnings: readonly { readonly code: string }[] }>('/price?plan=1', {
      type: 'direct',
      order: { files: [{ name: 'a.txt', size: 1 }], receiveAddress: addressOf(700), fee, ...more },
    });
    return body.warnings.map(({ code }) => code);
  };
  await say(3000n, null);
  expect(await codes(2.999)).toContain('fee-not-relayed');
  expect(await codes(3)).not.toContain('fee-not-relayed');
  await say(1000n, 5000n);
  expect(await codes(4.999, { burnAfterInscribe: true })).toContain('burn-fee-low');
  expect(await codes(5, { burnAfterInscribe: true })).not.toContain('burn-fee-low');
  expect(await codes(4.999)).not.toContain('burn-fee-low');
  expect(await codes(4.999)).toContain('fee-below-estimate');
  expect(await codes(5)).not.toContain('fee-below-estimate');
});

test('an order below the estimate is taken, with a warning that it waits', async () => {
  await say(1000n, 36_000n);
  const message =
    'fee of 2 sat/vB is below the present estimate of the node (36), so the transactions may wait for days.';
  expect(await order(2)).toMatchObject({
    status: 200,
    body: { warnings: [{ code: 'fee-below-estimate', message }] },
  });
  expect((await order(36)).body).not.toHaveProperty('warnings');
  await say(1000n, null);
  expect((await order(2)).body).not.toHaveProperty('warnings');
});

test('an order that is burned pays at least the estimate of the node', async () => {
  const burned = { burnAfterInscribe: true };
  await say(1000n, 7500n);
  const msg =
    'fee must be at least 7.5 sat/vB with burnAfterInscribe now, not 7.4, because anyone could take the inscription before it is burned.';
  expect(await order(7.4, burned)).toMatchObject({ status: 400, body: { error: [{ msg }] } });
  expect((await order(7.5, burned)).status).toBe(200);
  await say(1000n, null);
  expect((await order(1, burned)).status).toBe(200);
});

test('an order stores the estimate of its creation, and the time until which its price is held', async () => {
  await say(1000n, 7500n);
  const { body } = await order(2);
  const { quote, createdAt } = (await readOrder(http.database.pool, body.id))!;
  expect(quote.feeEstimate).toBe(7500);
  expect(body).toMatchObject({ priceHeldUntil: quote.heldUntil });
  expect(Math.abs(quote.heldUntil! - createdAt.getTime() - 3_600_000)).toBeLessThan(10_000);
});
