import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** A sale in a list of all of them. */
export interface NewestSale {
  readonly txid: Txid;
  /** Unix seconds of the block. */
  readonly time: number;
  readonly price: Sats;
  /** Txid of the reveal, and the index of the inscription there. */
  readonly revealTxid: Txid;
  readonly index: number;
  readonly number: number | null;
}

/** Rows of which wash trades are left out: a maker who trades with himself all day fills no more. */
const consideredMax = 200;

/**
 * The newest sales of all inscriptions, newest first, without wash trades. Null: sales are not indexed, or not yet of
 * all blocks. Reads the end of the primary key.
 */
export async function newestSales(client: ClientBase, limit: number): Promise<NewestSale[] | null> {
  if (!(await isComplete(client, 'sales'))) return null;
  const { rows } = await client.query<NewestSale>(
    `SELECT s.txid, b.time::float8 AS time, s.price::float8 AS price, i.txid AS "revealTxid", i.index, i.number
     FROM (SELECT * FROM chain.sales ORDER BY height DESC, tx_index DESC, input DESC, place DESC
           LIMIT ${consideredMax}) AS s
     JOIN chain.inscriptions i USING (key) JOIN chain.blocks b ON b.height = s.height
     WHERE NOT s.wash ORDER BY s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC LIMIT $1`,
    [limit],
  );
  return rows;
}
