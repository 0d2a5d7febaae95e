import { describe, expect, test } from 'vitest';
import { startReceiver } from '#test/support/webhooks/receiver.ts';
import { startSending } from '#test/support/webhooks/sending.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';
import type { ShopOrder, ShopWorld } from './shop-world.ts';

const [before, after] = [7, 9].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];

/** Tests a change of the service's secret while orders with webhooks are open. */
export function testShopSecrets(started: () => ShopWorld): void {
  describe('a change of the secret of the service', () => {
    test('leaves open orders their webhookSecretToken, in messages and in repeated answers', async () => {
      const shop = started();
      const rune = await shop.etch(1_000n, 0);
      const receiver = await startReceiver();
      const order = async (key: string): Promise<ShopOrder> => {
        const webhookUrl = `http://shop.test:${receiver.port}/${key}`;
        const { status, body } = await shop.post(
          { token: rune.name, amount: 1, webhookUrl },
          { 'idempotency-key': key },
        );
        expect([status, body]).toEqual([200, body]);
        return body;
      };
      const earlier = await order('secret-of-before');
      shop.secrets = new WebhookKeys(after, before);
      // messages left by other tests have receivers that do not exist
      await shop.world.database.pool.query(
        `UPDATE service.webhook_subjects SET due_at = now() + interval '1 day' WHERE due_at IS NOT NULL`,
      );
      const sending = startSending(shop.world.database, { keys: () => Promise.resolve(shop.secrets) });
      try {
        const later = await order('secret-of-after');
        // a repeated creation returns the secret that its own order has
        expect(await order('secret-of-before')).toEqual(earlier);
        expect(await order('secret-of-after')).toEqual(later);
        const tokens = [earlier, later].map(({ webhookSecretToken }) => webhookSecretToken!);
        expect(new Set(tokens).size).toBe(2);
        for (const { tokenCharge } of [earlier, later])
          await shop.send([
            { value: 546, outputScript: await shop.scriptOf(tokenCharge.address), units: [[rune, 1n]] },
          ]);
        await shop.world.chain.mineMempool();
        const told = (key: string): ShopOrder[] =>
          receiver.received
            .filter(({ target }) => target === `/${key}`)
            .map(({ body }) => JSON.parse(body.toString()) as ShopOrder);
        await shop.world.eventually(async () => {
          for (const key of ['secret-of-before', 'secret-of-after'])
            expect(told(key).at(-1)?.tokenCharge.state).toBe('completed');
        });
        for (const [place, key] of ['secret-of-before', 'secret-of-after'].entries())
          expect(new Set(told(key).map(({ webhookSecretToken }) => webhookSecretToken))).toEqual(
            new Set([tokens[place]]),
          );
        const { rows } = await shop.world.database.pool.query<{ stored: string }>(
          `SELECT encode(body, 'escape') AS stored FROM service.webhooks WHERE subject = ANY($1)
            UNION ALL SELECT answer FROM service.idempotency_keys WHERE key LIKE 'secret-of-%'`,
          [[earlier, later].map(({ id }) => `token ${id}`)],
        );
        expect(rows.length).toBeGreaterThanOrEqual(4);
        for (const { stored } of rows) expect(tokens.some((token) => stored.includes(token))).toBe(false);
      } finally {
        await sending.stop();
        await receiver.close();
      }
    });
  });
}
