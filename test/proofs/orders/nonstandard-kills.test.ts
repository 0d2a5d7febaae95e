import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';
import { StandInMiner } from '#test/support/orders/stand-in-miner.ts';

const runMs = 300_000;
/** Size of a file that nearly fills a block, in bytes. */
const largestBytes = 3_800_000;
const usualBytes = 450_000;

describe.skipIf(bitcoindForTests() === null)('an order of a file that a miner takes', () => {
  let miner: StandInMiner;
  let service: OrderService;
  beforeAll(async () => {
    miner = await StandInMiner.start();
    service = await OrderService.start({ NONSTANDARD_MINER_URL: miner.url });
    miner.decodeWith(service.bitcoind.rpc);
  }, runMs);
  beforeEach(() => miner.reset());
  afterAll(async () => {
    await service?.close();
    await miner?.close();
  }, runMs);

  /** Pays an order to a service that kills itself at a point. Settles when the service runs again. */
  async function killedAt(failpoint: string, bytes: number): Promise<string> {
    const made = await service.post('/inscribe', {
      files: [{ name: 'a.png', dataURL: `data:image/png;base64,${randomBytes(bytes).toString('base64')}` }],
      receiveAddress: addressOf(700),
      refundAddress: addressOf(701),
      fee: 2,
    });
    expect(made.status).toBe(200);
    const { id } = (await made.json()) as OrderShown;
    const { charge } = await service.order(id);
    await service.killedAt(failpoint, async () => {
      await service.chain.payAddress(charge.address, charge.amount);
      await service.chain.mineMempool();
    });
    return id;
  }

  const stateOf = async (id: string): Promise<string> => (await service.order(id)).state;
  const differences = async () =>
    (await auditOrders({ database: service.database.pool, node: service.bitcoind.rpc })).differences;

  test.each([
    ['order-reveals', largestBytes],
    ['package-handed', usualBytes],
    ['package-answered', usualBytes],
  ])(
    'is delivered once, though the service is killed at %s',
    async (failpoint, bytes) => {
      const id = await killedAt(failpoint, bytes);
      await service.eventually(async () => (await service.order(id)).files[0]!.inscriptionId !== undefined);
      // the package is sent again if its response was lost, and it is always the same package
      expect(new Set(miner.packages.map((seen) => seen.id)).size).toBe(1);
      expect(new Set(miner.packages.map((seen) => seen.hexes[1])).size).toBe(1);
      await miner.mine();
      await service.eventually(async () => (await stateOf(id)) === 'completed');
      expect(await differences()).toEqual([]);
    },
    runMs,
  );

  test.each(['order-unmined', 'order-refund'])(
    'is refunded once, though the service is killed at %s',
    async (failpoint) => {
      miner.packagesMood = 'refuses';
      const id = await killedAt(failpoint, usualBytes);
      await service.eventually(async () => {
        await service.chain.mineMempool();
        return (await stateOf(id)) === 'refunded';
      });
      const [seen] = miner.packages;
      expect(await service.bitcoind.rpc.call('gettxout', [seen!.commit.txid, 0])).toBeNull();
      expect(await differences()).toEqual([]);
    },
    runMs,
  );
});
