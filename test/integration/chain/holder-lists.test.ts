import { afterAll, beforeAll, expect, test } from 'vitest';
import { HolderLists } from '#chain/runes/holder-lists.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { runeIndexes } from '#indexer/derived/runes/rune-indexes.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { seededRandom } from '#test/builders/random.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

interface Balance {
  readonly height: number;
  readonly spent: number | null;
  readonly owner: number;
  readonly amount: bigint;
}

const tip = 9;
const owners = 17;
const random = seededRandom('holder lists');
/** Balances. Some are above 2^64, and many are equal, so that the scripts decide the order. */
const balances = Array.from({ length: 60 }, (_, at): Balance => {
  const height = random.below(tip);
  const amount = at % 7 === 0 ? 2n ** 100n + BigInt(random.below(3)) : BigInt(1 + random.below(4));
  const spent = random.below(3) === 0 ? height + 1 + random.below(tip - height) : null;
  return { height, spent, owner: random.below(owners), amount };
});
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await insertChain(
    pool,
    Array.from({ length: tip + 1 }, (_, height) => ({ height, islandHeight: 0, rows: [] })),
    'regtest',
  );
  await pool.query(
    `INSERT INTO chain.rune_balances (height, spent_height, spent_tx_index, tx_index, vout, rune_key, amount, txid, script)
     SELECT height, spent, CASE WHEN spent IS NOT NULL THEN 0 END, place, 0, 0, amount, sha256(place::text::bytea), set_byte('\\x5120', 1, owner)
     FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::numeric[]) WITH ORDINALITY AS b(height, spent, owner, amount, place)`,
    [
      balances.map(({ height }) => height),
      balances.map(({ spent }) => spent),
      balances.map(({ owner }) => owner),
      balances.map(({ amount }) => String(amount)),
    ],
  );
  for (const [name, { table, columns, where }] of Object.entries(runeIndexes))
    await pool.query(
      `CREATE INDEX ${name} ON ${table} (${columns}) ${where === undefined ? '' : `WHERE ${where}`}`,
    );
});
afterAll(() => database.drop());

/** Holders after a block, as [owner, amount, outputs]. */
function expected(height: number, of: readonly Balance[] = balances): [number, bigint, number][] {
  const sums = new Map<number, [bigint, number]>();
  for (const { height: made, spent, owner, amount } of of) {
    if (made > height || (spent !== null && spent <= height)) continue;
    const [sum, outputs] = sums.get(owner) ?? [0n, 0];
    sums.set(owner, [sum + amount, outputs + 1]);
  }
  return [...sums]
    .map(([owner, [sum, outputs]]): [number, bigint, number] => [owner, sum, outputs])
    .toSorted((a, b) => (a[1] === b[1] ? a[0] - b[0] : a[1] > b[1] ? -1 : 1));
}

const read = (lists: HolderLists, height: number, offset: number, limit: number, mayWalk = true) =>
  withSnapshot(
    database.pool,
    async ({ client }) => {
      const moment = { height: asHeight(height), isTip: height === tip };
      const found = await lists.read(client, 0, moment, { offset, limit }, mayWalk);
      return found === null
        ? null
        : {
            ...found,
            held: BigInt(found.held),
            holders: found.holders.map(({ script, amount, outputs }) => [script[1], BigInt(amount), outputs]),
          };
    },
    null,
  );

test('every page at every height is that of all holders, whatever a walk keeps', async () => {
  for (const part of [3, 4, 1000]) {
    const lists = new HolderLists(part);
    for (let height = 0; height <= tip; height++) {
      const all = expected(height);
      for (let offset = 0; offset <= all.length + 1; offset++)
        for (const limit of [1, 2, 5, 100])
          expect(await read(lists, height, offset, limit)).toEqual({
            holders: all.slice(offset, offset + limit),
            count: all.length,
            held: all.reduce((sum, [, amount]) => sum + amount, 0n),
          });
    }
  }
});

test('what a walk has found is given without another, and what it has not is not', async () => {
  const lists = new HolderLists(4);
  expect(await read(lists, tip, 0, 2, false)).toBeNull();
  const first = await read(lists, tip, 0, 2);
  expect(await read(lists, tip, 0, 2, false)).toEqual(first);
  expect((await read(lists, tip, 1, 3, false))?.holders).toEqual(expected(tip).slice(1, 4));
  expect(await read(lists, tip, 3, 2, false)).toBeNull();
  expect(await read(lists, tip - 1, 0, 2, false)).toBeNull();
});

test('another block in the place of one has a list of its own', async () => {
  const { pool } = database;
  const lists = new HolderLists();
  const before = await read(lists, tip, 0, 100);
  const [largest] = expected(tip);
  const { rows } = await pool.query<{ hash: Buffer }>('SELECT hash FROM chain.blocks WHERE height = $1', [
    tip,
  ]);
  const setHash = (hash: Buffer) =>
    pool.query('UPDATE chain.blocks SET hash = $2 WHERE height = $1', [tip, hash]);
  await setHash(Buffer.alloc(32, 1));
  await pool.query(
    `UPDATE chain.rune_balances SET spent_height = $1, spent_tx_index = 7 WHERE get_byte(script, 1) = $2 AND spent_height IS NULL`,
    [tip, largest![0]],
  );
  expect(await read(lists, tip, 0, 100, false)).toBeNull();
  expect((await read(lists, tip, 0, 100))?.holders).toEqual(before?.holders.slice(1));
  await pool.query(
    'UPDATE chain.rune_balances SET spent_height = NULL, spent_tx_index = NULL WHERE spent_tx_index = 7',
  );
  await setHash(rows[0]!.hash);
  expect(await read(lists, tip, 0, 100, false)).toEqual(before);
});
