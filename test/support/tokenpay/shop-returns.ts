import { beforeAll, describe, expect, test } from 'vitest';
import type { ListedPayout } from '#payouts/payout/payout.store.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { Partners } from '#test/support/orders/partners.ts';
import { runCommand } from '#test/support/run-command.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { type OpenShopOrder, orderedAt } from './account-changes.ts';
import type { EtchedRune, ShopWorld } from './shop-world.ts';

const reason = ['--reason', 'Its customer asked for it.', '--by', 'bob'] as const;

/** Commands of the operator of a world. */
function commandsOf({ world }: ShopWorld) {
  const settings = {
    ...world.database.settings,
    BITCOIN_RPC_URL: world.bitcoind.rpcUrl,
    BITCOIN_COOKIE_FILE: world.bitcoind.cookieFile,
    PAYOUT_CONFIRMATIONS: '3',
  };
  const run = (...words: string[]): Promise<string> => runCommand(words, settings);
  const payout = async (...words: string[]): Promise<ListedPayout> =>
    (JSON.parse(await run(...words, '--json')) as ListedPayout[])[0]!;
  return {
    run,
    payout,
    sendAway: (output: string, to: string, ...words: string[]) =>
      payout('tokenpay', 'return', output, '--to', to, ...reason, ...words),
    decisionOf: async (output: string): Promise<unknown> => {
      const orders = JSON.parse(await run('tokenpay', 'orders', '--aside', '--json')) as {
        received: { output: string; decision: unknown }[];
      }[];
      return orders.flatMap(({ received }) => received).find((each) => each.output === output)!.decision;
    },
  };
}

/** Pays from a coinbase, whose first sat is uncommon, and optionally from a coin with units of runes. */
async function payUncommon(
  shop: ShopWorld,
  { id }: OpenShopOrder,
  outputScript: Uint8Array,
  units: readonly (readonly [EtchedRune, bigint])[] = [],
): Promise<string> {
  const { chain } = shop.world;
  const coin = await chain.coin();
  const coins = [coin];
  if (units.length > 0) {
    const sent = await shop.send([{ value: 1_000, units }]);
    await chain.mineMempool();
    coins.push(sent.coin(1));
  }
  // without a runestone, all runes go to the first output
  const paying = transaction(coins, [{ value: 6_000, outputScript }, { value: coin.value - 20_000 }]);
  await chain.mine([paying]);
  await shop.until(id, ({ received }) => received.length === 1);
  return `${paying.txid}:0`;
}

