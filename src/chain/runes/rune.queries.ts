import type { ClientBase, Pool } from 'pg';
import { builtIndexes, requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asRune, type Rune, rangesOfPrefix } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type Terms, termsOfTexts } from '#kernel/runes/terms.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';

/** A rune at the tip. */
export interface RuneDetail extends SpacedRune {
  /** ord's number. */
  readonly key: number;
  /** The id of the rune: its block, and the index of its transaction in that block. */
  readonly height: Height;
  readonly txIndex: number;
  /** Txid of the etching. Zeros for the rune without an etching. */
  readonly etching: Txid;
  readonly divisibility: number;
  /** A code point. */
  readonly symbol: number | null;
  readonly premine: U128;
  readonly terms: Terms | null;
  readonly turbo: boolean;
  /** Time of the etching's block, in Unix seconds. */
  readonly timestamp: number;
  readonly mints: number;
  readonly burned: U128;
}

export type RuneQuestion =
  | { readonly kind: 'rune'; readonly rune: Rune }
  | { readonly kind: 'id'; readonly id: RuneId }
  | { readonly kind: 'number'; readonly number: bigint };

interface DetailRow {
  key: number;
  height: Height;
  tx_index: number;
  txid: Txid;
  rune: string;
  spacers: number;
  divisibility: number;
  symbol: number | null;
  turbo: boolean;
  timestamp: number;
  premine: string;
  has_terms: boolean;
  amount: string | null;
  cap: string | null;
  height_start: string | null;
  height_end: string | null;
  offset_start: string | null;
  offset_end: string | null;
  mints: number;
  burned: string;
}

/**
 * SQL: a condition that selects the rows of one rune, so that they are read in the order of rune, height and
 * transaction. With `rune_key = …`, an index on height alone would also give that order. If most rows belong to one
 * rune, the planner would choose that index, and read all of its rows for each rune without rows.
 */
export const ofRune = (key: string): string => `rune_key BETWEEN ${key} AND ${key}`;
export const newestBurn = 'ORDER BY rune_key DESC, height DESC, tx_index DESC LIMIT 1';
export const newestMints = 'ORDER BY rune_key DESC, height DESC LIMIT 1';

/** SQL: one row for each mint in a row of `chain.rune_mints`. */
export const eachMint = 'unnest(tx_indexes) WITH ORDINALITY AS mint(tx_index, place)';
/** SQL: txid of a mint. SQL NULL if another row of the same transaction contains the txid. */
export const txidOfMint = 'substring(txids FROM (place::integer - 1) * 32 + 1 FOR 32)';

const details = `
  SELECT r.key, r.height, r.tx_index, r.txid, r.rune::text, r.spacers, r.divisibility, r.symbol, r.turbo, r.timestamp,
    r.premine::text, r.has_terms, r.amount::text, r.cap::text, r.height_start::text, r.height_end::text,
    r.offset_start::text, r.offset_end::text, coalesce(m.mints, 0) AS mints, coalesce(b.total, 0)::text AS burned
  FROM chain.runes r
  LEFT JOIN LATERAL (
    SELECT mints FROM chain.rune_mints WHERE ${ofRune('r.key')} ${newestMints}
  ) AS m ON true
  LEFT JOIN LATERAL (
    SELECT total FROM chain.rune_burns WHERE ${ofRune('r.key')} ${newestBurn}
  ) AS b ON true`;

/** Indexes that are required. They are missing during a first load, and each rune would then read all mints. */
const mintIndexes = ['rune_mints_rune'];

/** Maximum value of a key, height or index. The columns are integers. */
const integerMax = 2 ** 31 - 1;

/** A rune by its name, id or number. `null` if there is no such rune. Throws `index_missing` during a first sync. */
export async function runeDetail(client: ClientBase, question: RuneQuestion): Promise<RuneDetail | null> {
  const asked = askedBy(question);
  if (asked === null) return null;
  await requireIndexes(client, mintIndexes, 'mints of runes');
  const { rows } = await client.query<DetailRow>(`${details} WHERE ${asked.where}`, asked.values);
  return rows[0] === undefined ? null : detailOf(rows[0]);
}

function askedBy(question: RuneQuestion): { where: string; values: unknown[] } | null {
  if (question.kind === 'rune') return { where: 'r.rune = $1::numeric', values: [question.rune.toString()] };
  if (question.kind === 'number')
    return question.number > integerMax ? null : { where: 'r.key = $1', values: [Number(question.number)] };
  const { block, tx } = question.id;
  if (block > integerMax || tx > integerMax) return null;
  return { where: 'r.height = $1 AND r.tx_index = $2', values: [Number(block), tx] };
}

/** The runes with the key `last` and lower ones, newest first. Throws `index_missing` during a first sync. */
export async function runesDownFrom(client: ClientBase, last: number, limit: number): Promise<RuneDetail[]> {
  if (last < 0) return [];
  await requireIndexes(client, mintIndexes, 'mints of runes');
  const { rows } = await client.query<DetailRow>(
    `${details} WHERE r.key <= $1 ORDER BY r.key DESC LIMIT $2`,
    [last, limit],
  );
  return rows.map(detailOf);
}

