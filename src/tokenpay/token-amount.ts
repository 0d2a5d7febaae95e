import type pg from 'pg';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { readAmount } from '#kernel/runes/read-amount.ts';
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
  { rune, token, amount }: SentTokenAmount,
  signal: AbortSignal,
): Promise<TokenAmount | Faulty> {
  const found = await withSnapshot(
    pool,
    async ({ client }) => {
      await requireRunes(client);
      return runeDetail(client, { kind: 'rune', rune });
    },
    signal,
  );
  if (found === null) return faulty('token', `no rune ${token} is etched in a block.`);
  const read = readAmount(amount, found.divisibility);
  if (read.kind === 'refused') return faulty('amount', `amount ${read.reason}.`);
  return { kind: 'found', rune: found, amount: read.amount };
}

const faulty = (parameter: string, message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message, parameter }],
});
