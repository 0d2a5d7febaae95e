import type { ClientBase } from 'pg';
import type { NamedRune } from '#chain/runes/address-runes.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';

/** Names of the values of chain.mempool_runes.step. */
export const pendingSteps = ['minted', 'given', 'burned', 'taken'] as const;
export type PendingStep = (typeof pendingSteps)[number];

/** An amount that is received or sent in a pending transaction. */
export interface PendingMove {
  readonly step: PendingStep;
  /** The rune. `null` if a pending transaction etches the rune. */
  readonly rune: NamedRune | null;
  /** The pending transaction that etches the rune. */
  readonly etchedBy: Txid | null;
  readonly amount: U128;
  /** The output that receives the units, or the output that is spent. */
  readonly vout: number;
  readonly fromTxid: Txid | null;
  readonly script: Uint8Array | null;
}

export interface PendingEtchingRow {
  /** The name. `null` if it depends on the block and the position of the transaction in the block. */
  readonly rune: Rune | null;
  readonly spacers: number;
  readonly divisibility: number;
  /** A code point. */
  readonly symbol: number | null;
  readonly premine: U128;
  readonly state: string;
  readonly matureHeight: number | null;
  /**
   * Other pending transactions that etch the same name. Only the first ones are listed; `rivalCount` is the number of
   * all.
   */
  readonly rivals: readonly Txid[];
  readonly rivalCount: number;
}

/** A pending transaction that involves runes. */
export interface PendingRuneTransaction {
  readonly position: number;
  readonly txid: Txid;
  readonly first_seen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
  readonly replaces: Buffer;
  readonly etching: PendingEtchingRow | null;
  readonly moves: readonly PendingMove[];
}

export interface PendingRunesFilter {
  /** Script of an owner. Only transactions in which this owner receives or sends units are included. */
  readonly script: Uint8Array | null;
  /** Key of a rune. Only transactions with this rune are included. */
  readonly key: number | null;
}

interface TransactionRow {
  position: number;
  txid: Txid;
  first_seen: Date;
  fee: Sats | null;
  vsize: number;
  replaces: Buffer;
  state: string | null;
  rune: string | null;
  spacers: number;
  divisibility: number;
  symbol: number | null;
  premine: string;
  mature_height: number | null;
  rivals: Txid[] | null;
  rival_count: number;
}

/** Maximum number of rivals' txids in one response. */
const rivalsMax = 10;

/**
 * Pending transactions with runes, in the order in which they were seen, beginning after a position. With `desc` the
 * newest come first, beginning before the position. Makes two reads.
 */
export async function pendingRunes(
  client: ClientBase,
  { script, key }: PendingRunesFilter,
  from: number,
  limit: number,
  order: 'asc' | 'desc' = 'asc',
): Promise<PendingRuneTransaction[]> {
  const { rows } = await client.query<TransactionRow>(
    `SELECT t.position, t.txid, t.first_seen, t.fee, t.vsize, t.replaces, e.state, e.rune::text, e.spacers, e.divisibility,
       e.symbol, e.premine::text, e.mature_height, coalesce(r.count, 0)::integer AS rival_count, r.rivals
     FROM chain.pending_rune_transactions t
     LEFT JOIN chain.mempool_etchings e ON e.position = t.position
     LEFT JOIN LATERAL (
       SELECT count(*) AS count, (array_agg(o.txid ORDER BY o.position))[1:${rivalsMax}] AS rivals
       FROM chain.mempool_etchings x JOIN chain.pending_rune_transactions o ON o.position = x.position
       WHERE x.rune = e.rune AND x.position <> e.position
     ) AS r ON e.rune IS NOT NULL
     WHERE t.position ${order === 'asc' ? '>' : '<'} $1
       AND (e.position IS NOT NULL OR EXISTS (SELECT FROM chain.mempool_runes m WHERE m.position = t.position))
       AND ($2::bytea IS NULL OR t.position IN (
         SELECT m.position FROM chain.mempool_runes m
         WHERE chain.hash32(m.script) = chain.hash32($2::bytea) AND m.script = $2))
       AND ($3::integer IS NULL OR t.position IN (
         SELECT m.position FROM chain.mempool_runes m WHERE m.rune_key = $3))
     ORDER BY t.position ${order} LIMIT $4`,
    [from, script === null ? null : Buffer.from(script), key, limit],
  );
  const moves = await movesOf(
    client,
    rows.map(({ position }) => position),
  );
  return rows.map(({ position, txid, first_seen, fee, vsize, replaces, ...row }) => ({
    position,
    txid,
    first_seen,
    fee,
    vsize,
    replaces,
    etching: etchingOf(row),
    moves: moves.get(position) ?? [],
  }));
}

function etchingOf(
  row: Omit<TransactionRow, 'position' | 'txid' | 'first_seen' | 'fee' | 'vsize' | 'replaces'>,
): PendingEtchingRow | null {
  const { state, rune, spacers, divisibility, symbol, premine, mature_height: matureHeight } = row;
  if (state === null) return null;
  return {
    rune: rune === null ? null : asRune(BigInt(rune)),
    spacers,
    divisibility,
    symbol,
    premine: u128OfText(premine),
    state,
    matureHeight,
    rivals: row.rivals ?? [],
    rivalCount: row.rival_count,
  };
}

