import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { inscriptionDetails } from '#chain/inscriptions/inscription.queries.ts';
import { OrdLists } from '#chain/inscriptions/ord-lists.ts';
import { childPage, childrenFrom } from '#chain/inscriptions/relative.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { asInscriptionKey, type InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import {
  type Child,
  countChildren,
  discountChildren,
} from '#test/support/chain/rows/parent-children-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

/** Number of inscriptions of a block. All except the first hundred are children. */
const perBlock = 1_500;
const parents = 100;

let database: TestDatabase;
let pool: pg.Pool;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ pool } = database);
  client = await pool.connect();
  await ensureSecondaryIndexes(client);
  await pool.query(`INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules)
    VALUES ('regtest', sha256('key'), 1, 1)`);
  await pool.query(`INSERT INTO chain.contents (content_id, sha256, variant, text, body)
    VALUES (0, sha256('png'), 0, 0, '\\x89504e47'), (1, sha256('text'), 1, 0, ' ')`);
});
beforeEach(async () => {
  await pool.query('DELETE FROM chain.parent_children; DELETE FROM chain.child_marks');
  await pool.query(
    'DELETE FROM chain.parents; DELETE FROM chain.inscription_details; DELETE FROM chain.inscriptions; DELETE FROM chain.blocks',
  );
});
afterAll(async () => {
  client.release();
  await database.drop();
});

/**
 * Applies a block. Three of four children belong to inscription 1. The other children belong to one of the first
 * hundred inscriptions. `salt` decides all this.
 */
async function apply(height: number, salt: number): Promise<void> {
  const first = height * perBlock;
  const rows = `WITH r AS (SELECT k FROM generate_series(${first}, ${first + perBlock - 1}) AS k)`;
  await pool.query(`INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height,
      anchored, has_spent, first_key, next_key, next_content_id, next_metadata_id, sequence, blessed, cursed, unbound, lost_sats)
    VALUES (${height}, sha256('${height} ${salt}'), decode(repeat('00', 80), 'hex'), 0, now(), 0, 1, 0, true, true,
      ${first}, ${first + perBlock}, 2, 0, 0, 0, 0, 0, 0)`);
  await pool.query(`${rows} INSERT INTO chain.inscriptions (key, index, height, tx_index, input, number, flags, txid,
      content_type, content_id)
    SELECT k, 0, ${height}, 1, 0, k, 0, sha256((k || ' ${salt}')::bytea), 'image/png', (k % 3 = 0)::integer FROM r`);
  await pool.query(`${rows} INSERT INTO chain.inscription_details (key, properties_json)
    SELECT k, '{"gallery":[{"id":"x"}]}' FROM r WHERE k % 500 = ${salt}`);
  await pool.query(`${rows} INSERT INTO chain.parents (child_key, position, parent_key, height)
    SELECT k, 0, CASE WHEN k % 4 > 0 THEN 1 ELSE (k * 7 + ${salt * 13}) % ${parents} END, ${height} FROM r
    WHERE k >= ${parents}`);
  const children = await pool.query<Child>(
    'SELECT child_key AS child, parent_key AS parent FROM chain.parents WHERE child_key >= $1 ORDER BY child_key',
    [first],
  );
  await countChildren(pool, children.rows);
  await pool.query('UPDATE chain.state SET tip_height = $1, tip_hash = sha256($2)', [
    height,
    `${height} ${salt}`,
  ]);
}

/** Takes blocks back, like an undo does. */
async function takeBack(height: number): Promise<void> {
  await discountChildren(client, height * perBlock);
  await pool.query(
    `WITH p AS (DELETE FROM chain.parents WHERE child_key >= $1), d AS (DELETE FROM chain.inscription_details WHERE key >= $1),
       i AS (DELETE FROM chain.inscriptions WHERE key >= $1)
     DELETE FROM chain.blocks WHERE first_key >= $1`,
    [height * perBlock],
  );
  await pool.query(`UPDATE chain.state SET undo_epoch = undo_epoch + 1,
    (tip_height, tip_hash) = (SELECT height, hash FROM chain.blocks ORDER BY height DESC LIMIT 1)`);
}

const counted = `SELECT parent_key, max(child_key) AS newest_child, count(*) AS children FROM chain.parents GROUP BY parent_key`;
const marked = `SELECT parent_key, nth, child_key FROM (
    SELECT parent_key, child_key, row_number() OVER (PARTITION BY parent_key ORDER BY child_key) - 1 AS nth FROM chain.parents
  ) AS numbered WHERE nth > 0 AND nth % 1000 = 0`;

async function expectCounted(): Promise<void> {
  for (const [kept, naive] of [
    ['SELECT parent_key, newest_child, children FROM chain.parent_children', counted],
    ['SELECT parent_key, nth, child_key FROM chain.child_marks', marked],
  ]) {
    const read = async (sql = ''): Promise<object[]> =>
      (await pool.query<object>(`${sql} ORDER BY 1, 2`)).rows;
    expect(await read(kept)).toEqual(await read(naive));
  }
}

