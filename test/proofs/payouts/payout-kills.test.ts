import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { payoutFailpoints } from '#kernel/process/failpoint.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { auditPayouts } from '#payouts/audit/audit-payouts.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';

const runMs = 300_000;
const confirmations = 3;
/**
 * The parts of an order's price that matter here, in sats. A referral gets 15 % of the base fee, and the additional
 * fee.
 */
const baseFee = 40_000;
const additional = 700;
const share = (baseFee * 15) / 100 + additional;

type Failpoint = (typeof payoutFailpoints)[number];

describe.skipIf(bitcoindForTests() === null)('a payout to two partners', () => {
  let service: OrderService;
  let partners = 0;
  beforeAll(async () => {
    service = await OrderService.start({
      PAYOUT_CONFIRMATIONS: String(confirmations),
      ORDER_BASE_FEE_DIRECT: String(baseFee),
    });
  }, runMs);
  afterAll(() => service?.close(), runMs);

  const posted = async <Body>(path: string, body: object): Promise<Body> => {
    const answer = await service.post(path, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Body;
  };

  /** Registers a code with a new address, and delivers an order. The code gets a share of the order. */
  async function partner(): Promise<{ readonly code: string; readonly owner: number }> {
    const made = { code: `killed-${String(partners).padStart(2, '0')}`, owner: 850 + partners++ };
    await posted('/referrals', { referral: made.code, address: addressOf(made.owner) });
    const { id } = await posted<OrderShown>('/inscribe', {
      files: [{ name: 'a.txt', dataURL: `data:text/plain,${made.code}` }],
      receiveAddress: addressOf(700),
      referral: made.code,
      additionalFee: additional,
      fee: 2,
    });
    const { charge } = await service.order(id);
    await service.chain.payAddress(charge.address, charge.amount);
    await service.eventually(async () => {
      await service.chain.mineMempool();
      return (await service.order(id)).state === 'completed';
    });
    return made;
  }

  const send = (settings: Record<string, string> = {}) =>
    service.command(['payouts', 'send', '--json'], settings);
  const newest = async (): Promise<ListedPayout> => (await listPayouts(service.database.pool, 1))[0]!;
  const until = (isSo: (found: ListedPayout) => boolean): Promise<ListedPayout> =>
    service.eventually(async () => {
      const found = await newest();
      if (isSo(found)) return found;
      throw new Error(`the payout is ${found.state}: ${found.stuck}\n${service.stderr()}`);
    });

  /** For each point of a payout: kills the process that passes the point, which is the command or the service. */
  const killAt: Readonly<Record<Failpoint, () => Promise<unknown>>> = {
    'payout-asked': async () => {
      const { signal, stdout } = await send({ FAILPOINT: 'payout-asked:1' });
      expect([signal, stdout]).toEqual(['SIGKILL', '']);
    },
    'payout-signed': () => service.killedAt('payout-signed', send),
    'payout-stored': () => service.killedAt('payout-stored', send),
    'payout-sent': () => service.killedAt('payout-sent', send),
    'payout-marked': () => service.killedAt('payout-marked', send),
    'payout-mined': async () => {
      await send();
      await until(({ state }) => state === 'sent');
      await service.killedAt('payout-mined', () => service.chain.mineMempool());
    },
  };

  test.each(Object.keys(killAt) as Failpoint[])(
    'is made once, though a process is killed at %s',
    async (failpoint) => {
      const both = [await partner(), await partner()];
      await service.chain.mineEmpty(confirmations);
      await service.eventually(async () => {
        const shown = await service.command(['payouts', 'send', '--json', '--dry-run']);
        return shown.exitCode === 0 && (JSON.parse(shown.stdout) as { shares: object[] }).shares.length === 2;
      });
      await killAt[failpoint]();
      // a client that does not know the outcome asks again
      const again = await send();
      expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('payouts_nothing')]);
      await until(({ state }) => state === 'sent' || state === 'mined');
      await service.eventually(async () => {
        await service.chain.mineMempool();
        return (await newest()).state === 'mined';
      });
      const { shares } = await newest();
      expect(shares.map(({ code, sats }) => [code, sats])).toEqual(both.map(({ code }) => [code, share]));
      for (const { owner } of both) expect(await service.chain.unspentOf(owner)).toBe(share);
      const parts = { database: service.database.pool, node: service.bitcoind.rpc };
      expect((await auditOrders(parts)).differences).toEqual([]);
      expect(await auditPayouts(parts)).toEqual([]);
    },
    runMs,
  );
});
