import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dropService } from '#backups/service-catalog.queries.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { rowsByTable, sequencesOf, withoutIndices } from '#test/support/backups/machine.ts';
import { released } from '#test/support/backups/release.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { runCommand } from '#test/support/run-command.ts';
import { ShopWithdrawals } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';

const runMs = 600_000;

/** Rows without uses of keys, which the app counts in the background. */
async function keptRows(pool: pg.Pool): Promise<Record<string, readonly string[]>> {
  const { keys: _, key_usage: __, ...others } = withoutIndices(await rowsByTable(pool));
  return others;
}

describe.skipIf(bitcoindForTests() === null)('balances and withdrawals in every state', () => {
  let shop: ShopWorld;
  let its: ShopWithdrawals;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    its = new ShopWithdrawals(shop, await shop.etch(2n ** 120n, 0));
    await its.earn(1_000n, 200_000);
  }, runMs);
  afterAll(() => shop?.close());

  test(
    'are lost and restored from a backup: rows are equal, each withdrawal is paid once, and the audit agrees',
    async () => {
      const { world } = shop;
      const { pool } = world.database;
      const completed = await its.asked(its.bitcoin(20_000, addressOf(801)));
      await its.mined(completed.id);
      const sent = await its.asked(its.units(100, addressOf(802)));
      await its.until(sent.id, 'processing');
      await world.stop();
      await shop.stop();
      const pending = await its.asked(its.units(50, addressOf(803)));
      const held = await its.held();
      await world.endReleases();
      await shop.storeUses();

      const dir = join(world.dir, 'backup');
      const secret = join(world.dir, 'secret');
      await writeFile(secret, Buffer.alloc(32, 7), { mode: 0o600 });
      const { rpcUrl, cookieFile } = world.bitcoind;
      const env = {
        ...world.database.settings,
        BITCOIN_RPC_URL: rpcUrl,
        BITCOIN_COOKIE_FILE: cookieFile,
        WALLET_SEED_FILE: world.seedFile,
        FILES_DIR: join(world.dir, 'files'),
        SERVICE_SECRET_FILE: secret,
      };
      const [rows, sequences] = [await keptRows(pool), await sequencesOf(pool)];
      await runCommand(['backup', dir], env);
      const client = await pool.connect();
      await dropService(client).finally(() => client.release());
      await rm(world.seedFile);
      await rm(secret);

      const output = await runCommand(['restore', dir, '--gap', '1000'], env);
      expect(output).toContain('0 payouts and 1 withdrawals were not signed in the backup');
      expect(await keptRows(pool)).toEqual(rows);
      expect(await sequencesOf(pool)).toEqual(sequences);
      expect(await its.held()).toEqual(held);

      await world.release();
      await world.follow();
      shop.follow();
      await its.mined(sent.id);
      await world.indexed();
      // nothing was paid after the backup, so the release makes what waits
      expect(await its.read(pending.id)).toMatchObject({ state: 'pending', txid: null });
      expect(await released(env)).toContain('0 found transactions are booked. 1 payment is made now.');
      await its.mined(pending.id);
      expect(await its.read(completed.id)).toMatchObject({ state: 'completed' });
      await its.audit();
      expect(await world.audit()).toMatchObject({ differing: 0, payouts: [] });
      // a new order has a new address, and is credited
      await its.earn(10n, 30_000);
      await its.audit();
    },
    runMs,
  );
});
