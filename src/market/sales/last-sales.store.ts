import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { isNotOurs } from './sale-lists.ts';

/** The newest sale of an inscription. */
export interface LastSale {
  /** Price in sats. */
  readonly price: number;
  readonly txid: Txid;
  readonly height: Height;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  /** Whether maker and taker are the same. */
  readonly isWash: boolean;
}

/**
 * The newest sales of inscriptions, by key, with one index look-up for each. Inscriptions that were never sold are
 * absent.
 */
export async function lastSalesOf(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<Map<InscriptionKey, LastSale>> {
  const { rows } = await client.query<LastSale & { readonly key: InscriptionKey }>(
    `SELECT asked.key, s.price::float8 AS price, s.txid, s.height, b.time::float8 AS time, s.wash AS "isWash"
     FROM unnest($1::integer[]) AS asked(key)
     CROSS JOIN LATERAL (
       SELECT price, txid, height, wash FROM chain.sales s WHERE s.key = asked.key AND ${isNotOurs}
       ORDER BY s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC LIMIT 1
     ) s
     JOIN chain.blocks b ON b.height = s.height`,
    [keys],
  );
  return new Map(rows.map(({ key, ...sale }) => [key, sale]));
}
