import { strict as assert } from 'node:assert';
import type { ClientBase } from 'pg';
import { evidenceColumns, saleNames } from '#chain/sales/sale.queries.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { AsStored, SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import { type FoundCollection, type Member, memberOf } from '#market/collections/market-slug.store.ts';
import type { SalePlace } from './sale-places.ts';

/** A sale of a member of a collection, with its evidence (docs/marketplace.md). */
export interface CollectionSale extends SaleEvidence {
  readonly item: Member;
  /** The position of the sale consists of height, transaction, input and index in the input. */
  readonly height: Height;
  readonly txIndex: number;
  readonly input: number;
  readonly place: number;
  readonly txid: Txid;
  /** Hash of the sale's block. `time` is the time of that block in Unix seconds. */
  readonly blockHash: BlockHash;
  readonly time: number;
  /**
   * Script of the maker. A script above 128 bytes, here or in `taker`, is stored as its first 97 bytes and a sha256.
   */
  readonly maker: Uint8Array;
  /** Script of the taker. Null if the inscription went into the fee. */
  readonly taker: Uint8Array | null;
  /** Whether maker and taker are the same. */
  readonly isWash: boolean;
}

interface StoredRow extends Omit<AsStored<CollectionSale>, 'item'> {
  readonly revealTxid: Txid;
  readonly index: number;
  readonly number: number | null;
  readonly itemPlace: number | null;
  readonly name: string | null;
}

/** The sales of a collection at the given positions, in the order of these positions. */
export async function readCollectionSales(
  client: ClientBase,
  collection: FoundCollection,
  places: readonly SalePlace[],
): Promise<CollectionSale[]> {
  const { rows } = await client.query<StoredRow>(
    `SELECT i.txid AS "revealTxid", i.index, i.number, m.place AS "itemPlace", m.name, s.height, s.tx_index AS "txIndex",
       s.input, s.place, s.txid, b.hash AS "blockHash", b.time::float8 AS time, ${evidenceColumns}
     FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[])
       WITH ORDINALITY AS asked(height, tx_index, input, place, nth)
     JOIN chain.sales s USING (height, tx_index, input, place)
     JOIN chain.blocks b USING (height)
     JOIN chain.inscriptions i ON i.key = s.key
     LEFT JOIN service.market_items m ON m.slug = $5 AND m.txid = i.txid AND m.index = i.index
     ORDER BY asked.nth`,
    [
      places.map(({ height }) => height),
      places.map(({ txIndex }) => txIndex),
      places.map(({ input }) => input),
      places.map(({ place }) => place),
      collection.slug,
    ],
  );
  assert(rows.length === places.length, 'a sale of the list is in the table');
  return rows.map(({ revealTxid, index, number, itemPlace, name, ...sale }) => ({
    ...sale,
    ...saleNames(sale),
    item: memberOf(collection, { txid: revealTxid, index, number, place: itemPlace, name }),
  }));
}
