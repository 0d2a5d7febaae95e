import type { ClientBase } from 'pg';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type U128, u128OfText, zeroU128 } from '#kernel/runes/u128.ts';
import { type NameRow, spacedRuneOf } from './rune.queries.ts';
import type { PageOf } from './rune-activity.queries.ts';

/** A rune, as lists name it. */
export interface NamedRune extends SpacedRune {
  readonly key: number;
  /** The id of the rune: its block, and the index of its transaction in that block. */
  readonly height: Height;
  readonly txIndex: number;
  readonly divisibility: number;
  /** A code point. */
  readonly symbol: number | null;
}

/** A script's balance of a rune. */
export interface ScriptBalance {
  readonly rune: NamedRune;
  readonly amount: U128;
  /** Number of unspent outputs with the rune. */
  readonly outputs: number;
}

interface RuneColumns extends NameRow {
  key: number;
  id_height: Height;
  id_tx: number;
  divisibility: number;
  symbol: number | null;
}

const runeColumns =
  'r.key, r.height AS id_height, r.tx_index AS id_tx, r.rune::text, r.spacers, r.divisibility, r.symbol';

const namedRune = (row: RuneColumns): NamedRune => ({
  key: row.key,
  height: row.id_height,
  txIndex: row.id_tx,
  ...spacedRuneOf(row),
  divisibility: row.divisibility,
  symbol: row.symbol,
});

/** Maximum number of balances that are summed for one response. 100,000 balances take some 200 ms. */
const balancesMax = 100_000;

/**
 * A script's balances of each rune after the block at `height`, in the order of the runes' ids. Throws `index_missing`
 * during a first sync. Throws `address_too_large` if too many balances must be added up.
 *
 * @param above only runes with a higher key are included
 */
export async function balancesOfScript(
  client: ClientBase,
  script: Uint8Array,
  { height, above, limit }: { readonly height: Height; readonly above: number; readonly limit: number },
): Promise<ScriptBalance[]> {
  await requireIndexes(client, ['rune_balances_script', 'rune_balances_sent'], 'owners of runes');
  const { rows } = await client.query<RuneColumns & { amount: string; outputs: number; added: string }>(
    `WITH there AS (
       (SELECT rune_key, amount FROM chain.rune_balances
        WHERE chain.hash32(script) = chain.hash32($1::bytea) AND script = $1 AND spent_height IS NULL AND height <= $2
        LIMIT $5)
       UNION ALL
       (SELECT rune_key, amount FROM chain.rune_balances
        WHERE chain.hash32(script) = chain.hash32($1::bytea) AND script = $1 AND spent_height > $2 AND height <= $2
        LIMIT $5)
     ), sums AS (
       SELECT rune_key, sum(amount) AS amount, count(*) AS outputs, sum(count(*)) OVER () AS added FROM there GROUP BY rune_key
     )
     SELECT ${runeColumns}, s.amount::text, s.outputs, s.added::text
     FROM sums s JOIN chain.runes r ON r.key = s.rune_key WHERE s.rune_key > $3 ORDER BY s.rune_key LIMIT $4`,
    [Buffer.from(script), height, above, limit, balancesMax + 1],
  );
  if (Number(rows[0]?.added ?? 0) > balancesMax)
    throw new AppError('address_too_large', `the address held more than ${balancesMax} balances of runes`);
  return rows.map((row) => ({ rune: namedRune(row), amount: u128OfText(row.amount), outputs: row.outputs }));
}

/** A position in the history of a script. */
export interface HistoryPlace {
  readonly height: number;
  readonly txIndex: number;
  /** Key of the rune. */
  readonly key: number;
}

/** The units of a rune that a transaction sent to a script, and the units that it spent from the script. */
export interface ScriptChange extends HistoryPlace {
  readonly height: Height;
  readonly rune: NamedRune;
  readonly blockHash: BlockHash;
  /** Unix seconds of the block's header. */
  readonly timestamp: number;
  readonly txid: Txid;
  readonly received: U128;
  readonly sent: U128;
}

interface ChangeRow extends RuneColumns {
  height: Height;
  tx_index: number;
  received: string | null;
  sent: string | null;
  txid: Txid;
  hash: BlockHash;
  time: number;
}

const ends = {
  asc: { height: -1, txIndex: -1, key: -1 },
  desc: { height: 2 ** 31 - 1, txIndex: 2 ** 31 - 1, key: 2 ** 31 - 1 },
} as const satisfies Record<PageOf<HistoryPlace>['order'], HistoryPlace>;

/**
 * The transactions in which a script received or sent units of runes. There is one entry for each rune, in chain order.
 * Received and sent units are read by two indexes on script and height, from the position on. Throws `index_missing`
 * during a first sync.
 */
export async function historyOfScript(
  client: ClientBase,
  script: Uint8Array,
  { order, limit, after }: PageOf<HistoryPlace>,
): Promise<ScriptChange[]> {
  await requireIndexes(client, ['rune_balances_script', 'rune_balances_sent'], 'owners of runes');
  const from = after ?? ends[order];
  const sign = order === 'asc' ? '>' : '<';
  const { rows } = await client.query<ChangeRow>(
    `WITH received AS (${sumsOf('height', 'tx_index', sign, order)}),
     sent AS (${sumsOf('spent_height', 'spent_tx_index', sign, order)}),
     changes AS (
       SELECT height, tx_index, rune_key, i.amount AS received, o.amount AS sent
       FROM received i FULL JOIN sent o USING (height, tx_index, rune_key)
       ORDER BY height ${order}, tx_index ${order}, rune_key ${order} LIMIT $5
     )
     SELECT ${runeColumns}, c.height, c.tx_index, c.received::text, c.sent::text, b.hash, b.time, coalesce(
       (SELECT o.txid FROM chain.rune_balances o WHERE o.height = c.height AND o.tx_index = c.tx_index LIMIT 1),
       (SELECT o.txid FROM chain.rune_burns o WHERE o.height = c.height AND o.tx_index = c.tx_index LIMIT 1)) AS txid
     FROM changes c JOIN chain.runes r ON r.key = c.rune_key JOIN chain.blocks b ON b.height = c.height
     ORDER BY c.height ${order}, c.tx_index ${order}, c.rune_key ${order}`,
    [Buffer.from(script), from.height, from.txIndex, from.key, limit],
  );
  return rows.map((row) => ({
    height: row.height,
    txIndex: row.tx_index,
    key: row.key,
    rune: namedRune(row),
    blockHash: row.hash,
    timestamp: row.time,
    txid: row.txid,
    received: row.received === null ? zeroU128 : u128OfText(row.received),
    sent: row.sent === null ? zeroU128 : u128OfText(row.sent),
  }));
}

/**
 * SQL: units that a script received (or sent) in each transaction, from a position on. Every entry of the page is among
 * the first entries of received or of sent units, so neither list needs more rows than the page.
 */
function sumsOf(height: string, tx: string, sign: '<' | '>', order: 'asc' | 'desc'): string {
  return `SELECT ${height} AS height, ${tx} AS tx_index, rune_key, sum(amount) AS amount FROM chain.rune_balances
    WHERE chain.hash32(script) = chain.hash32($1::bytea) AND script = $1 AND ${height} IS NOT NULL
      AND ${height} ${sign}= $2 AND (${height}, ${tx}, rune_key) ${sign} ($2::integer, $3::integer, $4::integer)
    GROUP BY ${height}, ${tx}, rune_key ORDER BY ${height} ${order}, ${tx} ${order}, rune_key ${order} LIMIT $5`;
}
