import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type U128, u128OfText, zeroU128 } from '#kernel/runes/u128.ts';
import { type NameRow, spacedRuneOf } from './rune.queries.ts';

/** An amount of a rune that a transaction minted, moved or burned. */
export interface RuneChange extends SpacedRune {
  readonly kind: 'etched' | 'minted' | 'sent' | 'received' | 'burned';
  readonly divisibility: number;
  /** A code point. */
  readonly symbol: number | null;
  readonly amount: U128;
  /** The spent output, or the output that received units. `null` for other kinds. */
  readonly output: { readonly txid: Txid; readonly vout: number } | null;
  /**
   * The block and the transaction that spent a received amount. `null` if the amount is unspent, or for other kinds.
   */
  readonly spent: { readonly height: Height; readonly txid: Txid | null } | null;
}

interface ChangeRow extends NameRow {
  step: number;
  divisibility: number;
  symbol: number | null;
  amount: string | null;
  txid: Txid | null;
  vout: number | null;
  spent_height: Height | null;
  spent_txid: Txid | null;
}

const kinds = ['etched', 'minted', 'sent', 'received', 'burned'] as const;
const indexes = ['rune_balances_spends', 'rune_burns_height'];

/** SQL: the txid of the transaction at a height and index, if a balance or a burn contains it. */
const txidAt = (height: string, tx: string): string => `coalesce(
       (SELECT o.txid FROM chain.rune_balances o WHERE o.height = ${height} AND o.tx_index = ${tx} LIMIT 1),
       (SELECT o.txid FROM chain.rune_burns o WHERE o.height = ${height} AND o.tx_index = ${tx} LIMIT 1))`;

/**
 * The amounts of runes that a transaction of a block changed, by kind and output. `null` while the indexes that find
 * them are being built. Reads all rune balances that the block spent: at most a few thousand rows.
 */
export async function runesOfTransaction(
  client: ClientBase,
  { height, txIndex }: { readonly height: Height; readonly txIndex: number },
  limit: number,
): Promise<RuneChange[] | null> {
  if ((await builtIndexes(client, indexes)).size < indexes.length) return null;
  const { rows } = await client.query<ChangeRow>(
    `SELECT c.step, c.vout, c.txid, c.spent_height, c.spent_txid, coalesce(c.amount, r.amount)::text AS amount,
       r.rune::text, r.spacers, r.divisibility, r.symbol
     FROM (
       SELECT 0 AS step, key AS rune_key, premine AS amount, NULL::bytea AS txid, NULL::integer AS vout,
         NULL::integer AS spent_height, NULL::bytea AS spent_txid
       FROM chain.runes WHERE height = $1 AND tx_index = $2
       UNION ALL
       SELECT 1, rune_key, NULL, NULL, NULL, NULL, NULL
       FROM chain.rune_mints WHERE height = $1 AND $2 = ANY(tx_indexes)
       UNION ALL
       SELECT 2, rune_key, amount, txid, vout, NULL, NULL
       FROM chain.rune_balances WHERE spent_height = $1 AND spent_tx_index = $2
       UNION ALL
       SELECT 3, rune_key, amount, txid, vout, spent_height, ${txidAt('b.spent_height', 'b.spent_tx_index')}
       FROM chain.rune_balances b WHERE height = $1 AND tx_index = $2
       UNION ALL
       SELECT 4, rune_key, amount, NULL, NULL, NULL, NULL
       FROM chain.rune_burns WHERE height = $1 AND tx_index = $2
     ) AS c JOIN chain.runes r ON r.key = c.rune_key
     ORDER BY c.step, c.vout, c.rune_key LIMIT $3`,
    [height, txIndex, limit],
  );
  return rows.map(changeOf);
}

function changeOf(row: ChangeRow): RuneChange {
  const { txid, vout, spent_height: spentHeight, spent_txid: spentTxid } = row;
  return {
    kind: kinds[row.step] ?? 'received',
    ...spacedRuneOf(row),
    divisibility: row.divisibility,
    symbol: row.symbol,
    amount: row.amount === null ? zeroU128 : u128OfText(row.amount),
    output: txid === null || vout === null ? null : { txid, vout },
    spent: spentHeight === null ? null : { height: spentHeight, txid: spentTxid },
  };
}

/** The burn of a rune in a block. */
export interface RuneBurnRow {
  readonly height: Height;
  readonly amount: U128;
}

/**
 * The burn of a rune by a transaction. `null` if no indexed block has such a burn. The burn is found by its txid. While
 * the index on txids is being built, all burns of the rune are read.
 *
 * @param key key of the rune, which is ord's number
 */
export async function runeBurnBy(client: ClientBase, key: number, txid: Txid): Promise<RuneBurnRow | null> {
  const { rows } = await client.query<{ height: Height; amount: string }>(
    `SELECT height, amount::text FROM chain.rune_burns
      WHERE chain.hash32(txid) = chain.hash32($2) AND txid = $2 AND rune_key = $1`,
    [key, Buffer.from(txid)],
  );
  const [row] = rows;
  return row === undefined ? null : { height: row.height, amount: u128OfText(row.amount) };
}
