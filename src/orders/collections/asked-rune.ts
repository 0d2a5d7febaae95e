import type pg from 'pg';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { maxU128 } from '#kernel/runes/u128.ts';
import type { AskedRune } from '#tokenpay/inscribing/ask-for-rune.ts';
import { beyondSupply, readRunes } from '#tokenpay/token-amount.ts';
import type { QuotedItems } from './ordered-items.ts';

/** Items of a collection that a client orders, or whose price a client requests. */
interface NamedItems extends Pick<QuotedItems, 'runePrice'> {
  readonly collection: string;
  readonly items: readonly unknown[];
}

/**
 * The rune that is paid for an order in addition to sats. It is null if the price is in sats only. Returns a fault if
 * no one can pay the amount. Throws `runes_not_indexed`, `derived_table_behind` and `index_missing`.
 */
export async function askedRune(
  pool: pg.Pool,
  named: NamedItems | null,
  signal: AbortSignal,
): Promise<{ readonly kind: 'asked'; readonly asked: AskedRune | null } | Faulty> {
  if (named === null || named.runePrice === null) return { kind: 'asked', asked: null };
  const { collection, items, runePrice } = named;
  const { account, amount: each, ...rune } = runePrice;
  const amount = each * BigInt(items.length);
  const [found] = await readRunes(pool, [rune.rune], signal);
  const there = found?.rune ?? null;
  if (there === null || Buffer.compare(there.etching, rune.etching) !== 0)
    return faulty(
      'collection',
      `Items are sold for ${rune.name}, but this name no longer belongs to the rune that the creator chose.`,
    );
  const unpayable = amount > maxU128 ? moreThanThereIs(rune.name) : beyondSupply({ rune: there, amount });
  if (unpayable !== null) return unpayable;
  // the creator sees this description with the payment
  return { kind: 'asked', asked: { account, rune, amount, description: `${items.length} × ${collection}` } };
}

const moreThanThereIs = (name: string): Faulty =>
  faulty('collection', `The items cost more ${name} than can ever exist. Order fewer items.`);
