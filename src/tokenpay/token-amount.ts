import type pg from 'pg';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { readAmount } from '#kernel/runes/read-amount.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import type { SentTokenAmount } from './reading/read-token-amount.ts';

/** An amount of a rune of the index. */
export interface TokenAmount {
  readonly kind: 'found';
  readonly rune: RuneDetail;
  /** Base units, above 0. */
  readonly amount: bigint;
}

/**
 * Looks the rune of an amount up. Faulty: there is no such rune, or it has no such amount. Throws `runes_not_indexed`,
 * `derived_table_behind` and `index_missing`.
 */
export async function tokenAmount(
  pool: pg.Pool,
  sent: SentTokenAmount,
  signal: AbortSignal,
): Promise<TokenAmount | Faulty> {
  const [found = null] = await readRunes(pool, [sent.rune], signal);
  return amountOf(sent, found);
}

/**
 * Runes of the index in one snapshot, in the order of their names; null: no block has one of this name. Throws as
 * `tokenAmount` does.
 */
export const readRunes = (
  pool: pg.Pool,
  runes: readonly Rune[],
  signal: AbortSignal,
): Promise<(RuneDetail | null)[]> =>
  withSnapshot(
    pool,
    async ({ client }) => {
      await requireRunes(client);
      const found = new Map<Rune, RuneDetail | null>();
      for (const rune of new Set(runes)) found.set(rune, await runeDetail(client, { kind: 'rune', rune }));
      return runes.map((rune) => found.get(rune) ?? null);
    },
    signal,
  );

/** The amount that was sent, of a rune that was found. Pure. */
export function amountOf(
  { token, amount }: Pick<SentTokenAmount, 'token' | 'amount'>,
  found: RuneDetail | null,
): TokenAmount | Faulty {
  if (found === null) return faulty('token', `no rune ${token} is etched in a block.`);
  const read = readAmount(amount, found.divisibility);
  if (read.kind === 'refused') return faulty('amount', `amount ${read.reason}.`);
  return { kind: 'found', rune: found, amount: read.amount };
}

const faulty = (parameter: string, message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message, parameter }],
});
