import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { asU128, maxU128 } from '#kernel/runes/u128.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { changesOf, orderedAt } from './account-changes.ts';
import type { EtchedRune, PaidOutput, ShopOrder, ShopWorld } from './shop-world.ts';

const plain: Runestone = { kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null };
const idOf = ({ id }: EtchedRune) => ({ block: asU128(id.block), tx: id.tx });
const isCompleted = ({ state }: ShopOrder): boolean => state === 'completed';

/** Tests payments of runes without an edict, and amounts of any size. */
export function testShopPayments(started: () => ShopWorld): void {
  describe('a payment', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    let other: EtchedRune;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(1_000_000n, 0);
      other = await shop.etch(1_000_000n, 0);
    });

    /** Makes an output that is in a block and has these units and no other runes. */
    async function holding(amount: bigint, value = 20_000): Promise<Coin> {
      const sent = await shop.send([{ value, units: [[rune, amount]] }]);
      await shop.world.chain.mineMempool();
      return sent.coin(1);
    }
    const received = (id: string, count: number): Promise<ShopOrder> =>
      shop.until(id, (order) => order.received.length === count);

    test('of a rune whose name begins equally completes nothing', async () => {
      expect(other.name.replaceAll('•', '').slice(0, 12)).toBe(rune.name.replaceAll('•', '').slice(0, 12));
      const order = await orderedAt(shop, rune.name, 5);
      const gained = await changesOf(shop, async () => {
        await shop.send([
          { value: 600, outputScript: order.tokenScript, units: [[other, 5n]] },
          { value: 10_000, outputScript: order.feeScript },
        ]);
        await shop.world.chain.mineMempool();
        await received(order.id, 2);
      });
      expect([(await shop.read(order.id)).tokenCharge.state, gained]).toEqual([
        'pending_payment',
        { BTC: 1_600n, [other.name]: 5n },
      ]);
    });

    test('by the pointer, and one that is split over the charges of two orders, complete them', async () => {
      const [first, second, third] = [
        await orderedAt(shop, rune.name, 5),
        await orderedAt(shop, rune.name, 3),
        await orderedAt(shop, rune.name, 2),
      ];
      const [toPoint, toSplit] = [await holding(5n), await holding(5n)];
      const gained = await changesOf(shop, async () => {
        await shop.world.chain.mine([
          transaction(
            [toPoint],
            [
              { value: 9_000 },
              { value: 600, outputScript: first.tokenScript },
              { value: 0, outputScript: encipher({ ...plain, pointer: 1 }) },
            ],
          ),
          transaction(
            [toSplit],
            [
              { value: 700, outputScript: second.tokenScript },
              {
                value: 0,
                outputScript: encipher({
                  ...plain,
                  edicts: [{ id: idOf(rune), amount: asU128(0), output: 3 }],
                }),
              },
              { value: 800, outputScript: third.tokenScript },
            ],
          ),
        ]);
        for (const { id } of [first, second, third])
          await shop.until(id, ({ tokenCharge }) => tokenCharge.state === 'completed');
      });
      expect(gained).toEqual({ BTC: 2_100n, [rune.name]: 10n });
    });

    test('by an etching, and of a rune that its block etched, is credited under the new names', async () => {
      const order = await orderedAt(shop, rune.name, 5);
      const { chain } = shop.world;
      const [first, second] = [await chain.coin(), await chain.coin()];
      const paying = transaction(
        [first],
        [
          { value: 0, outputScript: premined(77, 1) },
          { value: 600, outputScript: order.tokenScript },
          { value: first.value - 20_000 },
        ],
      );
      const etching = transaction(
        [second],
        [{ value: 10_000 }, { value: 0, outputScript: premined(55) }, { value: second.value - 30_000 }],
      );
      const moving = transaction([etching.coin(0)], [{ value: 700, outputScript: order.tokenScript }]);
      const gained = await changesOf(shop, async () => {
        await chain.mine([paying, etching, moving]);
        await received(order.id, 2);
      });
      const { tokenCharge, received: came } = await shop.read(order.id);
      const units = came.map(({ tokens }) => tokens.map(({ amountBase }) => amountBase).join()).toSorted();
      expect([tokenCharge.state, units]).toEqual(['pending_payment', ['55', '77']]);
      expect(Object.keys(gained)).toHaveLength(3);
      expect(gained).toMatchObject({ BTC: 1_300n });
      expect(gained[rune.name]).toBeUndefined();
    });

    test('by mints is credited only up to the cap', async () => {
      const terms = {
        amount: asU128(100),
        cap: asU128(1),
        heightStart: null,
        heightEnd: null,
        offsetStart: null,
        offsetEnd: null,
      };
      const minted = await shop.etch(1n, 0, terms);
      const order = await orderedAt(shop, minted.name, 101);
      const outputScript = encipher({ ...plain, mint: idOf(minted), pointer: 0 });
      const mints = [await shop.world.chain.coin(), await shop.world.chain.coin()].map((coin) =>
        transaction(
          [coin],
          [
            { value: 600, outputScript: order.tokenScript },
            { value: coin.value - 20_000 },
            { value: 0, outputScript },
          ],
        ),
      );
      const gained = await changesOf(shop, async () => {
        await shop.world.chain.mine(mints);
        await received(order.id, 2);
      });
      expect(gained).toEqual({ BTC: 1_200n, [minted.name]: 100n });
      expect((await shop.read(order.id)).tokenCharge.state).toBe('payment_seen');
    });

    test('of the token that is replaced after it was seen credits nothing', async () => {
      const order = await orderedAt(shop, rune.name, 5);
      const coin = await holding(5n);
      const paying = transaction(
        [coin],
        [{ value: 600, outputScript: order.tokenScript }, { value: 18_000 }],
      );
      const replacing = transaction([coin], [{ value: 600 }, { value: 10_000 }]);
      const gained = await changesOf(shop, async () => {
        await shop.world.chain.broadcast(paying);
        await shop.until(order.id, ({ tokenCharge }) => tokenCharge.txid === paying.txid);
        await shop.world.chain.broadcast(replacing);
        await shop.until(order.id, ({ tokenCharge }) => tokenCharge.txid === null);
        await shop.world.chain.mineMempool();
        await shop.world.indexed();
      });
      expect([gained, (await shop.read(order.id)).tokenCharge.state]).toEqual([{}, 'pending_payment']);
    });

    test('that is credited while its order is read is answered as before, or as after', async () => {
      const { pool } = shop.world.database;
      const order = await orderedAt(shop, rune.name, 5);
      await shop.send([{ value: 600, outputScript: order.tokenScript, units: [[rune, 1n]] }]);
      await shop.world.chain.mineMempool();
      await received(order.id, 1);
      await shop.stop();
      // changes the order and the credits in one transaction, like the process that credits; a request must wait for it
      const change = async (tx: pg.ClientBase, sats: number, description: string | null): Promise<void> => {
        await tx.query('UPDATE service.token_orders SET description = $2 WHERE id = $1', [
          order.id,
          description,
        ]);
        await tx.query('UPDATE service.token_credits SET sats = sats + $2 WHERE order_id = $1', [
          order.id,
          sats,
        ]);
      };
      let answered: Promise<object | null> = Promise.resolve(null);
      await withTransaction(pool, async (tx) => {
        await tx.query('LOCK TABLE service.token_credits IN ACCESS EXCLUSIVE MODE');
        answered = shop.shops.read(order.id);
        await shop.world.eventually(async () => {
          const { rowCount } = await pool.query(
            `SELECT FROM pg_locks WHERE relation = 'service.token_credits'::regclass AND NOT granted`,
          );
          return (rowCount ?? 0) > 0;
        });
        await change(tx, 1, 'later');
      });
      expect(await answered).toMatchObject({ description: null, received: [{ sats: 600 }] });
      expect(await shop.shops.read(order.id)).toMatchObject({
        description: 'later',
        received: [{ sats: 601 }],
      });
      await withTransaction(pool, (tx) => change(tx, -1, null));
      shop.follow();
    });

    test('of 1, 2^53 ± 1, 2^64 and 2^128 - 1 is exact, with 0, 8 and 38 decimals, of runes without a symbol', async () => {
      const paid: { readonly of: EtchedRune; readonly amount: bigint; readonly order: ShopOrder }[] = [];
      const outputs: PaidOutput[] = [];
      for (const divisibility of [0, 8, 38]) {
        const whole = await shop.etch(maxU128, divisibility);
        const parts = await shop.etch(2n ** 66n, divisibility);
        for (const zero of ['0', '0.0', '0e-3', '-0'])
          expect([zero, (await shop.post(`{"token":"${whole.name}","amount":"${zero}"}`)).status]).toEqual([
            zero,
            400,
          ]);
        const asked = [1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 64n].map((amount) => ({
          of: parts,
          amount,
        }));
        for (const { of, amount } of [...asked, { of: whole, amount: maxU128 }]) {
          const order = await orderedAt(shop, of.name, shownAmount(asU128(amount), divisibility));
          expect(order.tokenCharge.amountBase).toBe(String(amount));
          paid.push({ of, amount, order });
          outputs.push(
            { value: 600, outputScript: order.tokenScript, units: [[of, amount]] },
            { value: 10_000, outputScript: order.feeScript },
          );
        }
      }
      await shop.send(outputs);
      await shop.world.chain.mineMempool();
      for (const { amount, order } of paid) {
        const { received: came } = await shop.until(order.id, isCompleted);
        expect(came.flatMap(({ tokens }) => tokens.map(({ amountBase }) => amountBase))).toEqual([
          String(amount),
        ]);
      }
      const balance = await shop.balance();
      for (const [of, all] of Map.groupBy(paid, (each) => each.of)) {
        const sum = all.reduce((total, { amount }) => total + amount, 0n);
        // all digits are shown, even if a double has fewer
        expect(balance).toContain(`"${of.name}":${shownAmount(asU128(sum), of.divisibility)}`);
      }
      const { rows } = await shop.world.database.pool.query(
        'SELECT FROM chain.runes WHERE symbol IS NOT NULL',
      );
      expect(rows).toEqual([]);
    });
  });
}