interface MoveRow {
  position: number;
  step: number;
  vout: number;
  amount: string;
  script: Buffer | null;
  from_txid: Txid | null;
  etched_by: Txid | null;
  key: number | null;
  height: Height;
  tx_index: number;
  rune: string;
  spacers: number;
  divisibility: number;
  symbol: number | null;
}

async function movesOf(
  client: ClientBase,
  positions: readonly number[],
): Promise<Map<number, PendingMove[]>> {
  const { rows } = await client.query<MoveRow>(
    `SELECT m.position, m.step, m.vout, m.amount::text, m.script, m.from_txid, m.etched_by, r.key, r.height, r.tx_index,
       r.rune::text, r.spacers, r.divisibility, r.symbol
     FROM chain.mempool_runes m LEFT JOIN chain.runes r ON r.key = m.rune_key
     WHERE m.position = ANY($1) ORDER BY m.position, m.step, m.vout, m.rune_key`,
    [positions],
  );
  const moves = new Map<number, PendingMove[]>();
  for (const row of rows) {
    const move = {
      step: pendingSteps[row.step] ?? 'given',
      rune: row.key === null ? null : namedRune(row, row.key),
      etchedBy: row.etched_by,
      amount: u128OfText(row.amount),
      vout: row.vout,
      fromTxid: row.from_txid,
      script: row.script,
    };
    const there = moves.get(row.position);
    if (there === undefined) moves.set(row.position, [move]);
    else there.push(move);
  }
  return moves;
}

const namedRune = (row: MoveRow, key: number): NamedRune => ({
  key,
  height: row.height,
  txIndex: row.tx_index,
  rune: asRune(BigInt(row.rune)),
  spacers: row.spacers,
  divisibility: row.divisibility,
  symbol: row.symbol,
});

/** The amount by which pending transactions change a script's balance of a rune. */
export interface PendingBalance {
  readonly rune: NamedRune;
  readonly received: U128;
  readonly sent: U128;
}

/** The changes, by id of the rune. Runes that pending transactions etch are left out, because they have no id yet. */
export async function pendingBalances(client: ClientBase, script: Uint8Array): Promise<PendingBalance[]> {
  const { rows } = await client.query<Omit<MoveRow, 'key'> & { key: number; received: string; sent: string }>(
    `SELECT r.key, r.height, r.tx_index, r.rune::text, r.spacers, r.divisibility, r.symbol,
       m.received::text, m.sent::text
     FROM (
       SELECT m.rune_key, coalesce(sum(m.amount) FILTER (WHERE m.step = 1), 0) AS received,
         coalesce(sum(m.amount) FILTER (WHERE m.step = 3), 0) AS sent
       FROM chain.mempool_runes m JOIN chain.pending_rune_transactions t USING (position)
       WHERE chain.hash32(m.script) = chain.hash32($1::bytea) AND m.script = $1 GROUP BY m.rune_key
     ) AS m JOIN chain.runes r ON r.key = m.rune_key ORDER BY r.key`,
    [Buffer.from(script)],
  );
  return rows.map((row) => ({
    rune: namedRune(row, row.key),
    received: u128OfText(row.received),
    sent: u128OfText(row.sent),
  }));
}

/** A pending transaction that etches a name. */
export interface PendingClaim {
  readonly txid: Txid;
  readonly state: string;
  readonly spacers: number;
  readonly matureHeight: number | null;
  readonly firstSeen: Date;
}

/** Maximum number of claims of one name in a response. */
const claimsMax = 100;

/** The first pending transactions that etch each of these names, by the number of the name. */
export async function pendingClaims(
  client: ClientBase,
  runes: readonly Rune[],
): Promise<ReadonlyMap<Rune, readonly PendingClaim[]>> {
  const { rows } = await client.query<{
    rune: string;
    txid: Txid;
    state: string;
    spacers: number;
    mature_height: number | null;
    first_seen: Date;
  }>(
    `SELECT name.rune::text, claim.*
       FROM unnest($1::numeric[]) AS name (rune)
       CROSS JOIN LATERAL (
         SELECT t.txid, e.state, e.spacers, e.mature_height, t.first_seen
           FROM chain.mempool_etchings e JOIN chain.pending_rune_transactions t USING (position)
          WHERE e.rune = name.rune ORDER BY e.position LIMIT ${claimsMax}) AS claim`,
    [runes.map(String)],
  );
  const claims = new Map<Rune, PendingClaim[]>();
  for (const row of rows) {
    const rune = asRune(BigInt(row.rune));
    const claim = {
      txid: row.txid,
      state: row.state,
      spacers: row.spacers,
      matureHeight: row.mature_height,
      firstSeen: row.first_seen,
    };
    claims.set(rune, [...(claims.get(rune) ?? []), claim]);
  }
  return claims;
}

/** Number of pending transactions that would mint a rune. Each transaction is checked as if it were the next mint. */
export async function pendingMints(client: ClientBase, key: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM chain.mempool_runes m JOIN chain.pending_rune_transactions t USING (position)
     WHERE m.rune_key = $1 AND m.step = 0`,
    [key],
  );
  return rows[0]?.count ?? 0;
}
