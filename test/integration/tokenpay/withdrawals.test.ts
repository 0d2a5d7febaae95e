import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heldByOwners } from '#purse/ledger/ledger.store.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { runCommand } from '#test/support/run-command.ts';
import { heldBy, orderedAt } from '#test/support/tokenpay/account-changes.ts';
import { testConsolidation } from '#test/support/tokenpay/shop-consolidation.ts';
import { ShopWithdrawals, type ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';

const [address, script] = [addressOf(901), scriptOf(901)];

// balances add up from test to test
describe.skipIf(bitcoindForTests() === null)('a withdrawal', { shuffle: false }, () => {
  let shop: ShopWorld;
  let its: ShopWithdrawals;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    its = new ShopWithdrawals(shop, await shop.etch(1_000_000n, 0));
    await its.earn(1_000n, 60_000);
    await its.earn(500n, 0);
  }, 180_000);
  afterAll(() => shop?.close());

  const held = async () => {
    const all = await heldBy(shop);
    return { sats: all.get('BTC') ?? 0n, units: all.get(its.rune.name) ?? 0n };
  };
  const cancel = (id: string): Promise<string> =>
    runCommand(
      ['tokenpay', 'withdrawals', 'cancel', id, '--reason', 'Its account asked for it.', '--json'],
      shop.world.database.settings,
    );

  test('of BTC and of a rune arrives, costs the price that was shown, and leaves the rest', async () => {
    const before = await held();
    // coins of accounts cover all balances, so bumps, returns and revenue may spend all other coins
    expect([before.sats > 60_000n, await heldByOwners(shop.world.database.pool)]).toEqual([true, 0n]);
    const dry = await its.ask(its.units(700, address, { dryRun: true }));
    expect([dry.status, dry.body]).toEqual([
      200,
      expect.objectContaining({
        dryRun: true,
        price: expect.objectContaining({ postage: 330, payer: 'balance', debt: 0 }) as object,
      }),
    ]);
    expect(await its.reserved()).toBe(0n);

    await shop.world.stop();
    const rune = await its.asked(its.units(700, address, { webhookUrl: 'https://shop.example/' }));
    expect([rune.price.postage, rune.webhookSecretToken?.length]).toEqual([330, 64]);
    const coins = await its.asked(its.bitcoin(20_000, addressOf(902)));
    await shop.world.follow();
    const [sent, also] = [await its.until(rune.id, 'processing'), await its.until(coins.id, 'processing')];
    expect([sent.chainFee, sent.tries]).toEqual([rune.price.chainFee, 1]);
    await its.audit();
    await its.mined(rune.id);
    await its.until(coins.id, 'completed');
    await shop.world.indexed();

    expect([await its.unitsOf(script), await shop.world.chain.unspentOf(901)]).toEqual([700n, 330]);
    expect(await shop.world.chain.unspentOf(902)).toBe(Number(coins.price.receivedBase));
    const after = await held();
    expect([before.units - after.units, before.sats - after.sats]).toEqual([
      700n,
      BigInt(330 + rune.price.chainFee + 20_000),
    ]);
    // both withdrawals are in one transaction
    expect([await its.reserved(), also.txid]).toEqual([0n, sent.txid]);
    expect(await its.read(rune.id, 'account/withdraw')).toEqual(await its.read(rune.id));
    const { rows } = await shop.world.database.pool.query<{ body: Buffer }>(
      'SELECT body FROM service.webhooks WHERE subject = $1 ORDER BY sequence',
      [`withdrawal ${rune.id}`],
    );
    expect(rows.map(({ body }) => (JSON.parse(body.toString()) as ShownWithdrawal).state)).toEqual([
      'processing',
      'completed',
    ]);
    await its.audit();
  });

  test('spends change of earlier ones', async () => {
    const all = await held();
    const rune = await its.asked(its.units(Number(all.units), address));
    const sent = await its.until(rune.id, 'processing');
    await its.mined(rune.id);
    await shop.world.indexed();
    expect([sent.tries, (await held()).units, await its.unitsOf(script)]).toEqual([1, 0n, 1_500n]);
    await its.audit();
  });

  test('is not priced with a coin that an earlier one takes', async () => {
    for (const units of [90n, 20n, 20n, 20n, 20n]) await its.earn(units, 30_000);
    await shop.world.stop();
    const wanted = its.units(75, addressOf(906), { feeRate: 1 });
    const { price } = (await its.ask({ ...wanted, dryRun: true })).body;
    const first = await its.asked(its.units(90, address, { feeRate: 1 }));
    const second = await its.asked(wanted);
    // the second withdrawal spends four outputs of the account (57.5 virtual bytes each), the first one an output and a
    // coin (68) that paid for it
    expect(second.price.chainFee - price.chainFee).toBe(105);
    for (const { id } of [first, second]) await cancel(id);
    // two requests at the same moment get the same price
    const both = await Promise.all([its.asked(wanted), its.asked(wanted)]);
    expect(new Set(both.map((each) => each.price.chainFee))).toEqual(
      new Set([price.chainFee, second.price.chainFee]),
    );
    for (const { id } of both) await cancel(id);
    await shop.world.follow();
  });

  test('is not cancelled while its transaction is being stored', async () => {
    const { pool } = shop.world.database;
    await shop.world.stop();
    const rune = await its.asked(its.units(10, addressOf(908)));
    await pool.query(`CREATE FUNCTION service.wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(380001); RETURN NEW; END $$`);
    await pool.query(`CREATE TRIGGER wait_for_test BEFORE INSERT ON service.wallet_transactions
      FOR EACH ROW EXECUTE FUNCTION service.wait_for_test()`);
    const locked = async (): Promise<number> => {
      const { rows } = await pool.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows[0]?.count ?? 0;
    };
    const holder = await pool.connect();
    await holder.query('SELECT pg_advisory_lock(380001)');
    await shop.world.follow();
    await shop.world.eventually(async () => (await locked()) > 0);
    let isOver = false;
    const cancelled = cancel(rune.id).then(
      () => 'cancelled',
      (error: unknown) => (error as { code: string }).code,
    );
    void cancelled.finally(() => {
      isOver = true;
    });
    await shop.world.eventually(async () => isOver || (await locked()) > 1);
    await holder.query('SELECT pg_advisory_unlock(380001)');
    holder.release();
    expect(await cancelled).toBe('tokenpay_withdrawal_refuses');
    await pool.query('DROP TRIGGER wait_for_test ON service.wallet_transactions');
    await its.mined(rune.id);
    await shop.world.indexed();
    expect([await its.unitsOf(scriptOf(908)), await its.reserved()]).toEqual([10n, 0n]);
    await its.audit();
  });

  test('of the whole balance is made once of two requests, and of fifty halves twice', async () => {
    await its.earn(100n, 50_000);
    await shop.world.stop();
    const { sats, units } = await held();
    const at = (wanted: object, count: number) =>
      Promise.all(Array.from({ length: count }, () => its.ask(wanted)));
    for (const [wanted, count, made] of [
      [its.bitcoin(Number(sats), address), 2, 1],
      [its.bitcoin(Number(sats / 2n), address), 50, 2],
      [its.units(Number(units), address, { feeRate: 1 }), 2, 1],
      [its.units(Number(units / 2n), address, { feeRate: 1 }), 50, 2],
    ] as const) {
      const answers = await at(wanted, count);
      const taken = answers.filter(({ status }) => status === 200);
      expect(taken.length).toBe(made);
      for (const { status, body } of answers.filter((each) => each.status !== 200))
        expect([status, body]).toEqual([
          400,
          {
            success: false,
            message: 'user does not have a balance for this token',
            error: [{ msg: expect.stringMatching(/missing: |meanwhile/u) as string }],
          },
        ]);
      for (const { body } of taken) await cancel(body.id);
      expect(await its.reserved()).toBe(0n);
    }
    expect(await held()).toEqual({ sats, units });
    await its.audit();
    await shop.world.follow();
  });

  test('of runes by an account without BTC is a debt, up to a bound', async () => {
    await shop.world.stop();
    const { sats, units } = await held();
    const all = await its.asked(its.bitcoin(Number(sats), address));
    const wanted = its.units(1, addressOf(904));
    shop.withdrawing.debtMax = 0n;
    const { status, body } = await its.ask(wanted);
    shop.withdrawing.debtMax = 10_000n;
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringMatching(/the account lacks \d+ of these sats, beyond a debt of at most 0/u),
    ]);
    const { price } = (await its.ask({ ...wanted, dryRun: true })).body;
    const rune = await its.asked(wanted);
    expect([price.debt, price.chainFee]).toEqual([330 + rune.price.chainFee, rune.price.chainFee]);
    await shop.world.follow();
    await its.mined(all.id);
    await its.mined(rune.id);
    await shop.world.indexed();
    expect(await held()).toEqual({ sats: BigInt(-price.debt!), units: units - 1n });
    expect(await its.unitsOf(scriptOf(904))).toBe(1n);
    await its.audit();
    await its.earn(50n, 50_000);
  });

  test('that is invalid moves nothing, and says what is wrong with it', async () => {
    const before = await held();
    const sats = Number(before.sats);
    const own = (await orderedAt(shop, its.rune.name, 1)).tokenCharge.address;
    const { key: stranger } = await giveKey(shop.world.database.pool, { scopes: ['tokenpay'], rate: '0' });
    const faultsOf = async (fields: object): Promise<[number, string]> => {
      const { status, body } = await its.ask(fields);
      const { error, message } = body as unknown as { error?: { msg: string }[]; message?: string };
      return [status, [message ?? [], error?.map(({ msg }) => msg) ?? []].flat().join(' ')];
    };
    for (const [fields, words] of [
      [{}, /protocol is required.*token is required.*amount is required.*address is required/u],
      [its.bitcoin(1_000, address, { protocol: 'ether' }), /protocol must be one of bitcoin, rune/u],
      [its.bitcoin(1_000, address, { token: 'DOGE' }), /token must be BTC/u],
      [its.bitcoin(1_000, address, { protocol: 'rune' }), /protocol must be bitcoin for the token BTC/u],
      [its.units(1.5, address), /amount has more than 0 decimals/u],
      [its.units(0, address), /amount must be above 0/u],
      [its.units(-1, address), /amount must be/u],
      [its.units(1, address, { token: its.rune.name.toLowerCase() }), /token is not the name of a rune/u],
      [
        its.units(1, address, { token: 'NOT•ETCHED•AT•ALL' }),
        /no block has etched a rune NOT•ETCHED•AT•ALL/u,
      ],
      [its.units(10_000_000, address), /does not have a balance for this token.*missing: \d+ AAA/u],
      [its.bitcoin(100_000_000, address), /available to withdraw: 0.\d+ BTC; missing: 0.\d+ BTC/u],
      [its.bitcoin(sats, address, { feeFrom: 'balance' }), /at most 0.\d+ BTC are left/u],
      [its.bitcoin(400, address), /amount leaves \d+ sats|amount leaves -?\d+ sats/u],
      [its.units(1, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'), /belongs to another network/u],
      [its.units(1, 'nonsense'), /is not a Bitcoin address/u],
      [its.units(1, own), /is an address of this service/u],
      [its.units(1, address, { feeRate: 0.05 }), /feeRate must be/u],
      [its.units(1, address, { feeRate: 1e9 }), /feeRate must be/u],
      [its.units(1, address, { feeRate: 5_000 }), /feeRate must be at most 200/u],
      [its.units(1, address, { feeFrom: 'you' }), /feeFrom must be one of/u],
      [its.units(1, address, { webhookUrl: {} }), /webhookUrl must be a text/u],
    ] as const) {
      const [status, said] = await faultsOf(fields);
      expect([status, said, JSON.stringify(fields)]).toEqual([
        400,
        expect.stringMatching(words),
        JSON.stringify(fields),
      ]);
    }
    const forbidden = await its.ask(its.units(1, address), { 'x-api-key': stranger });
    expect(forbidden.status).toBe(403);
    const some = await its.asked(its.units(1, address));
    const foreign = await shop.app.inject({
      url: `/tokenpay/user/withdrawal/${some.id}`,
      headers: { 'x-api-key': stranger },
    });
    expect([foreign.statusCode, foreign.json()]).toEqual([404, { error: [{ msg: 'withdrawal not found' }] }]);
    await its.until(some.id, 'processing');
    await expect(cancel(some.id)).rejects.toMatchObject({ code: 'tokenpay_withdrawal_refuses' });
    await its.mined(some.id);
    expect(before.units - (await held()).units).toBe(1n);
  });

  test('goes only to listed addresses, if its account lists some', async () => {
    const addresses = (...words: string[]): Promise<string> =>
      runCommand(
        ['tokenpay', 'addresses', '--account', shop.account, ...words],
        shop.world.database.settings,
      );
    expect(await addresses('--allow', addressOf(903))).toContain(addressOf(903));
    const refused = await its.ask(its.units(1, address, { dryRun: true }));
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('does not have this address in its list of withdrawal addresses') as string,
    ]);
    expect((await its.ask(its.units(1, addressOf(903), { dryRun: true }))).status).toBe(200);
    await shop.world.stop();
    const kept = await its.asked(its.units(2, addressOf(903)));
    await addresses('--allow', addressOf(909));
    await addresses('--forbid', addressOf(903));
    const other = await its.asked(its.units(3, addressOf(909)));
    await shop.world.follow();
    // the withdrawal waits alone, and does not stop others
    await its.mined(other.id);
    const waiting = await shop.world.eventually(async () => {
      const found = await its.read(kept.id);
      return found.reason !== null && found;
    });
    expect([waiting.state, waiting.txid, waiting.reason]).toEqual([
      'pending',
      null,
      expect.stringContaining('is no longer in the list of the account'),
    ]);
    await expect(addresses('--forbid', addressOf(909))).rejects.toThrow(/last address.*--any/u);
    expect(await addresses('--forbid', addressOf(909), '--any')).toContain(
      'no account has withdrawal addresses',
    );
    await shop.world.chain.mineEmpty(1);
    await its.mined(kept.id);
    await its.audit();
  });

  test('is sent by the next process, and again after a reorganisation, with the same inputs', async () => {
    const { chain } = shop.world;
    await its.earn(50n, 30_000);
    await shop.world.stop();
    const rune = await its.asked(its.units(40, address));
    await shop.world.follow();
    const sent = await its.until(rune.id, 'processing');
    const done = await its.mined(rune.id);
    const after = await held();
    await chain.mineEmpty(11);
    await chain.takeBack(12);
    await chain.mineEmpty(13);
    const again = await its.until(rune.id, 'processing');
    expect([again.txid, again.tries, (await held()).units - after.units]).toEqual([sent.txid, 1, 40n]);
    await its.audit();
    expect([(await its.mined(rune.id)).txid, await held()]).toEqual([done.txid, after]);
    await shop.world.indexed();
    await its.audit();
  });

  test('waits while the payment that brought its runes is taken back, and is sent once that is mined again', async () => {
    const { chain } = shop.world;
    const all = await its.asked(its.units(Number((await held()).units), address));
    await its.mined(all.id);
    await its.earn(60n, 30_000);
    await shop.world.stop();
    const rune = await its.asked(its.units(60, addressOf(905)));
    await chain.takeBack(1);
    await chain.mineEmpty(2);
    await shop.world.follow();
    const waiting = await shop.world.eventually(async () => {
      const found = await its.read(rune.id);
      return found.reason !== null && (await held()).units === 0n && found;
    });
    expect([waiting.state, waiting.txid, await its.reserved()]).toEqual([
      'pending',
      null,
      BigInt(60 + 330 + rune.price.chainFee),
    ]);
    await its.audit();
    // units that the withdrawal reserves are missing, so nothing else can be withdrawn
    expect((await its.ask(its.units(1, address))).status).toBe(400);
    await chain.mineMempool();
    expect((await its.mined(rune.id)).reason).toBeNull();
    await shop.world.indexed();
    expect([await its.unitsOf(scriptOf(905)), (await held()).units]).toEqual([60n, 0n]);
    await its.audit();
  });

  test('that its account no longer covers waits, and an older one that it covers is sent', async () => {
    const { chain, database } = shop.world;
    await its.earn(100n, 30_000);
    await shop.world.stop();
    const older = await its.asked(its.units(30, addressOf(910)));
    const newer = await its.asked(its.units(70, addressOf(911)));
    // a reorganisation took back a part of the earlier payments
    const take = (units: number) =>
      database.pool.query(
        'UPDATE service.token_balances SET amount = amount - $2 WHERE account = $1 AND asset <> 0',
        [shop.account, units],
      );
    await take(1);
    await shop.world.follow();
    await its.until(older.id, 'processing');
    const waiting = await shop.world.eventually(async () => {
      const found = await its.read(newer.id);
      return found.reason !== null && found;
    });
    expect([waiting.state, waiting.txid, waiting.reason]).toEqual([
      'pending',
      null,
      expect.stringContaining('has less than its withdrawals need'),
    ]);
    await take(-1);
    await its.mined(older.id);
    await chain.mineEmpty(1);
    await its.mined(newer.id);
    await shop.world.indexed();
    expect([await its.unitsOf(scriptOf(910)), await its.unitsOf(scriptOf(911))]).toEqual([30n, 70n]);
    await its.audit();
  });

  test('is replaced by a transaction that pays more, at no cost for its account, within a bound', async () => {
    const { world } = shop;
    await its.earn(10n, 50_000);
    const follow = async (afterMs: number, bumpMax: bigint): Promise<void> => {
      await world.stop();
      world.bumps = { ...world.bumps, afterMs };
      world.withdrawals = { ...world.withdrawals, bumpMax };
      await world.follow();
    };
    const { bumps, withdrawals } = world;
    await follow(0, 0n);
    const rune = await its.asked(its.units(10, addressOf(906)));
    const first = await its.until(rune.id, 'processing');
    const before = await held();
    const wanted = its.bitcoin(1_000, addressOf(907), { feeRate: 1 });
    const asked = await its.asked(wanted);
    await its.until(asked.id, 'processing');
    await world.raiseFees(20);
    // at a rate that is low now, the transaction would block coins of other accounts for days
    const low = await its.ask({ ...wanted, dryRun: true });
    expect([low.status, JSON.stringify(low.body)]).toEqual([
      400,
      expect.stringContaining('spends only outputs that were paid to the account itself') as string,
    ]);
    expect((await its.read(rune.id)).txid).toBe(first.txid);
    await follow(0, 20_000n);
    const next = await world.eventually(async () => {
      const found = await its.read(rune.id);
      return found.txid !== first.txid && found;
    });
    expect([next.state, next.tries, next.price]).toEqual(['processing', 2, rune.price]);
    // a rate that an account requested does not change
    expect((await its.until(asked.id, 'processing')).tries).toBe(1);
    await its.mined(rune.id);
    await its.mined(asked.id);
    await world.indexed();
    const after = await held();
    expect([before.units - after.units, before.sats - after.sats]).toEqual([
      10n,
      BigInt(330 + rune.price.chainFee + 1_000),
    ]);
    expect(await its.unitsOf(scriptOf(906))).toBe(10n);
    await its.audit();
    await follow(bumps.afterMs, withdrawals.bumpMax);
  });

  // this test comes last, because its payment raises the fee estimate of the node
  test('of BTC spends sats beneath runes of its account', async () => {
    const order = await orderedAt(shop, its.rune.name, 5);
    await shop.send([
      { value: 500_000, outputScript: order.tokenScript, units: [[its.rune, 5n]] },
      { value: 10_000, outputScript: order.feeScript },
    ]);
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
    const { units } = await held();
    const coins = await its.asked(its.bitcoin(480_000, addressOf(912)));
    await its.mined(coins.id);
    await shop.world.indexed();
    expect([await shop.world.chain.unspentOf(912), (await held()).units]).toEqual([
      Number(coins.price.receivedBase),
      units,
    ]);
    await its.audit();
  });

  test('that was priced before fees rose waits alone', async () => {
    const { world } = shop;
    // one coin for each withdrawal
    await its.earn(10n, 200_000);
    await its.earn(10n, 200_000);
    const { withdrawals } = world;
    await world.stop();
    const before = await its.asked(its.bitcoin(60_000, addressOf(913), { feeRate: 180 }));
    // the fee is a part of the withdrawn sats, so the reserved sats stay the same
    expect(before.price.payer).toBe('withdrawal');
    await world.database.pool.query('UPDATE service.withdrawals SET fee = 50 WHERE id = $1', [before.id]);
    const later = await its.asked(its.bitcoin(60_000, addressOf(914), { feeRate: 180 }));
    // together the withdrawals cost 35,640 sats with one coin, but their prices sum up to 29,750
    world.withdrawals = { ...withdrawals, bumpMax: 3_000n };
    await world.follow();
    await its.until(later.id, 'processing');
    await its.mined(later.id);
    const waiting = await world.eventually(async () => {
      const found = await its.read(before.id);
      return found.reason !== null && found;
    });
    expect([waiting.state, waiting.reason]).toEqual([
      'pending',
      expect.stringContaining('now costs more than the prices of its withdrawals'),
    ]);
    // once its price covers the cost, the withdrawal is sent
    await world.stop();
    await world.database.pool.query('UPDATE service.withdrawals SET fee = 30000 WHERE id = $1', [before.id]);
    world.withdrawals = withdrawals;
    await world.follow();
    await world.chain.mineEmpty(1);
    await its.mined(before.id);
    await its.audit();
  });

  // this test comes last, because its blocks change the fee estimate of the node
  testConsolidation(() => its);
});
