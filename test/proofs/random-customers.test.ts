import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { readEntries } from '#orders/ledger.store.ts';
import { balancesOf } from '#orders/ledger.ts';
import { seededRandom } from '#test/builders/random.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';

const receiver = 900;
const refunded = 901;
const orders = 24;
const runMs = 600_000;

/** What a customer pays of an amount, in parts. */
const payments: Readonly<Record<string, (amount: number) => readonly number[]>> = {
  exact: (amount) => [amount],
  parts: (amount) => [1500, amount - 1500],
  over: (amount) => [amount + 40_000],
  'over by dust': (amount) => [amount + 300],
  twice: (amount) => [amount, amount],
  short: (amount) => [amount - 500],
  nothing: () => [],
};
const kinds = Object.keys(payments);

describe.skipIf(bitcoindForTests() === null)('random customers', () => {
  let service: OrderService;
  beforeAll(async () => {
    service = await OrderService.start();
  }, runMs);
  afterAll(() => service?.close());

  const mine = async (): Promise<void> => {
    await service.chain.mineMempool();
  };

  test(
    'of a service that is killed between blocks and reorganisations each get what they paid for, once, or their money back',
    async () => {
      const random = seededRandom(process.env['PROPERTY_SEED'] ?? '7');
      const made: { id: string; kind: string; amount: number }[] = [];
      for (let index = 0; index < orders; index++) {
        const answer = await service.post('/inscribe', {
          files: [
            {
              name: `${index}.txt`,
              size: 1,
              dataURL: `data:text/plain;base64,${Buffer.from(`customer ${index}`).toString('base64')}`,
            },
          ],
          receiveAddress: addressOf(receiver),
          refundAddress: addressOf(refunded),
          fee: 2,
        });
        const { id, charge } = (await answer.json()) as OrderShown;
        const { address } = (await service.order(id)).charge;
        const kind = kinds[random.below(kinds.length)]!;
        made.push({ id, kind, amount: charge.amount });
        for (const value of payments[kind]!(charge.amount)) {
          await service.chain.payAddress(address, value);
          if (random.below(2) === 0) await mine();
        }
        const next = random.below(6);
        if (next === 0) {
          await service.kill();
          if (random.below(2) === 0) await mine();
          await service.begin();
        } else if (next === 1) {
          await service.chain.takeBack(1 + random.below(2));
          await service.chain.mineEmpty(1 + random.below(3));
        } else if (next < 4) await mine();
      }
      // the time of those that are short is over; of the others it is not, whenever their payments are found
      const short = made.filter(({ kind }) => kind === 'short' || kind === 'nothing').map(({ id }) => id);
      await service.database.pool.query(
        'UPDATE service.orders SET expires_at = created_at, look_at = now() WHERE id = ANY($1::uuid[])',
        [short],
      );
      const ended = new Set(['completed', 'refunded', 'expired']);
      await service.eventually(async () => {
        await mine();
        const shown = await Promise.all(made.map(({ id }) => service.order(id)));
        const open = shown.filter(({ state }) => !ended.has(state));
        if (open.length > 0)
          throw new Error(open.map(({ id, state, error }) => `${id} ${state} ${error ?? ''}`).join('\n'));
        const { differences } = await auditOrders({
          database: service.database.pool,
          node: service.bitcoind.rpc,
        });
        expect(differences).toEqual([]);
        for (const { id, kind, amount } of made) {
          const { state, files } = await service.order(id);
          const entries = await readEntries(service.database.pool, id);
          const balances = Object.fromEntries(balancesOf(entries));
          const paid = payments[kind]!(amount).reduce((sum, value) => sum + value, 0);
          const expected = paid >= amount ? 'completed' : paid === 0 ? 'expired' : 'refunded';
          expect(`${kind} ${state}`).toBe(`${kind} ${expected}`);
          expect(balances['owed'] ?? 0n, `${kind} ${id}`).toBe(0n);
          expect(balances['postage'] ?? 0n).toBe(state === 'completed' ? 546n : 0n);
          if (state !== 'completed') continue;
          const { rowCount } = await service.database.pool.query(
            `SELECT FROM chain.inscriptions AS i JOIN chain.contents AS c USING (content_id) WHERE c.body = $1`,
            [Buffer.from(`customer ${made.findIndex((order) => order.id === id)}`)],
          );
          expect(rowCount, `${files[0]?.inscriptionId}`).toBe(1);
        }
        return true;
      });
    },
    runMs,
  );
});
