import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { sales as salesTable } from '#indexer/derived/sales/sales.ts';
import { salesRules } from '#indexer/ledger/sales/sale-rules.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import { readCollectionSales } from '#market/sales/collection-sales.store.ts';
import { SaleLists } from '#market/sales/sale-lists.ts';
import { pageOfSales } from '#market/sales/sale-places.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { exportedRows } from './exported-rows.ts';

const items = 10_000;
const firstHeight = 800_000;
const salesPerBlock = 100;
const slug = 'frogs';
const limit = 100;
/** Number of requests for each page, in both ways. */
const questions = 60;
/** Number of first reads. Each walks over all sales. */
const firstReads = 5;
const pages = [0, 100, 9_999];

/** Inserts sales of one collection. Its items are sold repeatedly. It uses SQL, because blocks would take hours. */
async function fill(pool: pg.Pool, sales: number): Promise<void> {
  const last = firstHeight + Math.floor((sales - 1) / salesPerBlock);
  await pool.query(
    `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored, has_spent,
       first_key, next_key, next_content_id, next_metadata_id)
     SELECT h, decode(md5(h::text) || md5('h' || h), 'hex'), decode(repeat('00', 80), 'hex'), 1690000000 + (h - ${firstHeight}) * 600,
       now(), 1500000, 2000, ${firstHeight}, true, true, 0, ${items}, 0, 0
     FROM generate_series(${firstHeight}, $1::integer) AS h`,
    [last],
  );
  await pool.query(
    `INSERT INTO chain.inscriptions (key, txid, index, height, tx_index, input, number, curse, charms, fee, flags)
     SELECT g, decode(md5('i' || g) || md5('n' || g), 'hex'), 0, ${firstHeight}, 1, 0, g, 0, 0, 300, 0
     FROM generate_series(0, ${items} - 1) AS g`,
  );
  await pool.query(
    `INSERT INTO chain.sales (height, tx_index, input, place, gross_payout, price, key, bundle, payout_output, rules, class, form,
       confidence, sighash, wash, txid, maker, taker)
     SELECT ${firstHeight} + g / ${salesPerBlock}, 1 + g % ${salesPerBlock}, 2, 0, 110000, 100000, (g::bigint * 7919 % ${items})::integer, 1, 2, 1, 1,
       2, 1, 131, false, decode(md5('t' || g) || md5('x' || g), 'hex'),
       decode('5120' || md5('m' || g % 50000) || md5('a' || g % 50000), 'hex'), decode('5120' || md5('b' || g % 50000) || md5('c' || g % 50000), 'hex')
     FROM generate_series(0, $1::integer - 1) AS g`,
    [sales],
  );
  await pool.query(
    `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ($1, 'Frogs', ${items}, $2)`,
    [slug, Buffer.alloc(32)],
  );
  await pool.query(
    `INSERT INTO service.market_items (slug, place, index, txid, name)
     SELECT $1, i.key, i.index, i.txid, 'Frog ' || i.key FROM chain.inscriptions i`,
    [slug],
  );
  await pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
     SELECT 'mainnet', $1, height, hash, 1, 1 FROM chain.blocks ORDER BY height DESC LIMIT 1`,
    [Buffer.alloc(32, 1)],
  );
  await pool.query(
    `INSERT INTO chain.derived_tables (name, from_height, is_followed, rules) VALUES ('sales', ${firstHeight}, true, ${salesRules})`,
  );
}

async function read(
  pool: pg.Pool,
  lists: SaleLists,
  { page, order }: { readonly page: number; readonly order: 'asc' | 'desc' },
): Promise<number> {
  const started = performance.now();
  await withSnapshot(
    pool,
    async ({ client, tip }) => {
      const collection = await findMarketCollection(client, slug);
      if (collection === null || tip === null) throw new Error('the collection was imported');
      const blocks = await lists.read(client, collection, tip, true);
      const places = pageOfSales(blocks ?? [], { since: 0, order, page, limit });
      const rows = await readCollectionSales(client, collection, places);
      if (rows.length !== limit) throw new Error(`page ${page} has ${rows.length} sales`);
    },
    null,
  );
  return performance.now() - started;
}

/** Measures pages of a collection's sales without HTTP, and the disk space of a sale. */
export async function activityAnswers(sales: number): Promise<Figure[]> {
  const dataDir = join(benchData, 'activity-answers');
  rmSync(dataDir, { recursive: true, force: true });
  const server = await startEmbeddedPostgres({ dataDir });
  await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  await fill(pool, sales);
  const client = await pool.connect();
  await ensureSecondaryIndexes(client, { wanted: Object.keys(salesTable.indexes), pool });
  client.release();
  for (const table of ['chain.blocks', 'chain.inscriptions', 'chain.sales', 'service.market_items'])
    await pool.query(`VACUUM ANALYZE ${table}`);
  const first: number[] = [];
  for (let nth = 0; nth < firstReads; nth++)
    first.push(await read(pool, new SaleLists(), { page: 0, order: 'desc' }));
  const lists = new SaleLists();
  await read(pool, lists, { page: 0, order: 'desc' });
  const times: number[] = [];
  const reached = pages.filter((page) => (page + 1) * limit <= sales);
  for (let nth = 0; nth < questions; nth++)
    for (const page of reached)
      for (const order of ['asc', 'desc'] as const) times.push(await read(pool, lists, { page, order }));
  const { rows } = await pool.query<{ bytes: number }>(
    "SELECT pg_total_relation_size('chain.sales')::float8 AS bytes",
  );
  const exports = await exportedRows(pool, slug, sales);
  await pool.end();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
  return [
    { name: 'activityP99Ms', value: percentile(times, 0.99), unit: 'ms', target: { most: 50 } },
    { name: 'activityFirstReadMs', value: percentile(first, 0.5), unit: 'ms' },
    ...exports,
    { name: 'bytesPerSale', value: (rows[0]?.bytes ?? 0) / sales, unit: 'bytes' },
  ];
}