/**
 * The runes with these keys, in the order of the list. Keys without a rune are left out. Throws
 * `index_missing`.
 */
export async function runesOfKeys(client: ClientBase, keys: readonly number[]): Promise<RuneDetail[]> {
  if (keys.length === 0) return [];
  await requireIndexes(client, mintIndexes, 'mints of runes');
  const { rows } = await client.query<DetailRow>(
    `${details} JOIN unnest($1::integer[]) WITH ORDINALITY AS asked (key, place) ON asked.key = r.key
     ORDER BY asked.place`,
    [keys],
  );
  return rows.map(detailOf);
}

/** Keys of the runes whose names begin with these letters, in the order of the names. All runes may match. */
export async function runeKeysByPrefix(client: ClientBase, prefix: string): Promise<number[]> {
  const ranges = rangesOfPrefix(prefix);
  const { rows } = await client.query<{ keys: Buffer | null }>(
    `SELECT string_agg(int4send(r.key), ''::bytea ORDER BY r.rune) AS keys
     FROM unnest($1::numeric[], $2::numeric[]) AS asked (first, last)
     JOIN chain.runes r ON r.rune BETWEEN asked.first AND asked.last`,
    [ranges.map(({ first }) => first.toString()), ranges.map(({ last }) => last.toString())],
  );
  return keysIn(rows[0]?.keys ?? null);
}

/** Keys of the runes that a block etched, in order. There are at most a few thousand. */
export async function runeKeysOfBlock(client: ClientBase, height: Height): Promise<number[]> {
  const { rows } = await client.query<{ keys: Buffer | null }>(
    "SELECT string_agg(int4send(key), ''::bytea ORDER BY tx_index) AS keys FROM chain.runes WHERE height = $1",
    [height],
  );
  return keysIn(rows[0]?.keys ?? null);
}

/** Names of the runes that a block etched, in order. */
export async function runesEtchedAt(client: ClientBase, height: Height): Promise<SpacedRune[]> {
  const { rows } = await client.query<NameRow>(
    'SELECT rune::text, spacers FROM chain.runes WHERE height = $1 ORDER BY tx_index',
    [height],
  );
  return rows.map(spacedRuneOf);
}

/** The rune that a transaction etched. `null` if it etched no rune, or if this is unknown. */
export async function runeEtchedBy(client: ClientBase, txid: Txid): Promise<SpacedRune | null> {
  // return early, because during a first sync the index is missing and all runes would be read
  if (!(await builtIndexes(client, ['runes_etching'])).has('runes_etching')) return null;
  const { rows } = await client.query<NameRow>(
    'SELECT rune::text, spacers FROM chain.runes WHERE txid = $1',
    [Buffer.from(txid)],
  );
  return rows[0] === undefined ? null : spacedRuneOf(rows[0]);
}

/** The name of a rune with its spacers. The rune is given by its name or id. `null` if there is no such rune. */
export async function spacedNameOf(
  client: ClientBase,
  question: Exclude<RuneQuestion, { kind: 'number' }>,
): Promise<SpacedRune | null> {
  const asked = askedBy(question);
  if (asked === null) return null;
  const { rows } = await client.query<NameRow>(
    `SELECT r.rune::text, r.spacers FROM chain.runes r WHERE ${asked.where}`,
    asked.values,
  );
  return rows[0] === undefined ? null : spacedRuneOf(rows[0]);
}

/** The rune that currently has a name: its etching transaction and its symbol. `null` if the index has no such rune. */
export async function namedRune(
  client: Pool | ClientBase,
  rune: Rune,
): Promise<{ readonly etching: Txid; readonly symbol: string | null } | null> {
  const { rows } = await client.query<{ txid: Txid; symbol: number | null }>(
    'SELECT txid, symbol FROM chain.runes WHERE rune = $1::numeric',
    [rune.toString()],
  );
  const [found] = rows;
  if (found === undefined) return null;
  return {
    etching: found.txid,
    symbol: found.symbol === null ? null : String.fromCodePoint(found.symbol),
  };
}

/** Reads keys from bytes, four bytes per key. Statements return keys in this form. */
export function keysIn(bytes: Buffer | null): number[] {
  if (bytes === null) return [];
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readInt32BE(place * 4));
}

function detailOf(row: DetailRow): RuneDetail {
  const { amount, cap, height_start, height_end, offset_start, offset_end } = row;
  const terms = [amount, cap, height_start, height_end, offset_start, offset_end];
  return {
    key: row.key,
    height: row.height,
    txIndex: row.tx_index,
    etching: row.txid,
    ...spacedRuneOf(row),
    divisibility: row.divisibility,
    symbol: row.symbol,
    premine: u128OfText(row.premine),
    terms: row.has_terms ? termsOfTexts(terms) : null,
    turbo: row.turbo,
    timestamp: row.timestamp,
    mints: row.mints,
    burned: u128OfText(row.burned),
  };
}

/** The columns that contain a name: its number and its spacers. */
export interface NameRow {
  rune: string;
  spacers: number;
}

export const spacedRuneOf = ({ rune, spacers }: NameRow): SpacedRune => ({
  rune: asRune(BigInt(rune)),
  spacers,
});
