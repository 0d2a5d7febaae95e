import pg from 'pg';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { salesRules } from '#indexer/ledger/sales/sale-rules.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Targets } from '#test/attack/chain/hurtful-chain.ts';
import type { SoldItems } from '#test/attack/chain/sold-items.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Slugs of imports that all have the same items. The service walks through each import separately. */
export const importSlugs = ['hurtful-1', 'hurtful-2'] as const;
/** Number of buyers and sellers. */
const traders = 50_000;
/**
 * How long to wait for the indexes that are built after the first sync, in ms. With these indexes, inserting the rows
 * of a test chain takes a second.
 */
const indexesWaitMs = 60_000;

/**
 * Makes imports of all items, in the database of a running service that has indexed its chain. The sales are spread
 * over the blocks after the items. This function writes the rows of the indexer itself, because mining and indexing a
 * million transactions would take an hour.
 */
export async function makeMarket(
  dataDir: string,
  { sold, tipHeight }: Pick<Targets, 'sold' | 'tipHeight'>,
  sales: number,
): Promise<void> {
  const { url } = await attachEmbeddedPostgres(dataDir);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await waitUntil(async () => (await indexedTo(pool)) === tipHeight, { limitMs: indexesWaitMs });
    const first = parseInscriptionId(sold.ids[0]!)!;
    const { rows } = await pool.query<{ key: number }>(
      'SELECT key FROM chain.inscriptions WHERE txid = $1 AND index = 0',
      [Buffer.from(first.txid)],
    );
    const { key } = rows[0]!;
    await insertSales(pool, { key, tip: tipHeight, sold, sales });
    for (const slug of importSlugs) {
      await pool.query(
        'INSERT INTO service.market_collections (slug, name, items, digest) VALUES ($1, $1, $2, $3)',
        [slug, sold.count, Buffer.alloc(32)],
      );
      await pool.query(
        `INSERT INTO service.market_items (slug, place, index, txid, name)
         SELECT $1, i.key - $2, i.index, i.txid, 'Item ' || (i.key - $2) FROM chain.inscriptions i
         WHERE i.key >= $2 AND i.key < $2 + $3::integer`,
        [slug, key, sold.count],
      );
    }
    for (const table of ['chain.sales', 'service.market_items']) await pool.query(`VACUUM ANALYZE ${table}`);
  } finally {
    await pool.end();
  }
}

/** Height of the last block whose sales are indexed. -1 if the indexes that are built late do not exist yet. */
async function indexedTo(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ height: number | null }>(
    `SELECT tip_height AS height FROM chain.state
     WHERE to_regclass('chain.sales_key') IS NOT NULL AND to_regclass('chain.sales_txid') IS NOT NULL`,
  );
  return rows[0]?.height ?? -1;
}

interface SalesToMake {
  readonly key: number;
  readonly tip: number;
  readonly sold: SoldItems;
  readonly sales: number;
}

async function insertSales(pool: pg.Pool, { key, tip, sold, sales }: SalesToMake): Promise<void> {
  await pool.query(
    `INSERT INTO chain.sales (height, tx_index, input, place, gross_payout, price, key, bundle, payout_output, rules, class,
       form, confidence, sighash, wash, txid, maker, taker)
     SELECT $1 + g % $2, 1 + g / $2, 2, 0, 110000, 100000 + g % 1000, $3 + (g::bigint * 7919 % $4)::integer, 1, 2, $5, 1,
       2, 1, 131, g % 50 = 0, decode(md5('t' || g) || md5('x' || g), 'hex'),
       decode('5120' || md5('m' || g % $6) || md5('a' || g % $6), 'hex'),
       decode('5120' || md5('b' || g % $6) || md5('c' || g % $6), 'hex')
     FROM generate_series(0, $7::integer - 1) AS g`,
    [sold.height + 1, tip - sold.height, key, sold.count, salesRules, traders, sales],
  );
  // if the texts of events are not stored, the service makes them from the rows
  await pool.query(
    `UPDATE chain.outbox_texts t SET events = NULL, event_count = (SELECT count(*) FROM chain.sales s WHERE s.height = t.height)
     WHERE kind = $1`,
    [storedSaleKind.number],
  );
}
