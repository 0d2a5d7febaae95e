import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';

/** A sale in a block or in a pending transaction. */
export interface ArrivedSale {
  readonly txid: Txid;
  readonly input: number;
  readonly revealTxid: Txid;
  readonly index: number;
  readonly price: number;
  readonly maker: Buffer;
  readonly taker: Buffer | null;
}

const columns = `s.txid, s.input, s.price::float8 AS price, s.maker, s.taker`;

/** The sales of a block. */
export async function readArrivedSales(client: ClientBase, height: number): Promise<ArrivedSale[]> {
  const { rows } = await client.query<ArrivedSale>(
    `SELECT ${columns}, i.txid AS "revealTxid", i.index FROM chain.sales AS s JOIN chain.inscriptions AS i USING (key)
      WHERE s.height = $1 ORDER BY s.tx_index, s.input, s.place`,
    [height],
  );
  return rows;
}

/** The sales of pending transactions at positions above `after`. */
export async function readPendingSales(client: ClientBase, after: number): Promise<ArrivedSale[]> {
  const { rows } = await client.query<ArrivedSale>(
    `SELECT ${columns}, s.inscription_txid AS "revealTxid", s.inscription_index AS index FROM chain.pending_sales AS s
      WHERE s.position > $1 ORDER BY s.position, s.input, s.place`,
    [after],
  );
  return rows;
}
