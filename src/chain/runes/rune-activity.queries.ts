import type { ClientBase } from 'pg';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type U128, u128OfText, zeroU128 } from '#kernel/runes/u128.ts';
import { eachMint, ofRune, txidOfMint } from './rune.queries.ts';

/** Kinds of a rune's events, in the order in which a transaction has them. */
export const activityKinds = ['minted', 'etched', 'transferred', 'burned'] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** A position in the events of a rune. `step` is the index of the kind in `activityKinds`. */
export interface ActivityPlace {
  readonly height: number;
  readonly txIndex: number;
  readonly step: number;
  /** Index of the output that received units. 0 for other kinds. */
  readonly vout: number;
}

export interface RuneActivity extends ActivityPlace {
  readonly height: Height;
  readonly kind: ActivityKind;
  readonly blockHash: BlockHash;
  /** Unix seconds of the block's header. */
  readonly timestamp: number;
  readonly txid: Txid;
  /** The number of units that were minted, premined, sent to the output, or burned. */
  readonly amount: U128;
  /** Script of the output that received units, in the form of `RuneHolder`. `null` for other kinds. */
  readonly script: Uint8Array | null;
}

interface ActivityRow {
  height: Height;
  tx_index: number;
  step: number;
  vout: number;
  txid: Txid;
  script: Buffer | null;
  amount: string | null;
  hash: BlockHash;
  time: number;
}

/** A page of a list. */
export interface PageOf<Place> {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The page begins after this position. `null` if the page begins with the first entry. */
  readonly after: Place | null;
}

/** Positions that are before all entries, for each order. */
const ends = {
  asc: { height: -1, txIndex: -1, step: -1, vout: -1 },
  desc: { height: 2 ** 31 - 1, txIndex: 2 ** 31 - 1, step: 4, vout: 0 },
} as const satisfies Record<PageOf<ActivityPlace>['order'], ActivityPlace>;

/**
 * SQL: number of mints in the blocks between the first row of a page and another row, computed from running totals.
 * Once these mints fill the page, later rows are not split into mints. SQL NULL if no block is between.
 */
const mintsBetween = {
  asc: 'lag(mints) OVER nearest - first_value(mints) OVER nearest',
  desc: 'nth_value(mints, 2) OVER nearest - mints',
} as const satisfies Record<PageOf<ActivityPlace>['order'], string>;

/**
 * Events of a rune in chain order. Four tables are read from the position on, each by an index that begins with the
 * rune. The cost therefore depends only on the page. Throws `index_missing` during a first sync.
 */
export async function runeActivity(
  client: ClientBase,
  key: number,
  { order, limit, after }: PageOf<ActivityPlace>,
): Promise<RuneActivity[]> {
  await requireIndexes(
    client,
    ['rune_balances_rune', 'rune_burns_height', 'rune_mints_rune'],
    'activity of runes',
  );
  const from = after ?? ends[order];
  const sign = order === 'asc' ? '>' : '<';
  // The indexes contain the height; the other parts of the position are compared for each row. A row of mints has at
  // least one mint after the position. The only exception is the row of the position's own block, so one more row is
  // read.
  const isNext = (step: string, vout: string): string =>
    `(height, tx_index) ${sign}= ($2::integer, $3::integer)
       AND (height, tx_index, ${step}, ${vout}) ${sign} ($2::integer, $3::integer, $4::integer, $5::bigint)`;
  const page = `ORDER BY rune_key ${order}, height ${order}, tx_index ${order} LIMIT $6`;
  const { rows } = await client.query<ActivityRow>(
    `SELECT e.height, e.tx_index, e.step, e.vout, e.script, coalesce(e.amount, r.amount, 0)::text AS amount, b.hash, b.time,
       coalesce(e.txid,
         (SELECT o.txid FROM chain.rune_balances o WHERE o.height = e.height AND o.tx_index = e.tx_index LIMIT 1),
         (SELECT o.txid FROM chain.rune_burns o WHERE o.height = e.height AND o.tx_index = e.tx_index LIMIT 1)) AS txid
     FROM (
       (SELECT height, tx_index, 0 AS step, 0 AS vout, ${txidOfMint} AS txid, NULL::bytea AS script, NULL::numeric AS amount
        FROM (
          SELECT height, tx_indexes, txids, ${mintsBetween[order]} AS nearer FROM (
            SELECT height, mints, tx_indexes, txids FROM chain.rune_mints WHERE ${ofRune('$1')} AND height ${sign}= $2
            ORDER BY rune_key ${order}, height ${order} LIMIT $6::bigint + 1
          ) AS near WINDOW nearest AS (ORDER BY height ${order})
        ) AS minted, ${eachMint}
        WHERE (nearer IS NULL OR nearer < $6) AND ${isNext('0', '0')}
        ORDER BY height ${order}, tx_index ${order} LIMIT $6)
       UNION ALL
       (SELECT height, tx_index, 1, 0, txid, NULL, premine
        FROM chain.runes WHERE key = $1 AND txid <> decode(repeat('00', 32), 'hex') AND ${isNext('1', '0')})
       UNION ALL
       (SELECT height, tx_index, 2, vout, txid, script, amount
        FROM chain.rune_balances WHERE ${ofRune('$1')} AND ${isNext('2', 'vout')}
        ORDER BY rune_key ${order}, height ${order}, tx_index ${order}, vout ${order} LIMIT $6)
       UNION ALL
       (SELECT height, tx_index, 3, 0, txid, NULL, amount
        FROM chain.rune_burns WHERE ${ofRune('$1')} AND ${isNext('3', '0')} ${page})
     ) AS e
     JOIN chain.blocks b ON b.height = e.height JOIN chain.runes r ON r.key = $1
     ORDER BY e.height ${order}, e.tx_index ${order}, e.step ${order}, e.vout ${order} LIMIT $6`,
    [key, from.height, from.txIndex, from.step, from.vout, limit],
  );
  return rows.map((row) => ({
    height: row.height,
    txIndex: row.tx_index,
    step: row.step,
    vout: row.vout,
    kind: activityKinds[row.step] ?? 'transferred',
    blockHash: row.hash,
    timestamp: row.time,
    txid: row.txid,
    amount: row.amount === null ? zeroU128 : u128OfText(row.amount),
    script: row.script,
  }));
}
