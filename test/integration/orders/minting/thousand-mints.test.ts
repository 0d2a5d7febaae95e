import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asU128 } from '#kernel/runes/u128.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { minterOwner, RuneOrders } from '#test/support/orders/rune-orders.ts';

const runMs = 600_000;

describe.skipIf(bitcoindForTests() === null)('a thousand mints of one order', { tags: ['proof'] }, () => {
  let service: OrderService;
  let runes: RuneOrders;
  beforeAll(async () => {
    service = await OrderService.start({ INDEX_RUNES: 'true' });
    runes = new RuneOrders(service);
  }, runMs);
  afterAll(() => service?.close());

  test(
    'are all executed, and use the cap to the last one',
    async () => {
      const { entry } = await runes.etch({ cap: asU128(1000n) });
      const made = await runes.order(entry.spaced_rune, 1000, { lowPostage: true });
      await runes.payMined(made);
      await runes.until(made.id, ({ mintingTxs }) => mintingTxs.length > 20);
      await service.chain.mineMempool();
      const { mintingTxs } = await runes.until(made.id, (shown) => shown.mintingTxs.length === 1000);
      await service.eventually(async () => {
        const { size } = await service.bitcoind.rpc.call<{ size: number }>('getmempoolinfo');
        return size >= 1000 - 70;
      });
      await service.chain.mineMempool();
      const done = await runes.untilState(made.id, 'completed');
      expect(done).toMatchObject({ executedMints: 1000, failedMints: [], refundedMints: 0, mintingTxs });
      expect((await runes.rune(entry.spaced_rune)).entry.mints).toBe(1000);
      expect(await runes.unitsOf(minterOwner, entry.spaced_rune)).toBe('5000');
      expect(await runes.refusal(entry.spaced_rune, 1)).toMatch(/^rune: All 1000 mints of /u);
      expect(await runes.differences()).toEqual([]);
    },
    runMs,
  );
});
