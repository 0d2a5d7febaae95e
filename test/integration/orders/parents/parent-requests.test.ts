import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showOrder } from '#orders/operator/operator-orders.ts';
import { orderRecoveryKit } from '#orders/operator/order-recovery-kit.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
  // add inscriptions to the index: one in an output, one burned, one lost
  await addInscription(0, 'aa', { place: 0, script: Buffer.alloc(34, 0x51) });
  await addInscription(1, 'bb', { place: 0, script: Buffer.from('6a', 'hex') });
  await addInscription(2, 'cc', { place: 1, script: null });
});
afterAll(() => http.close());

/** An address whose key is not a point of the curve. */
const offCurve = 'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3';
const p2pkh = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const idOf = (byte: string): string => `${byte.repeat(32)}i0`;
const parent = { inscriptionId: idOf('aa'), returnAddress: addressOf(710), value: 10_000 };
const body = {
  files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
  receiveAddress: addressOf(700),
};

async function addInscription(
  key: number,
  byte: string,
  { place, script }: { readonly place: number; readonly script: Buffer | null },
): Promise<void> {
  await http.database.pool.query(
    `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid) VALUES ($1, 0, 0, 0, 0, 0, $2)`,
    [key, Buffer.from(byte.repeat(32), 'hex')],
  );
  await http.database.pool.query(
    `INSERT INTO chain.locations (key, height, sat_offset, value, step, vout, place, script) VALUES ($1, 0, 0, 10000, 0, $2, $3, $4)`,
    [key, place === 0 ? 0 : null, place, script],
  );
}

/** Runs a test while runes are followed. */
async function withRunes(work: () => Promise<void>): Promise<void> {
  await http.database.pool.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('runes', 0, true)",
  );
  try {
    await work();
  } finally {
    await http.database.pool.query("DELETE FROM chain.derived_tables WHERE name = 'runes'");
  }
}

interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number };
  readonly parents: unknown;
}

describe('orders with parents', () => {
  test('show them as they were sent, and each gets its own deposit address', async () => {
    const { status, body: created } = await http.post<Created>('/inscribe', {
      ...body,
      parents: [{ ...parent, value: '10000', unknown: true }],
    });
    expect(status).toBe(200);
    expect(created).toMatchObject({ state: 'waiting-payment', parents: [{ ...parent, value: '10000' }] });
    const { body: read } = await http.get<{ parents: object[] }>(`/order/${created.id}`);
    const [deposit] = await readDepositAddresses(http.database.pool, created.id);
    expect(read.parents).toEqual([{ ...parent, value: '10000', depositAddress: deposit!.address }]);
    const { rows } = await http.database.pool.query(
      `SELECT o.address FROM service.orders AS o JOIN service.watched_scripts AS w ON w.watcher = 'deposit ' || o.id
        WHERE o.id = $1 AND w.script = $2 AND o.look_at <= now()`,
      [created.id, deposit!.script],
    );
    expect(rows).toHaveLength(1);
    expect(rows).not.toEqual([{ address: deposit!.address }]);
    const plain = await http.post<Created>('/inscribe', body);
    expect(plain.body.parents).toBeNull();
    expect(created.charge.amount).toBeGreaterThan(plain.body.charge.amount);
  });

  test('have a recovery kit for each deposit address, and show the operator its key', async () => {
    const { pool } = http.database;
    const { body: created } = await http.post<Created>('/inscribe', { ...body, parents: [parent] });
    const [deposit] = await readDepositAddresses(pool, created.id);
    const kit = await orderRecoveryKit(pool, created.id, { reveal: null, parent: 0 });
    expect(kit).toMatchObject({ address: deposit!.address, leafScript: null });
    expect(kit.keyPath.endsWith(`/0/${deposit!.keyIndex}`)).toBe(true);
    await expect(orderRecoveryKit(pool, created.id, { reveal: null, parent: 1 })).rejects.toThrow(
      /no parent 1/u,
    );
    const shown = await showOrder(pool, created.id);
    const { inscriptionId: id } = parent;
    expect(shown.parents).toMatchObject([{ id, value: '10000', depositAddress: kit.address, deposits: [] }]);
  });

  test.each<[string, object, RegExp]>([
    ['that is unknown', { inscriptionId: idOf('dd') }, /parent d+i0 is not an inscription of this index/u],
    ['that is burned', { inscriptionId: idOf('bb') }, /is burned/u],
    ['that is lost', { inscriptionId: idOf('cc') }, /is lost and not in an output/u],
    ['in upper case', { inscriptionId: idOf('AA') }, /lower case/u],
    ['without a value', { value: undefined }, /value is required/u],
    ['without an owner', { returnAddress: undefined }, /returnAddress is required/u],
    ['of another network', { returnAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }, /network/u],
    ['with a return address that anyone can spend', { returnAddress: 'bcrt1pfeesnyr2tx' }, /anchor/u],
    ['that no one could spend', { returnAddress: offCurve }, /no one can spend/u],
    ['on dust of its deposit', { value: 329 }, /at least 330/u],
    ['on dust of its home', { value: 545, returnAddress: p2pkh }, /at least 546/u],
  ])('are refused with a parent %s', async (_, wrong, words) => {
    const answer = await http.post<{ error: { msg: string }[] }>('/inscribe', {
      ...body,
      parents: [{ ...parent, ...wrong }],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.map(({ msg }) => msg).join()).toMatch(words);
  });

  test('are refused with the same parent twice, and uncursed with two', async () => {
    const twice = await http.post<{ error: { msg: string }[] }>('/inscribe', {
      ...body,
      parents: [parent, parent],
    });
    expect([twice.status, twice.body.error[0]?.msg]).toEqual([400, expect.stringContaining('named twice')]);
    await addInscription(3, 'ee', { place: 0, script: Buffer.alloc(34, 0x51) });
    const parents = [parent, { ...parent, inscriptionId: idOf('ee') }];
    const uncursed = await http.post<{ error: { msg: string }[] }>('/inscribe', {
      ...body,
      parents,
      uncurseIt: true,
    });
    expect([uncursed.status, uncursed.body.error[0]?.msg]).toEqual([
      400,
      expect.stringContaining('uncurseIt'),
    ]);
    await withRunes(async () => {
      expect((await http.post('/inscribe', { ...body, parents })).status).toBe(200);
    });
  });

  test('are refused with two if runes are not followed, because these would not return', async () => {
    await addInscription(4, 'ff', { place: 0, script: Buffer.alloc(34, 0x51) });
    const parents = [parent, { ...parent, inscriptionId: idOf('ff') }];
    const refused = await http.post<{ error: { msg: string }[] }>('/inscribe', { ...body, parents });
    expect([refused.status, refused.body.error[0]?.msg]).toEqual([
      400,
      expect.stringContaining('INDEX_RUNES'),
    ]);
    expect((await http.post('/inscribe', { ...body, parents: [parent] })).status).toBe(200);
  });

  test('with a parent that the index does not have yet must be sent again', async () => {
    await http.database.pool.query(
      `INSERT INTO chain.follower_status (state, source, source_height, source_hash, updated_at)
       VALUES ('syncing', 'node', 5, $1, now())`,
      [Buffer.alloc(32, 1)],
    );
    try {
      const parents = [{ ...parent, inscriptionId: idOf('dd') }];
      const answer = await http.post('/inscribe', { ...body, parents });
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, expect.anything()]);
      expect((await http.post('/inscribe', { ...body, parents: [parent] })).status).toBe(200);
    } finally {
      await http.database.pool.query('DELETE FROM chain.follower_status');
    }
  });
});
