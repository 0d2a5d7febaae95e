import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActivityPlace, runeActivity } from '#chain/runes/rune-activity.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { runeIndexes } from '#indexer/derived/runes/rune-indexes.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const blocks = 200;
const transactions = 60;
const [minted, etched, transferred] = [0, 1, 2];
const places: ActivityPlace[] = [{ height: 1, txIndex: 0, step: etched, vout: 0 }];
let database: TestDatabase;

/** A txid that is not zero, because zeros are the txid of the rune without an etching. */
const txidOf = (txIndex: number): Buffer => Buffer.alloc(32, txIndex + 1);

/** Adds mints of one block, which are one row. A row often has more mints than a page. */
async function mint(random: Random, height: number, before: number): Promise<number> {
  const most = random.below(4) === 0 ? 40 : 3;
  const chosen = Array.from({ length: 1 + random.below(most) }, () => random.below(transactions));
  const txIndexes = [...new Set(chosen)].sort((a, b) => a - b);
  await database.pool.query(
    'INSERT INTO chain.rune_mints (rune_key, height, mints, tx_indexes, txids) VALUES (0, $1, $2, $3, $4)',
    [height, before + txIndexes.length, txIndexes, Buffer.concat(txIndexes.map(txidOf))],
  );
  for (const txIndex of txIndexes) places.push({ height, txIndex, step: minted, vout: 0 });
  return before + txIndexes.length;
}

async function transfer(random: Random, height: number): Promise<void> {
  const [txIndex, vout] = [random.below(transactions), random.below(3)];
  const { rowCount } = await database.pool.query(
    `INSERT INTO chain.rune_balances (height, tx_index, vout, rune_key, amount, txid, script)
     VALUES ($1, $2, $3, 0, 5, $4, '') ON CONFLICT DO NOTHING`,
    [height, txIndex, vout, txidOf(txIndex)],
  );
  if (rowCount === 1) places.push({ height, txIndex, step: transferred, vout });
}

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await pool.query(
    `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored,
       has_spent, first_key, next_key, next_content_id, next_metadata_id)
     SELECT k, sha256(k::text::bytea), decode(repeat('00', 80), 'hex'), k, now(), 1000, 60, 0, true, true, 0, 0, 0, 0
     FROM generate_series(0, $1) AS k`,
    [blocks],
  );
  await pool.query(
    `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine, txid,
       amount)
     VALUES (0, 1, 0, 0, 0, false, true, 0, 1000000, 0, $1, 0)`,
    [txidOf(0)],
  );
  const random = seededRandom('activity of a rune');
  let mints = 0;
  for (let height = 2; height <= blocks; height++) {
    if (random.below(3) === 0) mints = await mint(random, height, mints);
    for (let left = random.below(3); left > 0; left--) await transfer(random, height);
  }
  for (const [name, { table, columns, where }] of Object.entries(runeIndexes))
    await pool.query(
      `CREATE INDEX ${name} ON ${table} (${columns}) ${where === undefined ? '' : `WHERE ${where}`}`,
    );
  await pool.query('ANALYZE chain.runes, chain.rune_mints, chain.rune_balances');
  const inOrder = (a: ActivityPlace, b: ActivityPlace): number =>
    a.height - b.height || a.txIndex - b.txIndex || a.step - b.step || a.vout - b.vout;
  places.sort(inOrder);
});
afterAll(() => database.drop());

test('a page of activity begins and ends anywhere, within the mints of a block too', async () => {
  await withSnapshot(
    database.pool,
    async ({ client }) => {
      for (const order of ['asc', 'desc'] as const) {
        const all = order === 'asc' ? places : places.toReversed();
        for (const limit of [1, 5, 17, 50])
          for (let at = -1; at < all.length; at += 3) {
            const page = await runeActivity(client, 0, { order, limit, after: all[at] ?? null });
            const shown = page.map(({ height, txIndex, step, vout }) => ({ height, txIndex, step, vout }));
            expect(shown).toEqual(all.slice(at + 1, at + 1 + limit));
            for (const { txid, txIndex } of page) expect(Buffer.compare(txid, txidOf(txIndex))).toBe(0);
          }
      }
    },
    null,
  );
});
