import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ListedPayout } from '#payouts/payout/payout.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { commission, type Partner, Partners } from '#test/support/orders/partners.ts';
import { type CliResult, runCli } from '#test/support/run-cli.ts';
import { runCommand } from '#test/support/run-command.ts';

const confirmations = 3;
/** Index of an address that the wallet has never shown. Only a node that derives the address knows its owner. */
const unshownIndex = 40;
const tooShallow = 'PAYOUT_CONFIRMATIONS: 5 is not valid on mainnet';

// the first test shows the responses of a database without payouts
describe.skipIf(bitcoindForTests() === null)('the commands of payouts', { shuffle: false }, () => {
  let world: OrderWorld;
  let partners: Partners;
  let first: Partner;
  let second: Partner;
  let dusty: Partner;
  beforeAll(async () => {
    world = await OrderWorld.start();
    world.payoutConfirmations = confirmations;
    partners = new Partners(world, 900);
    await partners.fund(50_000);
    [first, second, dusty] = [
      await partners.register(),
      await partners.register(),
      await partners.register(),
    ];
    await partners.deliver(first, 1_000, 1);
    await partners.deliver(second, 2_000, 1);
    await partners.deliver(dusty, 0, confirmations);
  });
  afterAll(() => world?.close());

  const settings = () => ({
    ...world.database.settings,
    PAYOUT_CONFIRMATIONS: String(confirmations),
    BITCOIN_RPC_URL: world.bitcoind.rpcUrl,
    BITCOIN_COOKIE_FILE: world.bitcoind.cookieFile,
  });
  const cli = (...words: string[]): Promise<CliResult> => runCli(['payouts', ...words], settings());
  /** Runs a command that must succeed, and returns its output. */
  const shown = (...words: string[]): Promise<string> => runCommand(['payouts', ...words], settings());
  /** Payouts that a command has requested. The command waited until they were sent. */
  async function asked(...words: string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await cli(...words, '--json');
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^(0 of 1 payouts were sent\n)?$/u)]);
    return JSON.parse(stdout);
  }
  const failure = async (...words: string[]): Promise<[number | null, string, string]> => {
    const { exitCode, stdout, stderr } = await cli(...words);
    return [exitCode, stdout, stderr];
  };
  const line = (code: string, ...sats: (number | string)[]): RegExp =>
    new RegExp(`^${code} +${sats.join(' +')}$`, 'mu');

  test('show the debt, pay it once, and say why nothing more is paid', async () => {
    const owed = [commission + 1_000, commission + 2_000];
    const [none, table, json, csv, one, unknown, dry] = await Promise.all([
      shown('list'),
      shown('referrals'),
      shown('referrals', '--json'),
      shown('referrals', '--csv'),
      shown('referrals', '--code', first.code),
      shown('referrals', '--code', 'stranger'),
      shown('send', '--dry-run'),
    ]);
    expect(none).toBe(
      'no payouts; satscribe payouts referrals and satscribe payouts creators show what partners are owed\n',
    );
    expect(table).toMatch(line('CODE', 'OWED', 'PAYABLE', 'NOT DEEP', 'DUST', 'PAID', 'DEBT'));
    expect(table).toMatch(line(first.code, owed[0]!, owed[0]!, 0, 0, 0, 0));
    expect(table).toMatch(line(dusty.code, commission, 0, 0, commission, 0, 0));
    expect(table).toMatch(line('all', 3_900, 3_600, 0, commission, 0, 0));
    expect(table).toContain(`  ${addressOf(second.owner)}\n`);
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(JSON.parse(json)).toMatchObject({
      totals: { owed: 3_900, payable: 3_600, shallow: 0, dust: commission, open: 0, paid: 0, debt: 0 },
      // the largest amounts come first
      referrals: [
        { code: second.code, owed: owed[1], payable: owed[1] },
        { code: first.code },
        { code: dusty.code },
      ],
    });
    expect(csv.split('\r\n')).toEqual([
      'code,address,earned,owed,payable,shallow,dust,homeless,open,paid,debt',
      `${second.code},${addressOf(second.owner)},${owed[1]},${owed[1]},${owed[1]},0,0,0,0,0,0`,
      `${first.code},${addressOf(first.owner)},${owed[0]},${owed[0]},${owed[0]},0,0,0,0,0,0`,
      `${dusty.code},${addressOf(dusty.owner)},${commission},${commission},0,0,${commission},0,0,0,0`,
      '',
    ]);
    expect(one).toMatch(line('all', owed[0]!, owed[0]!, 0, 0, 0, 0));
    expect(unknown).toBe(
      'the code stranger has earned nothing; only delivered orders with a referral code earn\n',
    );
    expect(dry).toContain(`${owed[1]} sats  ${second.code}  ${addressOf(second.owner)}\n`);
    expect(dry).toContain(
      '3600 sats in 2 outputs would be paid; to pay them, repeat the command without --dry-run\n',
    );
    expect(await failure('send', '--code', dusty.code)).toEqual([
      1,
      '',
      expect.stringContaining(
        `The code ${dusty.code} has nothing that can be paid now: ${commission} sats are below the dust limit of their addresses.`,
      ),
    ]);

    // run two commands at the same moment: one pays, and the other finds nothing
    const both = await Promise.all([cli('send', '--json'), cli('send', '--json')]);
    const [paying, other] = both.toSorted((a, b) => Number(a.exitCode) - Number(b.exitCode));
    expect([paying!.exitCode, other!.exitCode]).toEqual([0, 1]);
    const [payout] = JSON.parse(paying!.stdout) as { id: string; txid: string; fee: number }[];
    expect(payout).toMatchObject({
      kind: 'referral',
      state: 'sent',
      sats: 3_600,
      stuck: null,
      shares: [
        { code: first.code, address: addressOf(first.owner), sats: owed[0] },
        { code: second.code, address: addressOf(second.owner), sats: owed[1] },
      ],
    });
    expect(other!.stderr).toMatch(
      /No partner has anything that can be paid now: 300 sats are below the dust limit of their addresses, 3600 sats are in payouts that are not in a block\.\n {2}payouts_nothing: .*\n {2}What to do: .*satscribe payouts referrals/u,
    );
    const [listed, asJson, asCsv, refused, missing] = await Promise.all([
      shown('list'),
      shown('list', '--json', '--limit', '1'),
      shown('list', '--csv'),
      failure('cancel', payout!.id),
      failure('cancel', '00000000-0000-4000-8000-000000000000'),
    ]);
    expect(listed).toContain(`referral sent              3600 sats fee ${payout!.fee}`);
    expect(listed).toContain(`  2 shares\n  ${payout!.id}\n  ${payout!.txid}\n`);
    expect(JSON.parse(asJson)).toEqual([JSON.parse(JSON.stringify(payout))]);
    expect(asCsv.split('\r\n')).toHaveLength(4);
    expect(asCsv).toContain(`,${payout!.txid},${first.code},${addressOf(first.owner)},${owed[0]}\r\n`);
    expect(refused).toEqual([
      1,
      '',
      expect.stringMatching(
        /is sent\. One of its transactions was signed and may still be mined\.\n.*\n.*satscribe payouts list/u,
      ),
    ]);
    expect(missing[0]).toBe(1);
    expect(missing[2]).toContain('There is no payout 00000000-0000-4000-8000-000000000000.');
    await world.chain.mineMempool();
    await world.indexed();
    expect(await world.chain.unspentOf(first.owner)).toBe(owed[0]);
    expect(await world.chain.unspentOf(second.owner)).toBe(owed[1]);
  });

  test('take revenue out, but not to an address of the wallet or of another network', {
    tags: ['proof'],
  }, async () => {
    const mainnet = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
    const to = addressOf(990);
    await world.chain.mineEmpty(confirmations);
    await world.indexed();
    const { rows } = await world.database.pool.query<{ address: string }>(
      'SELECT address FROM service.fund_addresses LIMIT 1',
    );
    const [text, json, elsewhere, unshown] = await Promise.all([
      shown('revenue'),
      shown('revenue', '--json'),
      failure('revenue', '--to', mainnet),
      failure('revenue', '--to', world.wallet.ownAddress(unshownIndex).address),
    ]);
    const { takeable, owed } = JSON.parse(json) as { takeable: number; owed: number };
    expect(takeable).toBeGreaterThan(10_000);
    expect(text).toMatch(new RegExp(`^ +-${owed} {2}are owed to partners$`, 'mu'));
    expect(text).toMatch(new RegExp(`^ +${takeable} {2}sats, the smaller of the two sums; `, 'mu'));
    expect(text.endsWith('satscribe payouts revenue --to ADDRESS takes these sats\n')).toBe(true);
    expect(elsewhere).toEqual([
      2,
      '',
      expect.stringMatching(
        /^satscribe: --to bc1p\S+ cannot be used: the address .*, and the wallet is of regtest\n$/u,
      ),
    ]);
    expect(unshown).toEqual([1, '', expect.stringContaining('destination_own')]);
    // the command refuses these in the same way
    await expect(shown('revenue', '--to', 'bc1qnothing')).rejects.toMatchObject({ name: 'UsageError' });
    await expect(shown('revenue', '--to', rows[0]!.address)).rejects.toMatchObject({
      code: 'destination_own',
    });
    await expect(shown('revenue', '--to', to, '--sats', '100000000')).rejects.toMatchObject({
      code: 'payouts_above_free',
      message: `100000000 sats are more than the ${takeable} sats that can be taken. satscribe payouts revenue shows why.`,
    });
    await expect(shown('revenue', '--to', to, '--sats', '100')).rejects.toMatchObject({
      code: 'payouts_nothing',
      message: `100 sats are below 330, the dust limit of ${to}. Take at least 330 sats.`,
    });
    expect(await shown('list', '--json')).not.toContain('revenue');
    expect(await asked('revenue', '--to', to, '--sats', '5000')).toMatchObject([
      { kind: 'revenue', state: 'sent', sats: 5_000 },
    ]);
    await world.chain.mineMempool();
    expect(await world.chain.unspentOf(990)).toBe(5_000);
  });

  test('store a request if no process has the seed, and cancel it', {
    tags: ['proof'],
  }, async () => {
    const partner = await partners.register();
    await partners.deliver(partner, 700, confirmations);
    await world.stop();
    const { exitCode, stdout, stderr } = await cli('send', '--json', '--code', partner.code);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('The payouts are stored, but no process with the seed runs.'),
    ]);
    const [{ id } = { id: '' }] = JSON.parse(stdout) as { id: string }[];
    expect(await shown('cancel', id)).toMatch(/^\S+ referral cancelled +1000 sats fee - +1 share\n/u);
    // cancelled shares are owed again, and a second cancel changes nothing
    const [again, referrals] = await Promise.all([
      shown('cancel', id, '--json'),
      shown('referrals', '--code', partner.code),
    ]);
    expect(JSON.parse(again)).toMatchObject([{ id, state: 'cancelled', txid: null }]);
    expect(referrals).toMatch(line(partner.code, 1_000, 1_000, 0, 0, 0, 0));
    await world.follow();
    expect(await asked('send', '--code', partner.code)).toMatchObject([{ state: 'sent', sats: 1_000 }]);
  });

  test('show the debt to creators, and pay them with or without codes', { tags: ['proof'] }, async () => {
    const [first, second] = [addressOf(980), addressOf(981)];
    expect(await shown('creators')).toBe(
      'no creator has earned anything; only delivered items of collections earn\n',
    );
    await partners.sell(first, 1_500, 1);
    await partners.sell(second, 2_500, 1);
    await partners.sell(second, 100, confirmations);
    const [table, json, csv, one, unknown, dry] = await Promise.all([
      shown('creators'),
      shown('creators', '--json'),
      shown('creators', '--csv'),
      shown('creators', '--creator', first),
      shown('creators', '--creator', 'stranger'),
      shown('send', '--dry-run', '--json', '--creator', second),
    ]);
    expect(table).toMatch(line('CREATOR', 'OWED', 'PAYABLE', 'NOT DEEP', 'DUST', 'PAID', 'DEBT'));
    expect(table).toMatch(new RegExp(`^ +2600 +2600 +0 +0 +0 +0\n {2}${second}$`, 'mu'));
    expect(table).toMatch(line('all', 4_100, 4_100, 0, 0, 0, 0));
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(JSON.parse(json)).toMatchObject({
      totals: { earned: 4_100, owed: 4_100, payable: 4_100 },
      creators: [
        { address: second, earned: 2_600 },
        { address: first, earned: 1_500 },
      ],
    });
    expect(csv.split('\r\n')).toEqual([
      'address,earned,owed,payable,shallow,dust,homeless,open,paid,debt',
      `${second},2600,2600,2600,0,0,0,0,0,0`,
      `${first},1500,1500,1500,0,0,0,0,0,0`,
      '',
    ]);
    expect(one).toMatch(line('all', 1_500, 1_500, 0, 0, 0, 0));
    expect(unknown).toBe(
      'the creator stranger has earned nothing; only delivered items of collections earn\n',
    );
    expect(JSON.parse(dry)).toEqual({
      isDryRun: true,
      shares: [{ kind: 'creator', code: null, address: second, sats: 2_600 }],
    });
    expect(await asked('send', '--creator', first)).toMatchObject([
      { kind: 'creator', state: 'sent', sats: 1_500, shares: [{ code: null, address: first, sats: 1_500 }] },
    ]);
    const partner = await partners.register();
    await partners.deliver(partner, 700, confirmations);
    expect(await shown('send', '--dry-run')).toMatch(
      new RegExp(
        `^ +1000 sats {2}${partner.code} {2}\\S+$\n^ +2600 sats {2}${second}$\n^3600 sats in 2 outputs`,
        'mu',
      ),
    );
    const { exitCode, stdout } = await cli('send', '--json');
    expect(exitCode).toBe(0);
    // one command requests both payouts
    const sent = (JSON.parse(stdout) as ListedPayout[]).toSorted((a, b) => a.sats - b.sats);
    expect(sent).toMatchObject([
      { kind: 'referral', state: 'sent', sats: 1_000 },
      { kind: 'creator', state: 'sent', sats: 2_600 },
    ]);
    await world.chain.mineMempool();
    await world.indexed();
    expect([await world.chain.unspentOf(980), await world.chain.unspentOf(981)]).toEqual([1_500, 2_600]);
  });

  test('end if there is no wallet, or if deliveries are not deep enough', {
    tags: ['proof'],
  }, async () => {
    const database = await createTestDatabase();
    try {
      const asked = await runCli(['payouts', 'send'], database.settings);
      expect([asked.exitCode, asked.stderr]).toEqual([1, expect.stringContaining('wallet_missing')]);
      // the network of a service is the network of its database
      await insertChain(database.pool, [], 'mainnet');
      const served = await runCli(['serve', '--role', 'orders', '--port', '0'], {
        ...database.settings,
        PAYOUT_CONFIRMATIONS: '5',
      });
      expect([served.exitCode, served.stderr]).toEqual([2, expect.stringContaining(tooShallow)]);
    } finally {
      await database.drop();
    }
    const shallow = await runCli(['payouts', 'send'], {
      ...world.database.settings,
      NETWORK: 'mainnet',
      PAYOUT_CONFIRMATIONS: '5',
    });
    expect([shallow.exitCode, shallow.stderr]).toEqual([2, expect.stringContaining(tooShallow)]);
  });
});
