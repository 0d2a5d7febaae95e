import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPayouts } from '#payouts/payout/payout.store.ts';
import { requireNotOwn } from '#src/app/ordering/foreign-destination.ts';
import { addressOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { ConsoleApp, type Operator } from '#test/support/http/console-app.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { commission, Partners } from '#test/support/orders/partners.ts';
import { changesOf, orderedAt } from '#test/support/tokenpay/account-changes.ts';
import { ShopWithdrawals } from '#test/support/tokenpay/shop-withdrawals.ts';
import { type EtchedRune, ShopWorld } from '#test/support/tokenpay/shop-world.ts';

const reason = 'The shop & its customer agree.';

// coins and balances of one test are used by the next
describe.skipIf(bitcoindForTests() === null)('money beside a real node', { shuffle: false }, () => {
  let shop: ShopWorld;
  let rune: EtchedRune;
  let console: ConsoleApp;
  let operator: Operator;
  let partners: Partners;
  beforeAll(async () => {
    shop = await ShopWorld.start(true);
    const { world } = shop;
    world.payoutConfirmations = 3;
    rune = await shop.etch(1_000_000n, 0);
    partners = new Partners(world, 960);
    await partners.fund(200_000);
    console = await ConsoleApp.start(world.database, {
      requireForeign: (wallet, destination) => {
        const { signal } = new AbortController();
        const { pool } = world.database;
        return requireNotOwn({ node: world.bitcoind.rpc, wallet, signal, pool }, destination);
      },
    });
    operator = await console.signIn(await console.newKey('alice'));
  }, 180_000);
  afterAll(async () => {
    await console?.close();
    await shop?.close();
  });

  /** Settles when the newest payout was sent, and mines it. */
  async function paid(): Promise<{ readonly kind: string; readonly sats: number }> {
    const { world } = shop;
    const id = await world.eventually(async () => {
      const [newest] = await listPayouts(world.database.pool, 1);
      if (newest?.state === 'sent') return newest.id;
      throw new Error(`the payout is ${newest?.state}: ${newest?.stuck}\n${world.logged.join('')}`);
    });
    await world.chain.mineMempool();
    await world.indexed();
    const [payout] = await listPayouts(world.database.pool, 1, [id]);
    return { kind: payout!.kind, sats: payout!.sats };
  }
  const payouts = async (): Promise<number> => (await listPayouts(shop.world.database.pool, 100)).length;
  const audited = async (): Promise<void> => {
    const { differences, funds, payouts: ofPayouts } = await shop.world.audit();
    expect([differences, funds, ofPayouts]).toEqual([[], [], []]);
  };

  test('partners are paid once by two operators', async () => {
    const partner = await partners.register();
    await partners.deliver(partner, 700, 3);
    const other = await console.signIn(await console.newKey('bob'));
    const address = addressOf(partner.owner);
    const fields = { code: partner.code };
    const page = await operator.get(`/console/actions/payouts-send?asked=yes&code=${partner.code}`);
    expect([page.body.includes(address), page.body.includes(`${commission + 700} sats in 1 output`)]).toEqual(
      [true, true],
    );
    const forms = [
      await operator.confirmation('payouts-send', fields),
      await other.confirmation('payouts-send', fields),
    ];
    const answers = await Promise.all([
      operator.confirm('payouts-send', forms[0]!),
      other.confirm('payouts-send', forms[1]!),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(await paid()).toEqual({ kind: 'referral', sats: commission + 700 });
    expect([await payouts(), await shop.world.chain.unspentOf(partner.owner)]).toEqual([1, commission + 700]);
    await audited();
  });

  test('revenue goes to the address of the confirmation, with the amount that it showed', async () => {
    const { wallet, chain } = shop.world;
    const own = wallet.addressOf({ key: { branch: 0, index: 700 }, leafScript: null }).address;
    const { statusCode, body } = await operator.get(`/console/actions/payouts-revenue?asked=yes&to=${own}`);
    expect([statusCode, body.includes('is an address of this wallet')]).toEqual([409, true]);
    const seen = await operator.confirmation('payouts-revenue', { to: addressOf(971) });
    expect(Number(seen['sats'])).toBeGreaterThan(0);
    const more = await operator.confirm('payouts-revenue', { ...seen, sats: '330' });
    expect(more.statusCode).toBe(409);
    expect(await payouts()).toBe(1);
    expect((await operator.confirm('payouts-revenue', seen)).statusCode).toBe(200);
    expect(await paid()).toEqual({ kind: 'revenue', sats: Number(seen['sats']) });
    expect(await chain.unspentOf(971)).toBe(Number(seen['sats']));
    await audited();
  });

  test('a withdrawal is cancelled, and its amount is in the balance again', async () => {
    const its = new ShopWithdrawals(shop, rune);
    await its.earn(1_000n, 0);
    await shop.world.stop();
    const { id } = await its.asked(its.units(700, addressOf(972)));
    const reserved = await its.reserved();
    expect(reserved).toBeGreaterThanOrEqual(700n);
    const seen = await operator.confirmation('withdrawal-cancel', { id, reason });
    expect((await operator.confirm('withdrawal-cancel', seen, `${operator.key}x`)).statusCode).toBe(401);
    expect(await its.reserved()).toBe(reserved);
    expect((await operator.confirm('withdrawal-cancel', seen)).statusCode).toBe(200);
    expect([await its.reserved(), await its.read(id)]).toMatchObject([0n, { state: 'error', reason }]);
    expect((await operator.confirm('withdrawal-cancel', seen)).statusCode).toBe(409);
    await shop.world.follow();
  });

  /** Pays an order with a coinbase, whose first sat is uncommon. Returns the output that is set aside. */
  async function setAside(): Promise<string> {
    const order = await orderedAt(shop, rune.name, 250);
    const { chain } = shop.world;
    const coin = await chain.coin();
    const paying = transaction(
      [coin],
      [{ value: 10_000, outputScript: order.feeScript }, { value: coin.value - 11_000 }],
    );
    await chain.mine([paying]);
    const { received } = await shop.until(order.id, ({ received: of }) => of.length === 1);
    expect(received[0]!.isAside).toBe(true);
    return `${paying.txid}:0`;
  }

  test('an output that is set aside is credited once', async () => {
    const output = await setAside();
    expect((await operator.get('/console/shops')).body).toContain(
      `aside-credit?output=${output.slice(0, 64)}`,
    );
    const seen = await operator.confirmation('aside-credit', { output, reason });
    const changes = await changesOf(shop, async () => {
      expect((await operator.confirm('aside-credit', seen)).statusCode).toBe(200);
    });
    expect(Object.values(changes)).toHaveLength(1);
    const again = await operator.confirm('aside-credit', seen);
    expect([again.statusCode, again.body.includes('was credited by alice (')]).toEqual([409, true]);
    const { rows } = await shop.world.database.pool.query<{ decided_by: string; reason: string }>(
      'SELECT decided_by, reason FROM service.token_decisions',
    );
    expect(rows).toEqual([{ decided_by: `alice (${operator.key.slice(0, 18)}…)`, reason }]);
  });

  test('an output that is set aside is sent away as a whole', async () => {
    const output = await setAside();
    const fields = { output, reason, to: addressOf(973) };
    const query = new URLSearchParams(fields).toString();
    expect((await operator.get(`/console/actions/aside-return?${query}`)).body).toContain(
      'which the operator pays',
    );
    const seen = await operator.confirmation('aside-return', fields);
    expect((await operator.confirm('aside-return', seen)).statusCode).toBe(200);
    expect(await paid()).toEqual({ kind: 'return', sats: 10_000 });
    expect(await shop.world.chain.unspentOf(973)).toBe(10_000);
    expect((await operator.confirm('aside-return', seen)).statusCode).toBe(409);
    await audited();
  });

  test('each action has one record that names its operator', async () => {
    const { rows } = await shop.world.database.pool.query<{ action: string }>(
      `SELECT action FROM service.console_actions WHERE NOT parameters ? 'refused' ORDER BY id`,
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'payouts-send',
      'payouts-revenue',
      'withdrawal-cancel',
      'aside-credit',
      'aside-return',
    ]);
  });
});
