import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { readAmount } from '#kernel/runes/read-amount.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { storedRunes } from '#tokenpay/order/token-runes.store.ts';
import { coinDecimals } from '#tokenpay/telling/token-order-answer.ts';
import { tokenAmount } from '#tokenpay/token-amount.ts';
import type { SentWithdrawal } from './read-withdrawal.ts';
import type { ShownRune } from './withdrawal-answer.ts';

/** An asset with its name, and an amount of the asset in base units. */
export interface NamedUnits {
  readonly asset: number;
  /** The rune, or null if the asset is sats. */
  readonly rune: RuneId | null;
  readonly shown: ShownRune;
  readonly amount: bigint;
}

/** The asset and the amount, in base units, that a request names. */
export async function unitsOf(
  pool: pg.Pool,
  { rune, token, amount }: SentWithdrawal,
  signal: AbortSignal,
): Promise<NamedUnits | Faulty> {
  if (rune === null) {
    const read = readAmount(amount, coinDecimals);
    if (read.kind === 'refused') return faulty('amount', `amount ${read.reason}.`);
    return { asset: satsAsset, rune: null, shown: null, amount: read.amount };
  }
  const found = await tokenAmount(pool, { rune, token, amount }, signal);
  if (found.kind === 'faulty') return found;
  const { etching, divisibility, spacers } = found.rune;
  const name = formatSpacedRune({ rune: found.rune.rune, spacers });
  const [stored] = await storedRunes(pool, [{ etching, rune: found.rune.rune, name, divisibility }]);
  assert(stored !== undefined, 'a stored rune has a number');
  const id = { block: asU128(found.rune.height), tx: found.rune.txIndex };
  return { asset: stored.asset, rune: id, shown: { name, divisibility }, amount: found.amount };
}
