import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askPartnerPayouts, readPartners } from '#payouts/asking/ask-payouts.ts';
import { askRevenue, readRevenue } from '#payouts/asking/ask-revenue.ts';
import { cancelPayout } from '#payouts/asking/cancel-payout.ts';
import { reservedSats } from '#payouts/owed/reserved-sats.queries.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import type { PartnerAccount } from '#purse/ledger/ledger.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { Partners } from '#test/support/orders/partners.ts';
import { runCli } from '#test/support/run-cli.ts';

const confirmations = 3;

describe.skipIf(bitcoindForTests() === null)('payouts beside a real node', () => {
  let world: OrderWorld;
  let partners: Partners;
  beforeAll(async () => {
    world = await OrderWorld.start();
    world.payoutConfirmations = confirmations;
    partners = new Partners(world, 800);
    await partners.fund(50_000);
  });
  afterAll(() => world?.close());

  const ask = (code: string) =>
    askPartnerPayouts(world.database.pool, {
      partner: { account: 'referral', owner: code },
      confirmations,
      isDryRun: false,
    });
  const standing = async (owner: string, account: PartnerAccount = 'referral') => {
    const [found] = await readPartners(world.database.pool, confirmations, {
      account,
      owner,
    });
    const { earned, deep, paid, open, owed, payable, shallow, dust, homeless, debt } = found!;
    return Object.fromEntries(
      Object.entries({ earned, deep, paid, open, owed, payable, shallow, dust, homeless, debt }).map(
        ([name, sats]) => [name, Number(sats)],
      ),
    );
  };
  const payout = async (id: string): Promise<ListedPayout> =>
    (await listPayouts(world.database.pool, 1, [id]))[0]!;
  const until = (id: string, state: string): Promise<ListedPayout> =>
    world.eventually(async () => {
      const found = await payout(id);
      if (found.state === state) return found;
      throw new Error(`the payout is ${found.state}, not ${state}: ${found.stuck}\n${world.logged.join('')}`);
    });
  test('pay what is deep, once, and the operator pays the fee', async () => {
    const one = await partners.register();
    const { code, owner } = one;
    await partners.deliver(one, 700, confirmations - 1);
    expect(await standing(code)).toMatchObject({ earned: 1000, owed: 1000, payable: 0, shallow: 1000 });
    await expect(ask(code)).rejects.toMatchObject({
      code: 'payouts_nothing',
      message: expect.stringContaining('1000 sats are from deliveries with too few confirmations') as string,
    });
    await world.chain.mineEmpty(1);
    await world.indexed();
    expect(await standing(code)).toMatchObject({ payable: 1000, shallow: 0 });
    // request the same payout twice at the same moment
    const both = await Promise.allSettled([ask(code), ask(code)]);
    const [asked] = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const id = asked!.ids[0]!;
    const sent = await until(id, 'sent');
    expect(sent).toMatchObject({ sats: 1000, shares: [{ code, address: addressOf(owner), sats: 1000 }] });
    expect(await standing(code)).toMatchObject({ owed: 0, open: 1000, paid: 0, payable: 0 });
    await world.chain.mineMempool();
    await until(id, 'mined');
    expect(await world.chain.unspentOf(owner)).toBe(1000);
    expect(await standing(code)).toMatchObject({ owed: 0, open: 0, paid: 1000, debt: 0 });
    const { differences, funds, payouts } = await world.audit();
    expect([differences, funds, payouts]).toEqual([[], [], []]);
    const entries = await readEntries(world.database.pool, { kind: 'payout', id });
    expect(entries.map(({ from, fromOwner, to, amount }) => [from, fromOwner, to, Number(amount)])).toEqual([
      ['referral', code, 'outside', 1000],
      ['operator', null, 'fee', sent.fee],
    ]);
    await expect(ask(code)).rejects.toMatchObject({ code: 'payouts_nothing' });
    await expect(cancelPayout(world.database.pool, id, async () => undefined)).rejects.toMatchObject({
      code: 'payouts_refuses',
    });
  });

  test('pay codes of one address together, and leave dust owed', async () => {
    const one = await partners.register();
    const other = await partners.register(one.owner);
    await partners.deliver(one, 0, confirmations);
    expect(await standing(one.code)).toMatchObject({ owed: 300, payable: 0, dust: 300 });
    await expect(ask(one.code)).rejects.toThrow(/below the dust limit/u);
    await partners.deliver(other, 0, confirmations);
    const { ids, payouts } = await askPartnerPayouts(world.database.pool, {
      partner: null,
      confirmations,
      isDryRun: false,
    });
    // other partners may also be owed something
    const both = payouts.flat().filter(({ owner }) => owner === one.code || owner === other.code);
    expect(both.map(({ owner, sats }) => [owner, Number(sats)])).toEqual([
      [one.code, 300],
      [other.code, 300],
    ]);
    expect(ids).toHaveLength(1);
    await until(ids[0]!, 'sent');
    await world.chain.mineMempool();
    await until(ids[0]!, 'mined');
    expect(await world.chain.unspentOf(one.owner)).toBe(600);
  });

  test('pay creators by their addresses, apart from a code of the same name', async () => {
    const { pool } = world.database;
    const owner = 880;
    const creator = addressOf(owner);
    const namesake = await partners.register(owner + 1, creator);
    const owedBefore = (await readRevenue(pool, { proveFree: proveFree(pool), confirmations })).owed;
    const reservedBefore = await reservedSats(pool);
    await partners.deliver(namesake, 700, 1);
    await partners.sell(creator, 5_000, confirmations - 1);
    expect(await standing(creator, 'creator')).toMatchObject({ earned: 5_000, owed: 5_000, shallow: 5_000 });
    await world.chain.mineEmpty(1);
    await world.indexed();
    expect(await standing(creator, 'creator')).toMatchObject({ payable: 5_000, shallow: 0 });
    expect(await standing(creator)).toMatchObject({ earned: 1_000, payable: 1_000 });
    // these sats are neither revenue, nor free for bumps and returns
    const { owed } = await readRevenue(pool, { proveFree: proveFree(pool), confirmations });
    expect(owed - owedBefore).toBe(6_000n);
    expect((await reservedSats(pool)) - reservedBefore).toBe(6_000n);
    // each owner gets one payout
    const { ids } = await askPartnerPayouts(pool, { partner: null, confirmations, isDryRun: false });
    const [ofCode, ofCreator] = [await until(ids[0]!, 'sent'), await until(ids[1]!, 'sent')];
    expect(ids).toHaveLength(2);
    expect(ofCode).toMatchObject({ kind: 'referral' });
    expect(ofCode.shares).toContainEqual({ code: creator, address: addressOf(owner + 1), sats: 1_000 });
    expect(ofCreator).toMatchObject({
      kind: 'creator',
      sats: 5_000,
      shares: [{ code: null, address: creator, sats: 5_000 }],
    });
    expect(await standing(creator, 'creator')).toMatchObject({ owed: 0, open: 5_000, paid: 0 });
    await expect(
      askPartnerPayouts(pool, {
        partner: { account: 'creator', owner: creator },
        confirmations,
        isDryRun: false,
      }),
    ).rejects.toMatchObject({
      code: 'payouts_nothing',
      message: `The creator ${creator} has nothing that can be paid now: 5000 sats are in payouts that are not in a block.`,
    });
    await world.chain.mineMempool();
    for (const id of ids) await until(id, 'mined');
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await until(ofCreator.id, 'sent');
    expect(await standing(creator, 'creator')).toMatchObject({ owed: 0, open: 5_000, paid: 0 });
    await world.chain.mineMempool();
    for (const id of ids) await until(id, 'mined');
    expect(await standing(creator, 'creator')).toMatchObject({ owed: 0, open: 0, paid: 5_000, debt: 0 });
    expect([await world.chain.unspentOf(owner), await world.chain.unspentOf(owner + 1)]).toEqual([
      5_000, 1_000,
    ]);
    expect((await reservedSats(pool)) <= reservedBefore).toBe(true);
    const { differences, funds, payouts } = await world.audit();
    expect([differences, funds, payouts]).toEqual([[], [], []]);
    const entries = await readEntries(pool, { kind: 'payout', id: ofCreator.id });
    const last = entries
      .slice(-2)
      .map(({ from, fromOwner, to, amount }) => [from, fromOwner, to, Number(amount)]);
    expect(last).toEqual([
      ['creator', creator, 'outside', 5_000],
      ['operator', null, 'fee', ofCreator.fee],
    ]);
  });

  test('go to no address of the wallet or of another network', async () => {
    const { pool } = world.database;
    const { rows } = await pool.query<{ address: string }>(
      'SELECT address FROM service.fund_addresses LIMIT 1',
    );
    const addresses = [rows[0]!.address, 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr'];
    for (const address of addresses) {
      await partners.sell(address, 4_000, confirmations);
      expect(await standing(address, 'creator')).toMatchObject({ owed: 4_000, payable: 0, homeless: 4_000 });
      await expect(
        askPartnerPayouts(pool, {
          partner: { account: 'creator', owner: address },
          confirmations,
          isDryRun: false,
        }),
      ).rejects.toThrow(/4000 sats are without an address that may be paid/u);
    }
  });

  test('come back from reorganisations of each depth, and pay once', async () => {
    const one = await partners.register();
    const { code, owner } = one;
    await partners.deliver(one, 900, confirmations);
    const id = (await ask(code)).ids[0]!;
    const { txid, fee } = await until(id, 'sent');
    await world.chain.mineMempool();
    await until(id, 'mined');
    for (let depth = 1; depth <= confirmations + 2; depth++) {
      await world.chain.mineEmpty(depth - 1);
      await world.indexed();
      await world.chain.takeBack(depth);
      await world.chain.mineEmpty(depth + 1);
      await until(id, 'sent');
      expect(await standing(code)).toMatchObject({ open: 1200, paid: 0, owed: 0 });
      await world.chain.mineMempool();
      expect(await until(id, 'mined')).toMatchObject({ txid, fee });
      expect(await standing(code)).toMatchObject({ open: 0, paid: 1200, owed: 0, debt: 0 });
    }
    expect(await world.chain.unspentOf(owner)).toBe(1200);
    expect((await world.audit()).payouts).toEqual([]);
    // add a false entry to the ledger, which stays until payouts are followed
    await world.stop();
    const forged = await world.database.pool.query<{ id: string }>(
      `INSERT INTO service.ledger_entries (subject_kind, subject_id, from_account, to_account, asset, amount, txid)
       SELECT 'payout', $1, 'operator', 'fee', 0, 5, decode($2, 'hex') RETURNING id`,
      [id, Buffer.from(txid!, 'hex').reverse().toString('hex')],
    );
    expect(forged.rowCount).toBe(1);
    expect((await world.audit(1)).payouts).toEqual([
      {
        payout: id,
        kind: 'fee',
        where: txid,
        ledger: BigInt(fee!) + 5n,
        chain: BigInt(fee!),
      },
    ]);
    await world.follow();
    expect((await world.audit()).payouts).toEqual([]);
  }, 240_000);

  test('of revenue are exactly the requested sats, and never sats that are owed', async () => {
    const one = await partners.register();
    const { code } = one;
    await partners.deliver(one, 5000, confirmations);
    const { pool } = world.database;
    const parts = { proveFree: proveFree(pool), confirmations };
    await world.chain.mineEmpty(confirmations);
    await world.indexed();
    const sum = await readRevenue(pool, parts);
    expect(Number(sum.owed)).toBeGreaterThanOrEqual(5300);
    const to = { script: scriptOf(990), address: addressOf(990) };
    await expect(askRevenue(pool, { ...parts, ...to, sats: sum.takeable + 1n })).rejects.toMatchObject({
      code: 'payouts_above_free',
      message: expect.stringContaining(
        `${sum.takeable + 1n} sats are more than the ${sum.takeable}`,
      ) as string,
    });
    await expect(askRevenue(pool, { ...parts, ...to, sats: 329n })).rejects.toMatchObject({
      code: 'payouts_nothing',
    });
    // the command reads the same sum, under the lock
    const shown = await runCli(['payouts', 'revenue', '--json'], {
      ...world.database.settings,
      PAYOUT_CONFIRMATIONS: String(confirmations),
    });
    expect(shown, shown.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(shown.stdout)).toMatchObject({ takeable: Number(sum.takeable) });
    const own = world.wallet.ownAddress(0);
    const { rows } = await pool.query<{ address: string; script: Buffer }>(
      'SELECT address, script FROM service.fund_addresses',
    );
    await expect(askRevenue(pool, { ...parts, ...rows[0]!, sats: null })).rejects.toMatchObject({
      code: 'destination_own',
    });
    expect(own.script).toHaveLength(34);
    const id = (await askRevenue(pool, { ...parts, ...to, sats: null })).ids[0]!;
    // no sats are left for a second payout
    expect(Number((await readRevenue(pool, parts)).takeable)).toBe(0);
    await until(id, 'sent');
    await world.chain.mineMempool();
    await until(id, 'mined');
    expect(await world.chain.unspentOf(990)).toBe(Number(sum.takeable));
    // the partner still gets its share
    const share = (await ask(code)).ids[0]!;
    await world.chain.mineMempool();
    await world.indexed();
    await until(share, 'sent');
  }, 240_000);
});