/** Tests returns that wait for a coin of the service to pay for them, and wrong returns. */
export function testWaitingReturns(started: () => ShopWorld): void {
  describe('a return that no coin pays for', () => {
    test('waits and reserves nothing, is cancelled, and is made once there is a coin', async () => {
      const shop = started();
      const { database, wallet, chain } = shop.world;
      const commands = commandsOf(shop);
      const rune = await shop.etch(1_000n, 0);
      const order = await orderedAt(shop, rune.name, 5);
      const output = await payUncommon(shop, order, order.tokenScript);
      const to = addressOf(820);

      const foreign = commands.sendAway(output, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
      await expect(foreign).rejects.toThrow(/belongs to another network, and the wallet is of regtest$/u);
      await expect(commands.sendAway(output, 'bcrt1qnothing')).rejects.toMatchObject({ name: 'UsageError' });
      for (const own of [wallet.ownAddress(0).address, order.tokenCharge.address])
        await expect(commands.sendAway(output, own)).rejects.toMatchObject({ code: 'destination_own' });
      // tests run in any order, so others may have funded the service
      await database.pool.query(`UPDATE service.wallet_coins SET aside = 'runic' WHERE held = 'free'`);
      expect(await commands.run('tokenpay', 'return', output, '--to', to, ...reason, '--dry-run')).toContain(
        'the return would wait for a coin that pays the fee',
      );
      const asked = await commands.sendAway(output, to);
      expect(asked).toMatchObject({
        kind: 'return',
        state: 'asked',
        txid: null,
        stuck: expect.stringMatching(
          /^No coin is free for \d+ sats of the payout\. Add a coin \(satscribe wallet fund/u,
        ) as string,
      });
      const signed = async (): Promise<number> => {
        const { rowCount } = await database.pool.query(
          'SELECT FROM service.wallet_transactions WHERE payout_id = $1',
          [asked.id],
        );
        return rowCount ?? 0;
      };
      expect(await signed()).toBe(0);
      // the output was returned already
      for (const words of [
        ['return', output, '--to', to],
        ['credit', output],
      ])
        await expect(commands.run('tokenpay', ...words, ...reason)).rejects.toMatchObject({
          code: 'tokenpay_refuses',
          message: expect.stringMatching(
            new RegExp(`was returned by bob at .* with the payout ${asked.id}: `, 'u'),
          ) as string,
        });
      expect((await commands.payout('payouts', 'cancel', asked.id)).state).toBe('cancelled');
      expect(await commands.decisionOf(output)).toBeNull();
      expect(await signed()).toBe(0);

      await database.pool.query(`UPDATE service.wallet_coins SET aside = NULL WHERE aside = 'runic'`);
      await new Partners(shop.world, 830).fund(50_000);
      const sent = await commands.sendAway(output, to);
      expect(sent).toMatchObject({ kind: 'return', state: 'sent', sats: 6_000, stuck: null });
      await expect(commands.run('payouts', 'cancel', sent.id)).rejects.toMatchObject({
        code: 'payouts_refuses',
        message: expect.stringContaining('was signed') as string,
      });
      await chain.mineMempool();
      await shop.world.indexed();
      expect(await chain.unspentOf(820)).toBe(6_000);
      expect(await auditTokens({ database: database.pool })).toEqual([]);
    });
  });
}

/** Tests returns that wait for a block while fees rise. Afterwards the node's estimate is much higher. */
export function testReplacedReturns(started: () => ShopWorld): void {
  describe('a return of an output with runes at the address of a fee', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(1_000n, 0);
    });

    test('pays more while it waits, and burns nothing', async () => {
      const { world } = shop;
      const { pool } = world.database;
      const commands = commandsOf(shop);
      await new Partners(world, 840).fund(60_000);
      const order = await orderedAt(shop, rune.name, 5);
      const output = await payUncommon(shop, order, order.feeScript, [[rune, 5n]]);
      const burns = async (): Promise<number> =>
        (await pool.query('SELECT FROM chain.rune_burns')).rowCount ?? 0;
      const before = await burns();
      const bumps = async (afterMs: number): Promise<void> => {
        await world.stop();
        world.bumps = { ...world.bumps, afterMs };
        await world.follow();
      };
      const { afterMs } = world.bumps;
      await bumps(0);
      const to = addressOf(821);
      const first = await commands.sendAway(output, to, '--fee-rate', '2');
      expect(first).toMatchObject({ state: 'sent', sats: 6_000 });
      await world.raiseFees(20);
      const payouts = async (): Promise<ListedPayout> => {
        const all = JSON.parse(await commands.run('payouts', 'list', '--json')) as ListedPayout[];
        return all.find(({ id }) => id === first.id)!;
      };
      const next = await world.eventually(async () => {
        const found = await payouts();
        return found.state === 'sent' && found.txid !== first.txid && found;
      });
      expect([next.fee! > first.fee!, next.shares]).toEqual([true, first.shares]);
      expect(await auditTokens({ database: pool })).toEqual([]);
      await world.eventually(async () => {
        await world.chain.mineMempool();
        return (await payouts()).state === 'mined';
      });
      await world.indexed();
      const { rows } = await pool.query<{ amount: string }>(
        'SELECT amount::text FROM chain.rune_balances WHERE script = $1 AND spent_height IS NULL',
        [Buffer.from(scriptOf(821))],
      );
      expect([rows, await burns()]).toEqual([[{ amount: '5' }], before]);
      expect(await world.chain.unspentOf(821)).toBe(6_000);
      expect(await auditTokens({ database: pool })).toEqual([]);
      const { payouts: differences, funds } = await world.audit();
      expect([differences, funds]).toEqual([[], []]);
      await bumps(afterMs);
    });
  });
}
