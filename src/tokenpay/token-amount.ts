import type pg from 'pg';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { readAmount } from '#kernel/runes/read-amount.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import type { SentTokenAmount } from './reading/read-token-amount.ts';

/** An amount of a rune that the index knows. */
export interface TokenAmount {
  readonly kind: 'found';
  readonly rune: RuneDetail;
  /** Amount in base units, above 0. */
  readonly amount: bigint;
}

/**
 * Looks up the rune of an amount. Returns a fault if the rune does not exist, or if it cannot have such an amount.
 * Throws `runes_not_indexed`, `derived_table_behind` and `index_missing`.
 */
export async function tokenAmount(
  pool: pg.Pool,
  sent: SentTokenAmount,
  signal: AbortSignal,
): Promise<TokenAmount | Faulty> {
  const [found = { rune: null, height: null }] = await readRunes(pool, [sent.rune], signal);
  return amountOf(sent, found);
}

/** The result of looking up a rune name in the index. */
export interface FoundRune {
  /** The rune, or null if no block up to this height has a rune with this name. */
  readonly rune: RuneDetail | null;
  /** Height of the last indexed block, or null if no block is indexed. */
  readonly height: number | null;
}

/**
 * Looks up runes in one snapshot of the index. The result has the same order as `runes`. Throws the errors of
 * `tokenAmount`.
 */
export const readRunes = (pool: pg.Pool, runes: readonly Rune[], signal: AbortSignal): Promise<FoundRune[]> =>
  withSnapshot(
    pool,
    async ({ client, tip }) => {
      await requireRunes(client);
      const found = new Map<Rune, RuneDetail | null>();
      for (const rune of new Set(runes)) found.set(rune, await runeDetail(client, { kind: 'rune', rune }));
      const height = tip?.height ?? null;
      return runes.map((rune) => ({ rune: found.get(rune) ?? null, height }));
    },
    signal,
  );

/** The requested amount of a rune that was found. Pure. */
export function amountOf(
  { token, amount }: Pick<SentTokenAmount, 'token' | 'amount'>,
  { rune, height }: FoundRune,
): TokenAmount | Faulty {
  if (rune === null) return faulty('token', notEtched(token, height));
  const read = readAmount(amount, rune.divisibility);
  if (read.kind === 'refused') return faulty('amount', `amount ${read.reason}.`);
  return { kind: 'found', rune, amount: read.amount };
}

/**
 * Finds a fault of an order: it requires more units than the rune can ever have, so it can never be paid. Returns null
 * if it can be paid. Pure.
 */
export function beyondSupply({ rune, amount }: Pick<TokenAmount, 'rune' | 'amount'>): Faulty | null {
  const most = mostUnits(rune);
  if (amount <= most) return null;
  const shown = shownAmount(trustedU128(most), rune.divisibility);
  return faulty(
    'amount',
    `amount is more than ${shown}, the maximum supply of ${formatSpacedRune(rune)}, so no one can pay it. Ask for a smaller amount.`,
  );
}

/** Number of base units of a rune that exist or can still be minted. Burned units are subtracted. Pure. */
function mostUnits({ premine, terms, burned }: RuneDetail): bigint {
  const minted = BigInt(terms?.cap ?? 0) * BigInt(terms?.amount ?? 0);
  return BigInt(premine) + minted - BigInt(burned);
}

function notEtched(token: string, height: number | null): string {
  const known = height === null ? 'no block is indexed yet' : `up to ${height}, the last indexed block`;
  return `no block has etched a rune ${token} (${known}). Check the letters of the name; spacers do not matter. A new rune can be used once its etching is in a block.`;
}
