import { describe, expect, test } from 'vitest';
import type { ShopWorld } from './shop-world.ts';

/** Tests the page on which customers of shops pay. */
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
      expect([seen.includes(token), seen.includes(fee)]).toEqual([true, true]);
      expect(seen).toContain('Seen, in no block yet: 0 of 1 confirmation.');
      // the page requests no payment while the amount that arrived is unknown
      expect([seen.includes('data-qr'), seen.includes('href="bitcoin:')]).toEqual([false, false]);

      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 2);
      const parts = (await read()).body;
      expect(parts).toContain(`bitcoin:${fee}?amount=0.00005000`);
      expect(parts).toContain('The fee is missing');

      await shop.send([{ value: 5_000, outputScript: await shop.scriptOf(fee) }]);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.txid !== null);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ state }) => state === 'completed');
      const done = (await read()).body;
      expect(done).toContain('data-state="completed"');
      expect(done).toContain('href="https://shop.example/thanks?a=1&amp;b=2"');
      expect(done).not.toContain('href="bitcoin:');
    });

    test('asks the service for nothing except itself and PSBTs, and explains an order whose time is over', async () => {
      const shop = started();
      const rune = await shop.etch(10n, 0);
      const { body: order } = await shop.post({ token: rune.name, amount: 1 });
      const url = `/tokenpay/checkout/${order.id}`;
      const read = () => shop.app.inject({ url, headers: { accept: 'text/html' } });
      const policy = String((await read()).headers['content-security-policy']);
      const asked = /connect-src (?<paths>\*:[^;]*)/u.exec(policy)?.groups?.['paths']?.split(' ');
      expect(asked?.slice(1)).toEqual([
        '*:*/tokenpay/checkout/',
        '*:*/tokenpay/create-payment-psbt',
        '*:*/tokenpay/utils/finalize-psbt',
        '*:*/tokenpay/utils/submittx',
      ]);
      await shop.world.database.pool.query(
        `UPDATE service.token_orders SET created_at = $2::timestamptz - interval '1 hour', expires_at = $2, ends_at = $2, look_at = $2
          WHERE id = $1`,
        [order.id, new Date(Date.now() - 1_000)],
      );
      expect((await read()).body).toContain('do not pay this order');
      await shop.until(order.id, ({ state }) => state === 'error');
      const over = (await read()).body;
      expect(over).toContain('data-state="over"');
      expect([over.includes(order.tokenCharge.address), over.includes('data-pay')]).toEqual([false, false]);
    });

    test('is not found for an id without an order', async () => {
      const answer = await started().app.inject({
        url: '/tokenpay/checkout/6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
        headers: { accept: 'text/html' },
      });
      expect(answer.statusCode).toBe(404);
    });
  });
}
