import { beforeAll, describe, expect, test } from 'vitest';
import { heldBy, orderedAt } from './account-changes.ts';
import type { EtchedRune, ShopOrder, ShopWorld } from './shop-world.ts';

/**
 * Depth of a reorganisation, in blocks. Nodes return transactions of the last ten blocks to the mempool, and forget
 * deeper ones.
 */
const deep = 12;

/** Tests reorganisations that remove blocks before and after an order is completed. */
export function testShopReorganisations(started: () => ShopWorld): void {
  describe('a reorganisation', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(1_000_000n, 2);
    });

    async function toldTo(id: string): Promise<string[]> {
      const { rows } = await shop.world.database.pool.query<{ body: Buffer }>(
        'SELECT body FROM service.webhooks WHERE subject = $1 ORDER BY sequence',
        [`token ${id}`],
      );
      return rows.map(({ body }) => {
        const { state, received } = JSON.parse(body.toString()) as ShopOrder;
        return `${state} ${received.length}`;
      });
    }

    test('of 12 blocks takes the credits of a completed order back, and its payment is credited once it is sent again', async () => {
      const { chain } = shop.world;
      const order = await orderedAt(shop, rune.name, 2.5, { webhookUrl: 'https://shop.example/' });
      const before = await heldBy(shop);
      const paid = await shop.send([
        { value: 546, outputScript: order.tokenScript, units: [[rune, 250n]] },
        { value: 10_000, outputScript: order.feeScript },
      ]);
      await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
      await chain.mineMempool();
      await shop.until(order.id, ({ state }) => state === 'completed');
      await chain.mineEmpty(deep - 1);
      await shop.world.indexed();
      const after = await heldBy(shop);
      const told = await toldTo(order.id);
      expect(told.at(-1)).toBe('completed 2');

      await chain.takeBack(deep);
      await chain.mineEmpty(deep + 1);
      const gone = await shop.until(order.id, ({ received }) => received.length === 0);
      // the node has forgotten the payment, but the order has not
      expect([gone.state, gone.tokenCharge.state]).not.toContain('completed');
      expect(gone.state).toBe('pending');
      await shop.until(order.id, ({ tokenCharge }) => tokenCharge.txid === null);
      const withoutIt = await heldBy(shop);
      for (const [name, amount] of withoutIt) expect([name, amount]).toEqual([name, before.get(name) ?? 0n]);

      await chain.broadcast(paid);
      await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
      await chain.mineMempool();
      await shop.until(order.id, ({ state }) => state === 'completed');
      expect(await heldBy(shop)).toEqual(after);
      // the shop is told each change once: the completed order is pending again, and then completed again
      const again = (await toldTo(order.id)).slice(told.length);
      expect([again[0], again.at(-1), again.filter((each) => each === 'completed 2').length]).toEqual([
        'pending 0',
        'completed 2',
        1,
      ]);
    });

    test('before an order is completed takes a part back, which counts again with its next block', async () => {
      const { chain } = shop.world;
      const order = await orderedAt(shop, rune.name, 2.5);
      const before = await heldBy(shop);
      await shop.send([{ value: 546, outputScript: order.tokenScript, units: [[rune, 100n]] }]);
      await chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 1);
      const after = await heldBy(shop);
      await chain.takeBack(1);
      await chain.mineEmpty(2);
      const gone = await shop.until(order.id, ({ received }) => received.length === 0);
      expect([gone.state, gone.tokenCharge.state]).toEqual(['pending', 'payment_seen']);
      expect((await heldBy(shop)).get(rune.name) ?? 0n).toBe(before.get(rune.name) ?? 0n);
      // the block with the missing part also contains the rest
      await shop.send([
        { value: 546, outputScript: order.tokenScript, units: [[rune, 150n]] },
        { value: 10_000, outputScript: order.feeScript },
      ]);
      await chain.mineMempool();
      await shop.until(order.id, ({ state }) => state === 'completed');
      expect((await heldBy(shop)).get(rune.name)! - after.get(rune.name)!).toBe(150n);
    });
  });
}
