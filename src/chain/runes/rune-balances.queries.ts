import type { ClientBase } from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { canProbeRunes } from '#chain/outputs/runic-output.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { rowsInTurns } from '#chain/snapshot/rows-in-turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';
import { spacedRuneOf } from './rune.queries.ts';
import { runeStanding } from './rune-standing.queries.ts';

/** A balance of a rune. */
export interface RuneBalance extends SpacedRune {
  readonly amount: U128;
  readonly divisibility: number;
  /** A code point. */
  readonly symbol: number | null;
}

interface BalanceRow {
  rune: string;
  spacers: number;
  divisibility: number;
  symbol: number | null;
  amount: string;
  /** Number of balances that were read, over all rows. */
  total: number;
}

/** Maximum number of balances in one response. They take 10 MB. An output can hold any number of runes. */
export const balancesMax = 100_000;

const noBalances: readonly RuneBalance[] = [];

/** The runes of outputs. */
export interface HeldRunes {
  /**
   * Balances of an output, sorted by the number of the rune's name, as in ord. Empty if the output is spent or unknown.
   * `null` if runes are unknown.
   */
  of(outpoint: Outpoint): readonly RuneBalance[] | null;
}

/** The result while runes are unknown. */
const unknownRunes: HeldRunes = { of: () => null };

const nameOf = ({ txid, vout }: Outpoint): string => `${Buffer.from(txid).toString('latin1')}${vout}`;

/**
 * Balances of outputs, if runes are known. Makes three reads for any number of outputs, so run it in a snapshot. Rows
 * are read in parts, with other work in between. Throws `address_too_large` above a limit.
 *
 * @param most maximum number of balances; it is less than `balancesMax` if the response already has other balances
 */
export async function runesOfOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  most = balancesMax,
): Promise<HeldRunes> {
  const { state } = await runeStanding(client);
  if (state !== 'known') return unknownRunes;
  if (!(await canProbeRunes(client))) return unknownRunes;
  const distinct = [...new Map(outpoints.map((outpoint) => [nameOf(outpoint), outpoint])).values()];
  const parts = rowsInTurns<BalanceRow & { txid: Txid; vout: number }>(
    client,
    // the limit must be in the inner query; beside ORDER BY, all rows would be sorted before it is applied
    `SELECT txid, vout, found.rune::text, spacers, divisibility, symbol, amount::text, count(*) OVER () AS total FROM (
       SELECT b.txid, b.vout, r.rune, r.spacers, r.divisibility, r.symbol, b.amount
       FROM unnest($1::bytea[], $2::bigint[]) AS asked(txid, vout)
       JOIN chain.rune_balances b ON chain.hash64(b.txid, b.vout) = chain.hash64(asked.txid, asked.vout)
         AND b.spent_height IS NULL AND b.txid = asked.txid AND b.vout = asked.vout
       JOIN chain.runes r ON r.key = b.rune_key
       LIMIT $3
     ) AS found ORDER BY found.rune`,
    [distinct.map(({ txid }) => Buffer.from(txid)), distinct.map(({ vout }) => vout), most + 1],
  );
  const balances = new Map<string, RuneBalance[]>();
  for await (const rows of parts) {
    refuseMany(rows, 'these outputs hold', most);
    for (const row of rows) {
      const name = nameOf(row);
      const known = balances.get(name);
      if (known === undefined) balances.set(name, [balanceOf(row)]);
      else known.push(balanceOf(row));
    }
  }
  return { of: (outpoint) => balances.get(nameOf(outpoint)) ?? noBalances };
}

/**
 * A script's balances of each rune, by the number of the rune's name. `null` if runes are unknown. Rows are read in
 * parts, with other work in between. Throws `index_missing` during a first sync. Throws `address_too_large` above a
 * limit.
 */
export async function runesOfScript(
  client: ClientBase,
  script: Uint8Array,
): Promise<readonly RuneBalance[] | null> {
  const { state } = await runeStanding(client);
  if (state !== 'known') return null;
  await requireIndexes(client, ['rune_balances_script'], 'owners of runes');
  const parts = rowsInTurns<BalanceRow>(
    client,
    `SELECT r.rune::text, r.spacers, r.divisibility, r.symbol, held.amount::text, held.total::bigint AS total
     FROM (
       SELECT rune_key, sum(amount) AS amount, sum(count(*)) OVER () AS total FROM (
         SELECT rune_key, amount FROM chain.rune_balances
         WHERE chain.hash32(script) = chain.hash32($1::bytea) AND script = $1 AND spent_height IS NULL LIMIT $2
       ) AS first GROUP BY rune_key
     ) AS held JOIN chain.runes r ON r.key = held.rune_key ORDER BY r.rune`,
    [Buffer.from(script), balancesMax + 1],
  );
  const balances: RuneBalance[] = [];
  for await (const rows of parts) {
    refuseMany(rows, 'the address holds', balancesMax);
    for (const row of rows) balances.push(balanceOf(row));
  }
  return balances;
}

function refuseMany([first]: readonly BalanceRow[], holder: string, most: number): void {
  if (first === undefined || first.total <= most) return;
  throw new AppError('address_too_large', `${holder} more than ${balancesMax} balances of runes`);
}

const balanceOf = (row: BalanceRow): RuneBalance => ({
  ...spacedRuneOf(row),
  amount: u128OfText(row.amount),
  divisibility: row.divisibility,
  symbol: row.symbol,
});
