import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { amountFault } from '#kernel/runes/read-amount.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { parseSpacedRune, runeNameForm, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';

/** Prices in runes, in the form that responses show. */
export type AltPrices = Readonly<
  Record<string, { readonly amount: number | string; readonly token: string }>
>;

/** The price of an item in a rune, before the rune is looked up. */
export interface SentRunePrice {
  readonly rune: Rune;
  /** The name in the form that was sent. */
  readonly token: string;
  /** Amount in display units, in digits. */
  readonly amount: string;
  /** The amount in the form that was sent. */
  readonly shown: number | string;
}

/** The key of a price in a rune. It names the protocol. */
const runeKey = 'rune';
/** Maximum number of characters of a rune's name. The longest name has 28 letters, with spacers between the letters. */
const tokenChars = 100;
/** Maximum number of digits of a JSON number. A number with more digits may be rounded when it is parsed. */
const exactDigits = 15;

/**
 * Reads the price in a rune. Its form is `{"rune": {amount, token}}`, or the same object with the rune's name as the
 * key. At most one price is allowed, because an order does not say which price it pays. Returns null if no price was
 * sent, or if the price has faults; the faults are then in `values`.
 */
export function readAltPrices(values: RequestValues, given: unknown): SentRunePrice | null {
  // a form sends an object without fields as an empty text
  if (!isGiven(given) || given === '') return null;
  const prices = values.object(given, 'altPrices');
  if (prices === null) return null;
  const [first, ...others] = Object.entries(prices);
  if (first === undefined) return null;
  if (others.length > 0)
    return values.fault(
      'altPrices',
      `has ${others.length + 1} prices, but only one rune is possible, because an order does not say which rune pays for it`,
    );
  return readPrice(values, ...first);
}

function readPrice(values: RequestValues, key: string, value: unknown): SentRunePrice | null {
  const field = `altPrices.${key.slice(0, tokenChars)}`;
  const keyed = key === runeKey ? null : (parseSpacedRune(key)?.rune ?? null);
  if (key !== runeKey && keyed === null)
    return values.fault(field, `is not a known price; its key must be "${runeKey}"`);
  const price = values.object(value, field);
  if (price === null) return null;
  const amount = readAmountText(values, price['amount'], `${field}.amount`);
  const token = readToken(values, price['token'], `${field}.token`);
  if (amount === null || token === null) return null;
  if (keyed !== null && keyed !== token.rune)
    return values.fault(`${field}.token`, `is not the rune of its key ${key}`);
  return { ...token, ...amount };
}

function readToken(
  values: RequestValues,
  given: unknown,
  field: string,
): Pick<SentRunePrice, 'rune' | 'token'> | null {
  const token = values.text(given, field);
  if (token === null) return values.required(given, field);
  if (token.length > tokenChars) return values.fault(field, 'is not the name of a rune');
  const parsed = parseSpacedRune(token);
  if (parsed !== null) return { rune: parsed.rune, token };
  const capitals = token.toUpperCase();
  const expected =
    parseSpacedRune(capitals) === null ? runeNameForm : `Send the name in capitals: ${capitals}`;
  return values.fault(field, `is not the name of a rune (${whyNoSpacedRune(token)}). ${expected}.`);
}

function readAmountText(
  values: RequestValues,
  given: unknown,
  field: string,
): Pick<SentRunePrice, 'amount' | 'shown'> | null {
  if (!isGiven(given)) return values.required(given, field);
  if (typeof given !== 'string' && typeof given !== 'number')
    return values.fault(field, 'must be an amount above 0, in digits');
  const amount = String(given);
  if (typeof given === 'number' && amount.replaceAll(/\D/gu, '').length > exactDigits)
    return values.fault(
      field,
      `has more than ${exactDigits} digits; send it as a text, so that no digit is lost`,
    );
  const fault = amountFault(amount);
  return fault === null ? { amount, shown: given } : values.fault(field, `${fault}.`);
}
