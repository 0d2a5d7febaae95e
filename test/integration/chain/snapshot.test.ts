import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const hash = Buffer.alloc(32, 7);

async function setTip(height: number): Promise<void> {
  await database.pool.query('DELETE FROM chain.state');
  await database.pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
     VALUES ('regtest', $1, $2, $1, 1, 1)`,
    [hash, height],
  );
}

describe('withSnapshot', () => {
  test('has no tip while nothing is indexed', async () => {
    await database.pool.query('DELETE FROM chain.state');
    expect(await withSnapshot(database.pool, ({ tip }) => Promise.resolve(tip), null)).toBeNull();
  });

  test('sees one moment, whatever is committed meanwhile', async () => {
    await setTip(5);
    await withSnapshot(
      database.pool,
      async ({ client, tip }) => {
        expect(tip).toEqual({ height: 5, hash, undoEpoch: 0 });
        await setTip(6);
        const { rows } = await client.query('SELECT tip_height FROM chain.state');
        expect(rows).toEqual([{ tip_height: 5 }]);
      },
      null,
    );
    expect(await withSnapshot(database.pool, ({ tip }) => Promise.resolve(tip?.height), null)).toBe(6);
  });

  test('cannot write', async () => {
    await expect(
      withSnapshot(database.pool, ({ client }) => client.query('DELETE FROM chain.state'), null),
    ).rejects.toThrow(/read-only transaction/u);
  });

  test('gives the connection back after an error', async () => {
    for (let round = 0; round < 15; round++) {
      await expect(
        withSnapshot(database.pool, () => Promise.reject(new Error('mine')), null),
      ).rejects.toThrow('mine');
    }
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });
});
