import { describe, expect, test } from 'vitest';
import type { ShopWorld } from './shop-world.ts';

/** The page on which customers of shops pay. */
export function testCheckout(started: () => ShopWorld): void {
  describe('the checkout page', () => {
    test('follows an order from its creation to a payment in a block, and shows nothing private', async () => {
      const shop = started();
      const rune = await shop.etch(1_000n, 0);
      const { body: order } = await shop.post({
        token: rune.name,
        amount: 7,
        description: 'a private note',
        webhookUrl: 'https://shop.example/hook?token=secret',
        successUrl: 'https://shop.example/thanks?a=1&b=2',
      });
      const url = `/tokenpay/checkout/${order.id}`;
      const read = () => shop.app.inject({ url, headers: { accept: 'text/html' } });
      const [fee, token] = [order.feeCharge.address, order.tokenCharge.address];

      const fresh = await read();
      expect(fresh.statusCode).toBe(200);
      expect(fresh.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect(fresh.body).toContain(`7 ${rune.name}`);
      expect(fresh.body).toContain(token);
      expect(fresh.body).toContain(`bitcoin:${fee}?amount=0.00009000`);
      for (const hidden of [shop.account, 'a private note', 'shop.example']) {
        expect(fresh.body).not.toContain(hidden);
      }

      await shop.send([
        { value: 546, outputScript: await shop.scriptOf(token), units: [[rune, 7n]] },
        { value: 4_000, outputScript: await shop.scriptOf(fee) },
      ]);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'payment_seen');
      const seen = (await read()).body;
      expect([seen.includes(token), seen.includes(fee)]).toEqual([false, false]);

      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 2);
      expect((await read()).body).toContain(`bitcoin:${fee}?amount=0.00005000`);

      await shop.send([{ value: 5_000, outputScript: await shop.scriptOf(fee) }]);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.txid !== null);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ state }) => state === 'completed');
      const done = (await read()).body;
      expect(done).toContain('data-state="completed"');
      expect(done).toContain('href="https://shop.example/thanks?a=1&amp;b=2"');
      expect([done.includes(token), done.includes(fee)]).toEqual([false, false]);
    }, 120_000);

    test('is not found for an id without an order', async () => {
      const answer = await started().app.inject({
        url: '/tokenpay/checkout/6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
        headers: { accept: 'text/html' },
      });
      expect(answer.statusCode).toBe(404);
    });
  });
}
