import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ListedPayout } from '#payouts/payout/payout.store.ts';
import { addressOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { Partners } from '#test/support/orders/partners.ts';
import { runCommand } from '#test/support/run-command.ts';
import { testReplacedReturns, testWaitingReturns } from '#test/support/tokenpay/shop-returns.ts';
import { type EtchedRune, type ShopOrder, ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';

interface ListedOrder {
  readonly id: string;
  readonly state: string;
  readonly charges: Record<'fee' | 'token', { state: string; missing: object }>;
  readonly received: readonly {
    readonly output: string;
    readonly sats: number;
    readonly aside: string | null;
    readonly decision: { readonly kind: string; readonly by: string; readonly reason: string } | null;
  }[];
}

const reason = 'The shop does not want it.';

describe.skipIf(bitcoindForTests() === null)('an output that is set aside', () => {
  let shop: ShopWorld;
  let rune: EtchedRune;
  beforeAll(async () => {
    shop = await ShopWorld.start(true);
    rune = await shop.etch(1_000_000n, 2);
  }, 180_000);
  afterAll(() => shop?.close());
  testWaitingReturns(() => shop);

  const settings = () => ({
    ...shop.world.database.settings,
    BITCOIN_RPC_URL: shop.world.bitcoind.rpcUrl,
    BITCOIN_COOKIE_FILE: shop.world.bitcoind.cookieFile,
    PAYOUT_CONFIRMATIONS: '3',
  });
  const tokenpay = (...words: string[]): Promise<string> => runCommand(['tokenpay', ...words], settings());
  const listed = async (order: ShopOrder): Promise<ListedOrder> => {
    const all = JSON.parse(await tokenpay('orders', '--aside', '--json')) as ListedOrder[];
    return all.find(({ id }) => id === order.id)!;
  };
  const audited = async (): Promise<void> => {
    await shop.world.indexed();
    expect(await auditTokens({ database: shop.world.database.pool })).toEqual([]);
    const { differences, funds, payouts } = await shop.world.audit();
    expect([differences, funds, payouts]).toEqual([[], [], []]);
  };
  const ordered = async (): Promise<ShopOrder & { tokenScript: Uint8Array; feeScript: Uint8Array }> => {
    const { body } = await shop.post({ token: rune.name, amount: 2.5, additionalFee: 1_000 });
    return {
      ...body,
      tokenScript: await shop.scriptOf(body.tokenCharge.address),
      feeScript: await shop.scriptOf(body.feeCharge.address),
    };
  };

  /** Pays with a coinbase, whose first sat is uncommon. */
  async function payUncommon(outputScript: Uint8Array, value: number): Promise<string> {
    const coin = await shop.world.chain.coin();
    const paying = transaction([coin], [{ value, outputScript }, { value: coin.value - value - 1_000 }]);
    await shop.world.chain.mine([paying]);
    return paying.txid;
  }

  /** Base units of the account's balances, by token. */
  async function held(): Promise<Record<string, bigint>> {
    const rows = JSON.parse(await tokenpay('balances', '--account', shop.account, '--json')) as {
      token: string;
      amountBase: string;
      aside: { amountBase: string };
    }[];
    return Object.fromEntries(
      rows.flatMap(({ token, amountBase, aside }) => [
        [token, BigInt(amountBase)],
        [`${token} aside`, BigInt(aside.amountBase)],
      ]),
    );
  }
  async function gained(work: () => Promise<void>): Promise<Record<string, bigint>> {
    const before = await held();
    await work();
    const changes = Object.entries(await held()).map(
      ([name, amount]) => [name, amount - (before[name] ?? 0n)] as const,
    );
    return Object.fromEntries(changes.filter(([, change]) => change !== 0n));
  }

  test('holds a special sat, until the operator credits it exactly and once', async () => {
    const order = await ordered();
    const came = await gained(async () => {
      await payUncommon(order.feeScript, 10_000);
      await shop.until(order.id, ({ received }) => received.length === 1);
    });
    expect(came).toEqual({ 'BTC aside': 10_000n });
    const { charges, received } = await listed(order);
    expect([charges.fee.state, charges.fee.missing, received[0]!.aside]).toEqual([
      'pending_payment',
      { sats: 10_000 },
      'special',
    ]);
    const { output } = received[0]!;
    expect(await tokenpay('orders', '--aside')).toContain(
      `    ${output}\n    at fee, block ${await shop.world.chain.height()}: 10000 sats; set aside: special\n`,
    );
    expect(await tokenpay('balances')).toMatch(new RegExp(`^${shop.account} +\\S+ +0 +0\\.0001  BTC$`, 'mu'));
    const { rows } = await shop.world.database.pool.query<{ aside: string | null }>(
      `SELECT aside FROM service.wallet_coins WHERE subject = $1`,
      [order.id],
    );
    expect(rows).toEqual([{ aside: 'special' }]);
    await audited();

    const credits = () => tokenpay('credit', output, '--reason', reason, '--by', 'alice');
    await expect(tokenpay('credit', output)).rejects.toMatchObject({ name: 'UsageError' });
    await expect(tokenpay('credit', `${output.slice(0, -1)}9`, '--reason', reason)).rejects.toMatchObject({
      code: 'tokenpay_unknown',
    });
    const money = await gained(async () => {
      const both = await Promise.allSettled([credits(), credits()]);
      const refused = both.filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([
        { reason: { code: 'tokenpay_refuses', message: expect.stringContaining('by alice at') as string } },
      ]);
    });
    // the base fee is held until the order ends
    expect(money).toEqual({ BTC: 1_000n, 'BTC aside': -10_000n });
    await expect(credits()).rejects.toMatchObject({ code: 'tokenpay_refuses' });
    expect((await shop.read(order.id)).feeCharge.state).toBe('completed');
    expect((await listed(order)).received).toMatchObject([
      { aside: null, decision: { kind: 'credit', by: 'alice', reason } },
    ]);
    await audited();

    // the decision is the same for another block
    await shop.world.chain.takeBack(1);
    await shop.world.chain.mineEmpty(2);
    await shop.until(order.id, ({ received: of }) => of.length === 0);
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'completed');
    await audited();
  });

  test('has a coin of its kind in the wallet for tests, which no test payment spends', async () => {
    const order = await ordered();
    const pay = async (): Promise<{ status: number; text: string }> => {
      const answer = await shop.app.inject({
        method: 'POST',
        url: '/tokenpay/test/pay',
        headers: { 'x-api-key': shop.key, 'content-type': 'application/json' },
        payload: JSON.stringify({ orderId: order.id, case: 'btc-at-token' }),
      });
      return { status: answer.statusCode, text: answer.body };
    };
    const [, wallet = ''] = /Send sats to (\w+)\. Outputs with/u.exec((await pay()).text) ?? [];
    const outputScript = await shop.scriptOf(wallet);
    const special = await payUncommon(outputScript, 500_000);
    await shop.world.indexed();
    expect((await pay()).text).toContain('has 0 sats without runes');
    await shop.send([{ value: 200_000, outputScript }]);
    await shop.world.chain.mineMempool();
    await shop.world.indexed();
    expect(await pay()).toMatchObject({ status: 200 });
    expect(await shop.world.chain.rpc.call('gettxout', [special, 0])).not.toBeNull();
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ received }) => received.length === 1);
    await audited();
  });

  test('is listed for accounts that exist', async () => {
    for (const action of ['orders', 'balances'])
      await expect(tokenpay(action, '--account', 'unknown')).rejects.toMatchObject({
        code: 'account_unknown',
      });
  });

  test('is not one with common sats', async () => {
    const order = await ordered();
    await shop.send([
      { value: 10_000, outputScript: order.feeScript },
      { value: 546, outputScript: order.tokenScript, units: [[rune, 250n]] },
    ]);
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
    expect(await listed(order)).toBeUndefined();
    const output = `${(await shop.read(order.id)).feeCharge.txid}:1`;
    await expect(tokenpay('credit', output, '--reason', reason)).rejects.toMatchObject({
      code: 'tokenpay_refuses',
      message: `${output} is already credited completely to ${shop.account}.`,
    });
    await audited();
  });

  test('is returned as a whole with all of its contents, once, even after a reorganisation', async () => {
    const { chain } = shop.world;
    await new Partners(shop.world, 800).fund(50_000);
    const order = await ordered();
    // a payment with an inscription in its middle, and with a rune
    const made = await chain.inscribe(
      { contentType: 'text/plain', body: 'in a payment' },
      { payments: [{ value: 5_000, outputScript: order.tokenScript }] },
    );
    await chain.mine(made.transactions);
    await shop.until(order.id, ({ received }) => received.length === 1);
    const { output } = (await listed(order)).received[0]!;
    const to = addressOf(810);
    const away = (...words: string[]): Promise<string> =>
      tokenpay('return', output, '--reason', reason, '--by', 'bob', ...words);
    await expect(away()).rejects.toMatchObject({ name: 'UsageError' });
    await expect(away('--to', order.feeCharge.address)).rejects.toMatchObject({ code: 'destination_own' });
    await expect(away('--to', to, '--fee-rate', '201')).rejects.toMatchObject({ name: 'UsageError' });
    const dry = JSON.parse(await away('--to', to, '--fee-rate', '7', '--dry-run', '--json')) as {
      fee: number;
    };
    expect(dry).toMatchObject({ isDryRun: true, output, sats: 5_000, aside: 'inscribed', to, missing: null });
    expect((await listed(order)).received[0]!.decision).toBeNull();

    const both = await Promise.allSettled([1, 2].map(() => away('--to', to, '--fee-rate', '7', '--json')));
    const [answer] = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [sent] = JSON.parse(answer!) as ListedPayout[];
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(sent).toMatchObject({ kind: 'return', state: 'sent', sats: 5_000, fee: dry.fee });
    await expect(tokenpay('credit', output, '--reason', reason)).rejects.toMatchObject({
      code: 'tokenpay_refuses',
      message: expect.stringContaining('was returned by bob') as string,
    });
    await audited();
    await chain.mineMempool();
    await shop.world.indexed();
    expect(await chain.unspentOf(810)).toBe(5_000);
    const inscriptions = async (): Promise<number> => {
      const { rowCount } = await shop.world.database.pool.query(
        'SELECT FROM chain.locations WHERE script = $1 AND spent_height IS NULL',
        [Buffer.from(await shop.scriptOf(to))],
      );
      return rowCount ?? 0;
    };
    expect(await inscriptions()).toBe(1);
    await audited();

    // after that the payment and its return are in one block, so the output stays aside
    await chain.takeBack(2);
    await chain.mineEmpty(3);
    await shop.until(order.id, ({ received }) => received.length === 0);
    await audited();
    await chain.mineMempool();
    const again = await shop.until(order.id, ({ received }) => received.length === 1);
    expect(again.received[0]!.isAside).toBe(true);
    await audited();
    expect(await inscriptions()).toBe(1);
    expect(await tokenpay('orders', '--aside')).toContain(`return by bob, `);
    // an account without balances is not listed
    expect((await held())['BTC aside'] ?? 0n).toBe(0n);
  });

  testReplacedReturns(() => shop);
});
