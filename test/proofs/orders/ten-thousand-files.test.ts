import { afterEach, describe, expect, test } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';
import { verdictOfOrder } from '#test/support/orders/order-verdict.ts';

const files = 10_000;
const fileBytes = 100;
const [receiver, refunded] = [40_000, 40_001];
const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');
/**
 * How many transactions are sent before the kill, out of the commit and a dozen reveals. Nodes refuse a reveal while
 * they have no room for it.
 */
const sentBeforeKill = 6;
const runMs = 900_000;

/** Cluster limits of Bitcoin Core: 25 before version 31, and 64 since then. */
describe.skipIf(bitcoindForTests() === null).each([25, 64])('10,000 files in clusters of %i', (limit) => {
  let service: OrderService | null = null;
  afterEach(() => service?.close(), runMs);

  test(
    'are all inscribed once, though the service is killed between two of their reveals',
    async () => {
      service = await OrderService.start({}, { extra: [`-limitclustercount=${limit}`] });
      const { chain, database } = service;
      const { pool } = database;
      const contents = Array.from({ length: files }, (_, index) => `${index}`.padEnd(fileBytes, '.'));
      const made = await service.post('/inscribe', {
        files: contents.map((content, index) => ({
          name: `${index}.txt`,
          size: fileBytes,
          dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
        })),
        receiveAddress: addressOf(receiver),
        refundAddress: addressOf(refunded),
        fee: 2,
      });
      expect(made.status).toBe(200);
      const { id } = (await made.json()) as OrderShown;
      const { charge } = await service.order(id);
      await service.kill();
      await service.begin({ FAILPOINT: `order-marked:${sentBeforeKill}` });
      await chain.payAddress(charge.address, charge.amount);
      const sent = async (): Promise<{ sent: number; made: number }> => {
        const { rows } = await pool.query<{ sent: number; made: number }>(
          'SELECT count(sent_at)::int AS sent, count(*)::int AS made FROM service.wallet_transactions',
        );
        return rows[0]!;
      };
      let isKilled = false;
      void service.ended.then(() => {
        isKilled = true;
      });
      await service.eventually(async () => {
        await chain.mineMempool();
        return isKilled;
      });
      const halfway = await sent();
      expect(halfway.sent).toBeGreaterThan(0);
      expect(halfway.made).toBeGreaterThan(halfway.sent);
      await service.begin();
      await service.eventually(async () => {
        await chain.mineMempool();
        const { rows } = await pool.query<{ state: string }>('SELECT state FROM service.orders');
        return rows[0]?.state === 'completed';
      });
      const ofTest = { id, contents, receivers: [hexOf(receiver)], refund: hexOf(refunded) };
      const verdict = await verdictOfOrder(pool, await ChainMoney.read(chain.rpc), ofTest);
      expect(verdict.faults.slice(0, 10)).toEqual([]);
      expect(verdict.fate.delivered).toHaveLength(files);
      expect((await auditOrders({ database: pool, node: chain.rpc })).differences).toEqual([]);
    },
    runMs,
  );
});
