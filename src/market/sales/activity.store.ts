import type { ClientBase } from 'pg';
import { heightsOfDays } from '#chain/blocks/block-days.queries.ts';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import {
  type FoundCollection,
  type Member,
  memberOf,
  membersOf,
} from '#market/collections/market-slug.store.ts';

/** Which page of the sales of a collection. */
export interface ActivityQuestion {
  /** Unix seconds: blocks whose time is earlier are left out. Null: none is. */
  readonly since: number | null;
  readonly order: 'asc' | 'desc';
  /** From 0. */
  readonly page: number;
  readonly limit: number;
}

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

const daySeconds = 86_400;

/**
 * Sales of a collection in the order of the chain: height, transaction, input, place. Block times go backwards by
 * hours, so every block's own time is compared. Deliveries and returns of our own orders are no sales. Throws
 * `derived_table_behind` while sales are being filled.
 */
export async function readActivity(
  client: ClientBase,
  collection: FoundCollection,
  { since, order, page, limit }: ActivityQuestion,
): Promise<Activity[]> {
  await requireNotBehind(client, 'sales');
  const low = await lowestHeight(client, since);
  const { sql, of } = membersOf(collection);
  const sorted = (alias: string): string =>
    `ORDER BY ${['height', 'tx_index', 'input', 'place'].map((column) => `${alias}.${column} ${order}`).join(', ')}`;
  // what a row shows is read of the rows of the page alone
  const { rows } = await client.query<ActivityRow>(
    `WITH members AS (${sql}), sold AS (
       SELECT s.height, s.tx_index, s.input, s.place, s.key, b.time, m.place AS nth, m.name
       FROM chain.sales s JOIN members m USING (key) JOIN chain.blocks b USING (height)
       WHERE s.height >= $2 AND b.time >= $3 AND ${isNotOurs}
       ${sorted('s')} LIMIT $4 OFFSET $5)
     SELECT i.txid AS "revealTxid", i.index, i.number, sold.nth AS place, sold.name, s.maker, s.taker,
       s.price::float8 AS price, sold.time::float8 AS time, sold.height, s.txid, s.wash AS "isWash"
     FROM sold JOIN chain.sales s USING (height, tx_index, input, place)
     JOIN chain.inscriptions i ON i.key = sold.key
     ${sorted('sold')}`,
    [of, low, since ?? 0, limit, page * limit],
  );
  return rows.map(({ revealTxid, index, number, place, name, ...sale }) => ({
    ...sale,
    item: memberOf(collection, { txid: revealTxid, index, number, place, name }),
  }));
}

/** Of a row `s` of chain.sales: no transaction of an order of this service made it. */
export const isNotOurs = 'NOT EXISTS (SELECT FROM service.order_transactions o WHERE o.txid = s.txid)';

/** No block below it has a time from `since` on: times go backwards by hours, and a day is left for that. */
async function lowestHeight(client: ClientBase, since: number | null): Promise<number> {
  if (since === null) return 0;
  const heights = await heightsOfDays(client, [Math.floor(since / daySeconds) - 1]);
  return heights?.[0] ?? 0;
}
