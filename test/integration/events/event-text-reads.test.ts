import { expect, test } from 'vitest';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { createTestDatabase } from '#test/support/database.ts';

const blocks = 300;
const inscriptionsPerBlock = 300;
const readBlocks = 20;

test('texts of a few blocks read the inscriptions of these blocks, not all', async () => {
  const database = await createTestDatabase();
  const client = await database.pool.connect();
  try {
    await client.query(
      `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored,
         has_spent, first_key, next_key, next_content_id, next_metadata_id)
       SELECT h, sha256(int4send(h)), convert_to(repeat('h', 80), 'UTF8'), 0, now(), 1, 2, 0, true,
         true, h * $2, (h + 1) * $2, 0, 0
       FROM generate_series(0, $1::integer - 1) AS h`,
      [blocks, inscriptionsPerBlock],
    );
    await client.query(
      `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid)
       SELECT key, 0, key / $2, 1, 0, 0, sha256(int4send(key)) FROM generate_series(0, $1::integer * $2 - 1) AS key`,
      [blocks, inscriptionsPerBlock],
    );
    await client.query('CREATE INDEX locations_spent ON chain.locations (spent_height)');
    await client.query('ANALYZE chain.blocks, chain.inscriptions, chain.locations');
    const read = await withTransaction(client, async (tx) => {
      // the statistics of a transaction have no rows that helper processes read
      await tx.query('SET LOCAL max_parallel_workers_per_gather = 0');
      const range = { from: asHeight(100), to: asHeight(100 + readBlocks - 1), keep: false };
      const texts = await storedInscriptionKind.readTexts(tx, 'regtest', range);
      expect(texts.map(({ count }) => count)).toEqual(
        Array.from({ length: readBlocks }, () => inscriptionsPerBlock),
      );
      const { rows } = await tx.query<{ rows: number }>(
        "SELECT idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relid = 'chain.inscriptions'::regclass",
      );
      return rows[0]?.rows;
    });
    expect(read).toBeGreaterThanOrEqual(readBlocks * inscriptionsPerBlock);
    expect(read).toBeLessThanOrEqual(2 * readBlocks * inscriptionsPerBlock);
  } finally {
    client.release();
    await database.drop();
  }
});
