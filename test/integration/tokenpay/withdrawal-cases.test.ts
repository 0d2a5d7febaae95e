import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { rememberedBlocks } from '#payments/store/offset.store.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ShopWithdrawals } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';

/** Maximum size of an OP_RETURN script that Bitcoin Core before 30 and Knots relay, in bytes. */
const carrierBytes = 83;
/** The dust limit of each type of address, at 3 sat/vB (Bitcoin Core policy.cpp, GetDustThreshold). */
const dustOfTypes = [
  ['p2pkh', 546],
  ['p2sh-p2wpkh', 540],
  ['p2wpkh', 294],
  ['p2wsh', 330],
  ['p2tr', 330],
] as const;

// balances add up from test to test
describe.skipIf(bitcoindForTests() === null)('a withdrawal', { shuffle: false }, () => {
  let shop: ShopWorld;
  let its: ShopWithdrawals;
  beforeAll(async () => {
    shop = await ShopWorld.start(false, 1, { extra: [`-datacarriersize=${carrierBytes}`] });
    its = new ShopWithdrawals(shop, await shop.etch(2n ** 120n, 0));
    await its.earn(1_000n, 60_000);
  }, 180_000);
  afterAll(() => shop?.close());

  const faultOf = async (whose: ShopWithdrawals, fields: object): Promise<[number, string]> => {
    const { status, body } = await whose.ask(fields);
    const { error, message } = body as unknown as { error?: { msg: string }[]; message?: string };
    return [status, error?.map(({ msg }) => msg).join(' ') ?? message ?? ''];
  };
  /** Everything that a withdrawal may change. */
  async function stored(): Promise<unknown> {
    const { rows } = await shop.world.database.pool.query(
      `SELECT (SELECT jsonb_agg(b ORDER BY account, asset) FROM service.token_balances AS b) AS balances,
              (SELECT count(*) FROM service.withdrawals) AS withdrawals, (SELECT count(*) FROM service.payouts) AS payouts,
              (SELECT count(*) FROM service.ledger_entries) AS entries,
              (SELECT count(*) FROM service.wallet_transactions) AS transactions`,
    );
    return rows;
  }
  const refuses = async (whose: ShopWithdrawals, fields: object, words: RegExp): Promise<void> =>
    expect([...(await faultOf(whose, fields)), JSON.stringify(fields)]).toEqual([
      400,
      expect.stringMatching(words),
      JSON.stringify(fields),
    ]);
  /** Size of the OP_RETURN script in bytes, and the number of inputs. */
  async function shapeOf(txid: string): Promise<{ readonly stone: number; readonly inputs: number }> {
    const made = await shop.world.chain.rpc.call<{
      vin: unknown[];
      vout: { scriptPubKey: { hex: string; type: string } }[];
    }>('getrawtransaction', [txid, 1]);
    const stone = made.vout.find(({ scriptPubKey }) => scriptPubKey.type === 'nulldata');
    return { stone: (stone?.scriptPubKey.hex.length ?? 0) / 2, inputs: made.vin.length };
  }

  test('to each type of address leaves at least its dust limit, of sats and beneath runes', async () => {
    const { world } = shop;
    const all = dustOfTypes.map(([type, dust], place) => {
      const [coins, runes] = [scriptOf(930 + place, type), scriptOf(940 + place, type)];
      const [to, under] = [coins, runes].map((script) => scriptToAddress(script, networks.regtest)!);
      return { dust, coins, runes, to: to!, under: under! };
    });
    for (const { dust, to, under } of all) {
      const before = await stored();
      await refuses(
        its,
        its.bitcoin(dust - 1, to, { feeFrom: 'balance' }),
        new RegExp(
          `leaves ${dust - 1} sats for the address, but nodes relay at least ${dust} sats to it`,
          'u',
        ),
      );
      expect((await its.ask(its.units(1, under, { dryRun: true }))).body.price.postage).toBe(dust);
      expect(await stored()).toEqual(before);
    }
    await world.stop();
    const ids: string[] = [];
    for (const { dust, to, under } of all) {
      ids.push((await its.asked(its.bitcoin(dust, to, { feeFrom: 'balance' }))).id);
      ids.push((await its.asked(its.units(3, under))).id);
    }
    await world.follow();
    const txids = new Set<string | null>();
    for (const id of ids) txids.add((await its.mined(id)).txid);
    expect(txids.size).toBe(1);
    await world.indexed();
    for (const { dust, coins, runes } of all) {
      const { unspents } = await world.chain.rpc.call<{ unspents: { amount: number }[] }>('scantxoutset', [
        'start',
        [coins, runes].map((script) => `raw(${Buffer.from(script).toString('hex')})`),
      ]);
      expect(unspents.map(({ amount }) => Math.round(amount * 1e8))).toEqual([dust, dust]);
      expect([await its.unitsOf(runes), await its.unitsOf(coins)]).toEqual([3n, 0n]);
    }
    await its.audit();
  });

  test('of many runes is split if the node relays runestones of 83 bytes', async () => {
    const many = await its.ofOther();
    await many.earn(10n ** 33n, 60_000);
    await shop.world.stop();
    const amount = 10n ** 32n;
    const owners = Array.from({ length: 8 }, (_, place) => 950 + place);
    const ids: string[] = [];
    for (const owner of owners)
      ids.push((await many.asked(many.units(1, addressOf(owner), { amount: String(amount) }))).id);
    await shop.world.follow();
    const txids = new Set<string>();
    for (const id of ids) txids.add((await many.mined(id)).txid!);
    expect(txids.size).toBeGreaterThan(1);
    const stones = await Promise.all([...txids].map(async (txid) => (await shapeOf(txid)).stone));
    expect(Math.max(...stones)).toBeLessThanOrEqual(carrierBytes);
    await shop.world.indexed();
    for (const owner of owners) expect(await many.unitsOf(scriptOf(owner))).toBe(amount);
    await its.audit();
  });

  test('costs its account nothing if the operator pays', async () => {
    const before = await its.held();
    shop.withdrawing.feePayer = 'operator';
    await refuses(its, its.units(7, addressOf(960), { feeRate: 2 }), /feeRate must be at most 1 sats/u);
    const rune = await its.asked(its.units(7, addressOf(960)));
    const coins = await its.asked(its.bitcoin(5_000, addressOf(961)));
    shop.withdrawing.feePayer = 'account';
    expect([rune.price.payer, coins.price.payer, coins.price.receivedBase]).toEqual([
      'operator',
      'operator',
      '5000',
    ]);
    for (const { id } of [rune, coins]) await its.mined(id);
    await shop.world.indexed();
    expect(await its.held()).toEqual({ sats: before.sats - 5_000n, units: before.units - 7n });
    expect(await shop.world.chain.unspentOf(961)).toBe(5_000);
    await its.audit();
  });

  test('shares coins that earlier ones left with those of other accounts', async () => {
    const accounts = [await its.ofOther(), await its.ofOther()] as const;
    for (const [place, each] of accounts.entries()) {
      await each.earn(10n, 20_000);
      await each.mined((await each.asked(each.units(4, addressOf(970 + place)))).id);
    }
    const { rows } = await shop.world.database.pool.query(
      `SELECT FROM service.token_orders AS o JOIN service.wallet_coins AS c ON c.subject = o.id
        WHERE o.account = ANY($1) AND NOT c.is_spent`,
      [accounts.map(({ of }) => of.account)],
    );
    // all units of these accounts are in coins without an owner
    expect(rows).toEqual([]);
    await shop.world.stop();
    const asked = await Promise.all(
      accounts.map((each, place) => each.asked(each.units(6, addressOf(972 + place)))),
    );
    await shop.world.follow();
    for (const [place, { id }] of asked.entries()) await accounts[place]!.mined(id);
    await shop.world.indexed();
    for (const [place, each] of accounts.entries()) {
      const cost = asked[place]!.price.chainFee + asked[place]!.price.postage;
      expect([await each.unitsOf(scriptOf(972 + place)), (await each.held()).units]).toEqual([6n, 0n]);
      expect((await each.held()).sats).toBeLessThan(21_546n - BigInt(cost));
    }
    await its.audit();
  });

  test('in debt may take runes up to the largest debt, and names the missing sats beyond it', async () => {
    const poor = await its.ofOther();
    const order = await poor.ordered(50n);
    await shop.send([{ value: 546, outputScript: order.tokenScript, units: [[its.rune, 50n]] }]);
    await shop.world.chain.mineMempool();
    await shop.world.eventually(async () => (await poor.held()).units === 50n);
    await poor.mined((await poor.asked(poor.units(10, addressOf(975)))).id);
    const { sats } = await poor.held();
    expect(sats).toBeLessThan(0n);
    const wanted = poor.units(5, addressOf(976));
    const { debt = 0, chainFee } = (await poor.ask({ ...wanted, dryRun: true })).body.price;
    expect(BigInt(debt)).toBe(330n + BigInt(chainFee) - sats);
    const before = await stored();
    shop.withdrawing.debtMax = BigInt(debt) - 1n;
    await refuses(
      poor,
      wanted,
      new RegExp(`lacks 1 of these sats, beyond a debt of at most ${debt - 1}`, 'u'),
    );
    shop.withdrawing.debtMax = -sats - 1n;
    await refuses(poor, wanted, /the account owes more than it may/u);
    expect(await stored()).toEqual(before);
    shop.withdrawing.debtMax = BigInt(debt);
    await poor.mined((await poor.asked(wanted)).id);
    shop.withdrawing.debtMax = 10_000n;
    await shop.world.indexed();
    expect(await poor.held()).toEqual({ sats: -BigInt(debt), units: 35n });
    await its.audit();
  });

  test('of 500 outputs takes the largest hundred, and says how much they have', async () => {
    const { chain } = shop.world;
    const many = await its.ofOther();
    const { feeScript } = await many.ordered(1n);
    const coin = await chain.coin();
    const outputs = Array.from({ length: 500 }, () => ({ value: 2_000, outputScript: feeScript }));
    await chain.mine([transaction([coin], [...outputs, { value: coin.value - 1_100_000 }])]);
    await shop.world.eventually(async () => (await many.held()).sats === 991_000n);
    const before = await stored();
    await refuses(
      many,
      many.bitcoin(900_000, addressOf(980)),
      /needs more than 100 outputs that were paid to the account\. The largest 100 outputs have only 200000 base units/u,
    );
    expect(await stored()).toEqual(before);
    const done = await many.mined((await many.asked(many.bitcoin(200_000, addressOf(980)))).id);
    expect((await shapeOf(done.txid!)).inputs).toBe(100);
    expect(await chain.unspentOf(980)).toBe(Number(done.price.receivedBase));
    expect((await many.held()).sats).toBe(791_000n);
    await shop.world.indexed();
    await its.audit();
  });

  test("of exactly an output's amount is seen in its block, and watched until that is deep", {
    tags: ['proof'],
  }, async () => {
    const { world } = shop;
    const whole = await its.ofOther();
    const { tokenScript } = await whole.ordered(1n);
    await world.chain.pay(tokenScript, 30_000);
    await world.chain.mineMempool();
    await world.eventually(async () => (await whole.held()).sats === 30_000n);
    const watched = async (payouts: string): Promise<number> => {
      const { rowCount } = await world.database.pool.query(
        'SELECT FROM service.watched_scripts WHERE watcher = $1',
        [`refund payout ${payouts}`],
      );
      return rowCount ?? 0;
    };
    const { id } = await whole.asked(whole.bitcoin(30_000, addressOf(981)));
    const done = await whole.mined(id);
    const { rows } = await world.database.pool.query<{ payout: string }>(
      'SELECT payout FROM service.withdrawals WHERE id = $1',
      [id],
    );
    const { payout } = rows[0]!;
    expect(await watched(payout)).toBe(1);
    await world.chain.mineEmpty(rememberedBlocks + 1);
    await world.eventually(async () => (await watched(payout)) === 0);
    expect([await whole.read(id), await world.chain.unspentOf(981)]).toEqual([
      done,
      Number(done.price.receivedBase),
    ]);
    await world.indexed();
    await its.audit();
  });

  test('that is invalid changes no row', async () => {
    const { wallet, database } = shop.world;
    const to = addressOf(985);
    const order = await its.ordered(1n);
    const { rows } = await database.pool.query<{ script: string }>(
      `SELECT o->>'script' AS script FROM service.wallet_transactions, jsonb_array_elements(plan->'outputs') AS o
        WHERE o->>'kind' = 'change' LIMIT 1`,
    );
    const change = scriptToAddress(Buffer.from(rows[0]!.script, 'hex'), networks.regtest)!;
    const before = await stored();
    for (const own of [
      order.tokenCharge.address,
      order.feeCharge.address,
      change,
      wallet.inventoryAddress(7).address,
    ])
      await refuses(its, its.units(1, own), /is an address of this service/u);
    const named = (token: string): object => its.units(1, to, { token });
    const of = (amount: unknown): object => its.units(1, to, { amount });
    const coins = (amount: unknown): object => its.bitcoin(1, to, { amount });
    const { name, id } = its.rune;
    for (const [fields, words] of [
      [its.units(1, to, { protocol: 'runes' }), /protocol must be one of/u],
      [named(`${name}•`), /token is not the name of a rune/u],
      [named(`•${name}`), /token is not the name of a rune/u],
      [named(`${id.block}:${id.tx}`), /token is not the name of a rune/u],
      [of('1.1'), /amount has more than 0 decimals/u],
      [of(''), /amount/u],
      [of('1,5'), /amount/u],
      [of('0x10'), /amount/u],
      [of(true), /amount/u],
      [of(String(2n ** 128n)), /amount/u],
      [of(String(2n ** 128n - 1n)), /available to withdraw: .*; missing: /u],
      [coins(0.000000001), /amount has more than 8 decimals/u],
      [coins(0), /amount must be above 0/u],
      [coins('-0.1'), /amount/u],
      [coins(21_000_001), /amount|available to withdraw/u],
      [its.units(1, to, { feeRate: -1 }), /feeRate/u],
      [its.units(1, to, { feeRate: 0.05 }), /feeRate must be/u],
      [its.units(1, to, { feeRate: 1e9 }), /feeRate must be/u],
      [its.units(1, `${to}x`), /is not a Bitcoin address/u],
      [its.units(1, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'), /belongs to another network/u],
    ] as const)
      await refuses(its, fields, words);
    expect(await stored()).toEqual(before);
  });
});
