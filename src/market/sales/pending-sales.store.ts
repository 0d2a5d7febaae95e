import type { ClientBase } from 'pg';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { evidenceColumns, saleNames } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { AsStored, SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import { type FoundCollection, memberTest } from '#market/collections/market-slug.store.ts';
import { isNotOurs } from './sale-lists.ts';

/** A sale whose transaction is not in a block yet. */
export interface PendingSale extends SaleEvidence {
  readonly position: number;
  readonly txid: Txid;
  readonly first_seen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
  /** Txids (32 bytes each) of the transactions that this transaction replaces. */
  readonly replaces: Buffer;
  readonly item: InscriptionId;
  /** The seller's output that the transaction spends. */
  readonly fromTxid: Txid;
  readonly fromVout: number;
  readonly input: number;
  readonly place: number;
  readonly isWash: boolean;
  readonly rules: number;
  /**
   * Script of the maker. A script above 128 bytes, here or in `taker`, is stored as its first 97 bytes and a sha256.
   */
  readonly maker: Buffer;
  readonly taker: Buffer | null;
}

export interface PendingSaleFilter {
  /**
   * Script of the maker or the taker. If it is null, sales of any script are read. If `inscription` or `collection` is
   * null, it is not a filter either.
   */
  readonly script: Uint8Array | null;
  readonly inscription: InscriptionId | null;
  readonly collection: FoundCollection | null;
  /** Only sales of this transaction are read. If it is absent, sales of all transactions are read. */
  readonly txid?: Txid;
}

/** Position of a pending sale. A page begins before or after this position. */
export interface PendingSaleCursor {
  readonly position: number;
  readonly input: number;
  readonly place: number;
}

type Row = Omit<AsStored<PendingSale>, 'item'> & {
  readonly itemTxid: Txid;
  readonly itemIndex: number;
};

const columns = `s.position, s.txid, s.first_seen, s.fee, s.vsize, s.replaces, s.inscription_txid AS "itemTxid",
       s.inscription_index AS "itemIndex", s.from_txid AS "fromTxid", s.from_vout AS "fromVout", s.input, s.place, s.rules,
       ${evidenceColumns}`;

const saleOf = ({ itemTxid, itemIndex, ...row }: Row): PendingSale => ({
  ...row,
  ...saleNames(row),
  item: { txid: itemTxid, index: itemIndex },
});

/**
 * SQL: whether a row `s` of chain.pending_sales belongs to the collection. `of` is its parameter $1. Throws
 * `index_missing` for a gallery if the index of gallery items is not built yet.
 */
async function among(
  client: ClientBase,
  collection: FoundCollection | null,
): Promise<{ readonly sql: string; readonly of: string | number | null }> {
  if (collection === null) return { sql: '$1::text IS NULL', of: null };
  if (collection.kind !== 'import' && collection.galleryItems > 0)
    await requireIndexes(client, [galleryIndex], 'galleries');
  return memberTest(collection, 's.inscription_txid', 's.inscription_index');
}

/**
 * Pending sales after a cursor, in the order in which their transactions were seen. Transactions of our own orders are
 * left out.
 */
export async function pendingSales(
  client: ClientBase,
  { script, inscription, collection, txid }: PendingSaleFilter,
  after: PendingSaleCursor | null,
  limit: number,
): Promise<PendingSale[]> {
  const { sql, of } = await among(client, collection);
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM chain.pending_sales s
     WHERE ${sql} AND ${isNotOurs} AND ($2::bytea IS NULL OR s.maker = $2 OR s.taker = $2)
       AND ($3::bytea IS NULL OR (s.inscription_txid = $3 AND s.inscription_index = $4::bigint))
       AND ($9::bytea IS NULL OR s.position = (SELECT t.position FROM chain.mempool_transactions t WHERE t.txid = $9))
       AND (s.position, s.input, s.place) > ($5::bigint, $6::integer, $7::integer)
     ORDER BY s.position, s.input, s.place LIMIT $8`,
    [
      of,
      script === null ? null : Buffer.from(script),
      inscription === null ? null : Buffer.from(inscription.txid),
      inscription?.index ?? null,
      after?.position ?? 0,
      after?.input ?? 0,
      after?.place ?? 0,
      limit,
      txid === undefined ? null : Buffer.from(txid),
    ],
  );
  return rows.map(saleOf);
}

/** The newest pending sales before a position. Transactions of our own orders are left out. */
export async function newestPendingSales(
  client: ClientBase,
  before: PendingSaleCursor,
  limit: number,
): Promise<PendingSale[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM chain.pending_sales s
     WHERE (s.position, s.input, s.place) < ($1::bigint, $2::integer, $3::integer) AND ${isNotOurs}
     ORDER BY s.position DESC, s.input DESC, s.place DESC LIMIT $4`,
    [before.position, before.input, before.place, limit],
  );
  return rows.map(saleOf);
}

/**
 * The cheapest pending sale of a collection. Returns null if there is no pending sale. Wash trades are ignored.
 * Checking whether readers may see a row takes 50 µs, so rows are checked by ascending price, up to the first visible
 * row.
 */
export async function pendingFloor(
  client: ClientBase,
  collection: FoundCollection,
): Promise<{ readonly price: number; readonly item: InscriptionId; readonly txid: Txid } | null> {
  const { sql, of } = await among(client, collection);
  const { rows } = await client.query<{ price: number; itemTxid: Txid; itemIndex: number; txid: Txid }>(
    `SELECT first.price::float8 AS price, first.inscription_txid AS "itemTxid", first.inscription_index AS "itemIndex", shown.txid
     FROM (SELECT s.* FROM chain.mempool_sales s
           WHERE NOT s.wash AND ${sql} ORDER BY s.price, s.position, s.input, s.place) AS first
     CROSS JOIN LATERAL (
       SELECT s.txid FROM chain.pending_sales s
       WHERE s.position = first.position AND s.input = first.input AND s.place = first.place AND ${isNotOurs} OFFSET 0) AS shown
     ORDER BY first.price, first.position, first.input, first.place LIMIT 1`,
    [of],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { price: row.price, item: { txid: row.itemTxid, index: row.itemIndex }, txid: row.txid };
}
