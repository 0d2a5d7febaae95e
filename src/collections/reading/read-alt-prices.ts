import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';

/** Prices in runes, as they were sent. */
export type AltPrices = Readonly<
  Record<string, { readonly amount: number | string; readonly token: string }>
>;

/** Digits of the largest amount of a rune, with as many decimals as one can have. */
const amountPattern = /^\d{1,39}(?:\.\d{1,38})?$/u;
/** The longest name of a rune has 26 letters, with signs between them. */
const tokenChars = 100;

/** Reads prices in runes: keyed `rune` or by rune, each `{amount, token}`. Null: there are none. */
export function readAltPrices(values: RequestValues, given: unknown): AltPrices | null {
  if (!isGiven(given)) return null;
  const prices = values.object(given, 'altPrices');
  if (prices === null) return null;
  const entries = Object.entries(prices);
  if (entries.length > collectionBounds.altPrices)
    return values.fault(
      'altPrices',
      `are ${entries.length}: a collection has at most ${collectionBounds.altPrices}`,
    );
  const read = entries.flatMap(([key, value]) => {
    const field = `altPrices.${key.slice(0, tokenChars)}`;
    if (key.length > tokenChars) values.fault(field, 'is not the name of a rune');
    const price = values.object(value, field);
    if (price === null) return [];
    const amount = readAmount(values, price['amount'], `${field}.amount`);
    const token = values.text(price['token'], `${field}.token`);
    if (token === null) values.required(price['token'], `${field}.token`);
    else if (token.length > tokenChars) values.fault(`${field}.token`, 'is not the name of a rune');
    return amount === null || token === null ? [] : [[key, { amount, token }] as const];
  });
  return read.length === 0 ? null : Object.fromEntries(read);
}

function readAmount(values: RequestValues, given: unknown, name: string): number | string | null {
  if (!isGiven(given)) return values.required(given, name);
  const text = String(typeof given === 'number' ? given : typeof given === 'string' ? given : '');
  if (amountPattern.test(text) && /[1-9]/u.test(text)) return given as number | string;
  return values.fault(name, 'must be an amount above 0, in digits; send large and small ones as texts');
}
