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

/** An amount of a rune of the index. */
export interface TokenAmount {
  readonly kind: 'found';
  readonly rune: RuneDetail;
  /** Base units, above 0. */
  readonly amount: bigint;
}

/**
 * Looks up the rune of an amount. At fault: there is no such rune, or it has no such amount. Throws
 * `runes_not_indexed`, `derived_table_behind` and `index_missing`.
 */
export async function tokenAmount(
  pool: pg.Pool,
  sent: SentTokenAmount,
  signal: AbortSignal,
): Promise<TokenAmount | Faulty> {
  const [found = { rune: null, height: null }] = await readRunes(pool, [sent.rune], signal);
  return amountOf(sent, found);
}

/** The answer of the index about a name. */
export interface FoundRune {
  /** Null: no block up to this height has a rune of the name. */
  readonly rune: RuneDetail | null;
  /** Null: no block is indexed. */
  readonly height: number | null;
}

/** Runes of the index in one snapshot, in the order of their names. Throws as `tokenAmount` does. */
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

/** The sent amount, for a rune that was found. Pure. */
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
 * Why an order is not created: it asks for more units than the rune can ever have, so it is never paid. Null: it can be
 * paid. Pure.
 */
export function beyondSupply({ rune, amount }: Pick<TokenAmount, 'rune' | 'amount'>): Faulty | null {
  const most = mostUnits(rune);
  if (amount <= most) return null;
  const shown = shownAmount(trustedU128(most), rune.divisibility);
  return faulty(
    'amount',
    `amount is more than ${shown}, the most that ${formatSpacedRune(rune)} can ever have: no one can pay it. Ask for less.`,
  );
}

/** Base units of a rune that exist or can still be minted. Burned units are gone. Pure. */
function mostUnits({ premine, terms, burned }: RuneDetail): bigint {
  const minted = BigInt(terms?.cap ?? 0) * BigInt(terms?.amount ?? 0);
  return BigInt(premine) + minted - BigInt(burned);
}

function notEtched(token: string, height: number | null): string {
  const known = height === null ? 'no block is indexed so far' : `up to ${height}, the last indexed one`;
  return `no rune ${token} is etched in a block (${known}). Check its letters; spacers do not count. A new rune can be used once a block has its etching.`;
}
