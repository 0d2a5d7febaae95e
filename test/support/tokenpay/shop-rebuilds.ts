import { beforeAll, describe, expect, test } from 'vitest';
import { catchUp } from '#indexer/catch-up/catch-up.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { ensureReaderRights } from '#kernel/pg/reader-role.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { TokenRounds, tipsOf } from '#tokenpay/following/follow-token-orders.ts';
import { heldBy, orderedAt } from './account-changes.ts';
import type { EtchedRune, ShopWorld } from './shop-world.ts';

/**
 * Deletes the index of blocks while there are orders of shops, and rebuilds it: without runes, while runes are filled,
 * and with runes. Afterwards the world is followed as before.
 */
export function testRebuiltIndex(started: () => ShopWorld): void {
  describe('an index that is rebuilt', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    let late: EtchedRune;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(1_000_000n, 2);
      late = await shop.etch(1_000_000n, 0);
    });

    /** The state of all shop orders, and the messages to shops. */
    async function standing(): Promise<unknown> {
      const { rows } = await shop.world.database.pool.query<Record<string, string>>(
        `SELECT (SELECT md5(string_agg(b::text, ',' ORDER BY b::text)) FROM service.token_balances AS b) AS balances,
                (SELECT md5(string_agg(c::text, ',' ORDER BY c::text)) FROM service.token_credits AS c) AS credits,
                (SELECT md5(string_agg(r::text, ',' ORDER BY r::text)) FROM service.token_credit_runes AS r) AS runes,
                (SELECT md5(string_agg(concat(id, state), ',' ORDER BY id)) FROM service.token_orders) AS orders,
                (SELECT md5(string_agg(concat(order_id, kind, state), ',' ORDER BY order_id, kind))
                   FROM service.token_charges) AS charges,
                (SELECT count(*) FROM service.ledger_entries) AS entries,
                (SELECT count(*) FROM service.webhooks) AS told`,
      );
      return rows[0];
    }

    /** Checks all waiting orders once, like after a start. */
    async function look(): Promise<void> {
      const client = await shop.world.database.pool.connect();
      try {
        const policy = { confirmations: 1, byRune: shop.confirmations, special: () => [] };
        const { signal } = new AbortController();
        const rounds = new TokenRounds({ client, policy, signal, log: silentLogger() });
        while (await rounds.next(await tipsOf(client)));
      } finally {
        client.release();
      }
    }

    async function fillRunes(): Promise<void> {
      const { bitcoind, database } = shop.world;
      const source = openNodeSource(await connectNode(bitcoind.settings), { firstHeight: genesisHeight });
      try {
        await catchUp({
          source,
          pool: database.pool,
          signal: AbortSignal.timeout(60_000),
          settings: { indexAddresses: true, indexRunes: true, indexSats: false, indexSales: true },
          writer: new WriterActivity(),
          endsCaughtUp: true,
        });
      } finally {
        await source.close();
      }
    }

    test('changes no balance, sends no message twice, and credits waiting payments once', async () => {
      const { world } = shop;
      const { pool, url, readerUrl } = world.database;
      const webhookUrl = 'https://shop.example/';
      const paid = await orderedAt(shop, rune.name, 2.5, { webhookUrl });
      const aside = await orderedAt(shop, rune.name, 2.5, { webhookUrl });
      const waiting = await orderedAt(shop, late.name, 7, { webhookUrl });
      await shop.send([
        { value: 546, outputScript: paid.tokenScript, units: [[rune, 250n]] },
        { value: 10_000, outputScript: paid.feeScript },
      ]);
      await world.chain.mineMempool();
      const inscribed = await world.chain.inscribe(
        { contentType: 'text/plain', body: 'in a payment' },
        { payments: [{ value: 5_000, outputScript: aside.tokenScript }] },
      );
      await world.chain.mine(inscribed.transactions);
      await shop.until(paid.id, ({ state }) => state === 'completed');
      await shop.until(aside.id, ({ received }) => received.length === 1);
      const name = parseSpacedRune(late.name)!.rune;
      shop.confirmations.set(name, 100);
      await shop.send([{ value: 546, outputScript: waiting.tokenScript, units: [[late, 7n]] }]);
      await shop.until(waiting.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
      await world.chain.mineMempool();
      await world.indexed();
      await shop.stop();
      await look();
      const before = await standing();
      const held = await heldBy(shop);
      await world.stop();

      await pool.query('DROP SCHEMA chain CASCADE');
      await migrate(url);
      await ensureReaderRights(url, readerUrl);
      shop.confirmations.clear();
      await look();
      expect(await standing()).toEqual(before);

      await world.follow({ indexRunes: false });
      await world.indexed();
      await look();
      expect(await standing()).toEqual(before);
      expect(await auditTokens({ database: pool, looks: 1 })).toEqual([]);
      // orders cannot be made, and the response says why
      expect(await shop.post({ token: rune.name, amount: 1 })).toMatchObject({
        status: 404,
        body: { error: [{ msg: 'this server has no rune index' }] },
      });
      expect((await shop.read(paid.id)).state).toBe('completed');
      await world.stop();

      // the table of runes is configured, but has no block yet
      await world.follow();
      await world.indexed();
      await look();
      expect(await standing()).toEqual(before);
      await fillRunes();
      await look();
      const after = await shop.until(waiting.id, ({ tokenCharge }) => tokenCharge.state === 'completed');
      expect(after.received.map(({ tokens }) => tokens[0]!.amountBase)).toEqual(['7']);
      const now = new Map(held).set('BTC', held.get('BTC')! + 546n);
      expect(await heldBy(shop)).toEqual(now.set(late.name, (held.get(late.name) ?? 0n) + 7n));
      const { rows } = await pool.query<{ subject: string; told: number }>(
        `SELECT subject, count(*)::integer AS told FROM service.webhooks WHERE subject = ANY($1) GROUP BY subject`,
        [[paid, aside, waiting].map(({ id }) => `token ${id}`)],
      );
      const told = new Map(rows.map((row) => [row.subject, row.told]));
      expect(told.get(`token ${waiting.id}`)).toBe(2);
      expect(await auditTokens({ database: pool })).toEqual([]);
      const settled = await standing();
      await look();
      expect(await standing()).toEqual(settled);
      shop.follow();
    });
  });
}