const pagesOf = (lists: OrdLists): unknown => [
  lists.collections(0),
  lists.collections(1),
  lists.galleryPage(0),
];

test('through any blocks and undos, children are counted and marked, and lists equal new ones', async () => {
  const step = fc.record({ back: fc.nat(3), salt: fc.integer({ min: 1, max: 3 }) });
  await fc.assert(
    fc
      .asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
        const lists = new OrdLists();
        let next = 0;
        for (const { back, salt } of steps) {
          if (back < 3 && next > 0) await takeBack((next = Math.max(next - back, 0)));
          else await apply(next++, salt);
          await expectCounted();
          await lists.bringUpToDate(pool, null);
          const rebuilt = new OrdLists();
          await rebuilt.bringUpToDate(pool, null);
          expect(pagesOf(lists)).toEqual(pagesOf(rebuilt));
        }
      })
      .beforeEach(() => takeBack(0)),
    propertyBounds(3),
  );
});

test('after a reorganisation the lists are read as far as it went', async () => {
  for (let height = 0; height < 4; height++) await apply(height, 1);
  const lists = new OrdLists();
  await lists.bringUpToDate(pool, null);
  await takeBack(3);
  // other children of the same parents
  await apply(3, 5);
  const asked = vi.spyOn(Object.getPrototypeOf(client) as pg.Client, 'query');
  await lists.bringUpToDate(pool, null);
  // inscriptions whose contents were read
  const looked = (asked.mock.calls as unknown as [string, unknown[]?][]).flatMap(([sql, values]) =>
    String(sql).includes('chain.contents') ? (values?.[0] as number[]) : [],
  );
  expect(looked.filter((key) => key < 3 * perBlock)).toEqual([]);
  expect(lists.collections(0).keys.length).toBeGreaterThan(20);
});

const parent = asInscriptionKey(1);
const childless = asInscriptionKey(4_000);

test('any child and any page of children is found, and who has none has none', async () => {
  for (let height = 0; height < 3; height++) await apply(height, 1);
  const { rows } = await pool.query<{ key: InscriptionKey }>(
    'SELECT child_key AS key FROM chain.parents WHERE parent_key = 1 ORDER BY child_key',
  );
  const children = rows.map(({ key }) => key);
  expect(children.length).toBeGreaterThan(3_000);
  await withSnapshot(
    pool,
    async ({ client }) => {
      for (const place of [0, 1, 999, 1_000, 1_001, 2_999, 3_000, children.length - 1])
        expect(await childrenFrom(client, parent, place, 2)).toEqual(children.slice(place, place + 2));
      for (const place of [children.length, 4_000, 999_999, 2 ** 32 - 1])
        expect(await childrenFrom(client, parent, place, 1)).toEqual([]);
      for (const page of [0, 9, 10, 29, 33, 34, 2 ** 32 - 1]) {
        const keys = children.slice(page * 100, page * 100 + 100);
        expect(await childPage(client, parent, page)).toEqual({
          keys,
          more: children.length > (page + 1) * 100,
        });
      }
      expect((await inscriptionDetails(client, [parent])).get(parent)?.childCount).toBe(children.length);
      expect((await inscriptionDetails(client, [childless])).get(childless)?.childCount).toBe(0);
    },
    null,
  );
});

test('a child that is written after a newer one is refused', async () => {
  await apply(0, 1);
  await expect(countChildren(pool, [{ child: 50, parent: 1 }])).rejects.toThrow(
    'a child was written after a newer one',
  );
});

test('while children are being counted, what comes of the counts alone is refused, and the rest is answered', async () => {
  for (let height = 0; height < 3; height++) await apply(height, 1);
  await pool.query(
    `INSERT INTO chain.derived_tables (name, from_height, is_followed, tip_height, tip_hash)
     VALUES ('parent_children', 0, false, 1, sha256('1 1'))`,
  );
  try {
    const refused = {
      code: 'derived_table_behind',
      details: { table: 'parent_children', height: 1, tipHeight: 2 },
    };
    await expect(new OrdLists().bringUpToDate(pool, null)).rejects.toMatchObject(refused);
    await withSnapshot(
      pool,
      async (snapshot) => {
        await expect(childPage(snapshot.client, parent, 10)).rejects.toMatchObject(refused);
        expect((await childPage(snapshot.client, parent, 0)).keys).toHaveLength(100);
        const detail = (await inscriptionDetails(snapshot.client, [parent])).get(parent);
        expect(detail?.childCount).toBeNull();
        expect(detail?.children).not.toEqual([]);
      },
      null,
    );
  } finally {
    await pool.query('DELETE FROM chain.derived_tables');
  }
});
