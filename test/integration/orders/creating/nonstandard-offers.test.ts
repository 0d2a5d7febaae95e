import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { refusalOfMiner, StandInMiner, testMiner } from '#test/support/orders/stand-in-miner.ts';

interface Answer {
  readonly id: string;
  readonly error?: readonly { readonly msg: string }[];
  readonly files: readonly { readonly nonStandardTx?: boolean }[];
  readonly warnings?: readonly { readonly code: string }[];
  readonly chainFee: number;
}

const order = (bytes: number, more: object = {}) => ({
  files: [
    { name: 'a.png', dataURL: `data:image/png;base64,${randomBytes(bytes).toString('base64')}`, ...more },
  ],
  receiveAddress: addressOf(700),
  fee: 12.5,
});

describe('offers to a miner', () => {
  let miner: StandInMiner;
  let http: OrdersApp;
  let without: OrdersApp;
  beforeAll(async () => {
    miner = await StandInMiner.start();
    http = await createOrdersApp(null, testMiner(miner.url));
    without = await createOrdersApp();
  });
  beforeEach(() => miner.reset());
  afterAll(async () => {
    await http?.close();
    await without?.close();
    await miner?.close();
  });

  const countOrders = async (): Promise<number> => {
    const { rows } = await http.database.pool.query<{ count: number }>('SELECT count(*) FROM service.orders');
    return rows[0]!.count;
  };

  test.each(['/inscribe', '/order'])(
    'are made before an address is shown, with sizes and fees, and files say so: %s',
    async (path) => {
      const made = await http.post<Answer>(path, order(450_000));
      expect(made.status).toBe(200);
      expect(made.body.files[0]).toMatchObject({ nonStandardTx: true });
      const read = await http.get<Answer & { charge: { address: string } }>(`/order/${made.body.id}`);
      expect(read.body.files[0]).toMatchObject({ nonStandardTx: true });
      const { rows } = await http.database.pool.query<{ paid_to: string }>(
        'SELECT paid_to FROM service.orders WHERE id = $1',
        [made.body.id],
      );
      expect(rows).toEqual([{ paid_to: 'wallet' }]);
      expect(miner.offers).toHaveLength(1);
      const [offer] = miner.offers;
      expect(offer).toMatchObject({ version: 1, network: 'regtest', feeRate: 12.5 });
      expect(offer!.reveal.virtualSize).toBe(Math.ceil(offer!.reveal.weight / 4));
      expect(offer!.reveal.fee).toBe(Math.ceil(offer!.reveal.virtualSize * 12.5));
      expect(offer!.commit.fee + offer!.reveal.fee).toBeLessThanOrEqual(made.body.chainFee);
    },
  );

  test('that are refused give the reason, and nothing is stored', async () => {
    miner.offersMood = 'refuses';
    const before = await countOrders();
    const { status, body } = await http.post<Answer>('/inscribe', order(450_000));
    expect(status).toBe(400);
    expect(body.error![0]!.msg).toMatch(
      new RegExp(
        `^File 1 makes a transaction of \\d+ weight units at 12.5 sat/vB.*: ${refusalOfMiner}$`,
        'u',
      ),
    );
    expect(await countOrders()).toBe(before);
  });

  test.each(['silent', 'broken'] as const)('without an answer, or with a %s one, are 503', async (mood) => {
    miner.offersMood = mood;
    const before = await countOrders();
    const { status, body, headers } = await http.post('/inscribe', order(450_000));
    expect(status).toBe(503);
    expect(JSON.stringify(body)).toContain('does not answer');
    expect(JSON.stringify(body)).not.toContain('secret-of-the-operator');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(await countOrders()).toBe(before);
  });

  test('are not made for prices, nor for files that nodes relay', async () => {
    const price = { type: 'direct', order: { ...order(1), files: [{ name: 'a.png', size: 450_000 }] } };
    const { body } = await http.post<Answer>('/price?plan=1', price);
    expect(body.warnings!.map(({ code }) => code)).toContain('non-standard');
    const made = await http.post<Answer>('/inscribe', order(390_000));
    expect(made.body.files[0]).not.toHaveProperty('nonStandardTx');
    expect(miner.offers).toEqual([]);
  });

  test('need a miner: without one, the message has the largest content that fits', async () => {
    const { status, body } = await without.post<Answer>('/inscribe', order(450_000));
    expect(status).toBe(400);
    const largest = Number(/largest content that fits has (\d+) bytes/u.exec(body.error![0]!.msg)?.[1]);
    expect((await without.post('/inscribe', order(largest))).status).toBe(200);
    expect((await without.post('/inscribe', order(largest + 1))).status).toBe(400);
  });

  test('are for one file', async () => {
    const { files, ...rest } = order(450_000);
    const { status, body } = await http.post<Answer>('/inscribe', { ...rest, files: [...files, ...files] });
    expect(status).toBe(400);
    expect(body.error![0]!.msg).toBe(
      'File 1 makes a transaction above 400000 weight units, which only a miner can accept directly. Order this file alone.',
    );
  });
});
