import { strict as assert } from 'node:assert';
import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type FoundCollection, type Member, memberOf } from '#market/collections/market-slug.store.ts';
import type { SalePlace } from './sale-places.ts';

/** A sale of an inscription. */
export interface Activity {
  readonly item: Member;
  /** Scripts; above 128 bytes the first 97 and a sha256. */
  readonly maker: Uint8Array;
  /** Null: the inscription went into the fee. */
  readonly taker: Uint8Array | null;
  /** Sats. */
  readonly price: number;
  /** Of the block, in Unix seconds. */
  readonly time: number;
  readonly height: Height;
  readonly txid: Txid;
  /** Maker and taker are one. */
  readonly isWash: boolean;
}

interface ActivityRow extends Omit<Activity, 'item'> {
  readonly revealTxid: Txid;
  readonly index: number;
  readonly number: number | null;
  readonly place: number | null;
  readonly name: string | null;
}

/** Sales of a collection at the places that a list of it has, in their order. */
export async function readActivity(
  client: ClientBase,
  collection: FoundCollection,
  places: readonly SalePlace[],
): Promise<Activity[]> {
  const { rows } = await client.query<ActivityRow>(
    `SELECT i.txid AS "revealTxid", i.index, i.number, m.place, m.name, s.maker, s.taker,
       s.price::float8 AS price, b.time::float8 AS time, s.height, s.txid, s.wash AS "isWash"
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
  return rows.map(({ revealTxid, index, number, place, name, ...sale }) => ({
    ...sale,
    item: memberOf(collection, { txid: revealTxid, index, number, place, name }),
  }));
}
