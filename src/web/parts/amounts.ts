import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

const satsPerCoin = 100_000_000;
/** Sats from which people give prices in coins: 0.01 BTC. */
const namedInCoins = 1_000_000;
/** Significant digits of a rounded amount: exact to a thousandth. */
const shownDigits = 4;

/** An amount in coins with all digits: 0.0007 */
export const coins = (sats: number): string => shortened((sats / satsPerCoin).toFixed(8));

/** An exact price: `70,000 sats`, and `0.0123 BTC` from 0.01 BTC. */
export const price = (sats: number): string =>
  sats < namedInCoins ? plural(sats, 'sat') : `${coinsGrouped(coins(sats))} BTC`;

/** A sum of prices, in the form of a price, and rounded if it is in coins. Its title has all digits. */
export function volume(sats: number): Markup {
  if (sats < namedInCoins) return html`<span class="nowrap">${plural(sats, 'sat')}</span>`;
  const value = sats / satsPerCoin;
  // below one coin the leading zeros do not count
  const decimals = Math.max(0, shownDigits - (Math.floor(Math.log10(value)) + 1));
  const rounded = shortened(value.toFixed(decimals));
  return html`<span class="nowrap" title="${plural(sats, 'sat')}">${coinsGrouped(rounded)} BTC</span>`;
}

/** A number without trailing zeros in its decimals. */
const shortened = (digits: string): string =>
  digits.includes('.') ? digits.replace(/(?<!0)0+$/u, '').replace(/\.$/u, '') : digits;

function coinsGrouped(text: string): string {
  const [whole = '0', decimals] = text.split('.');
  return decimals === undefined ? grouped(Number(whole)) : `${grouped(Number(whole))}.${decimals}`;
}

/** A price in both units, which clients and people use. */
export const priceWords = (sats: number): string =>
  sats >= 1_000 ? `${coins(sats)} BTC (${plural(sats, 'sat')})` : plural(sats, 'sat');

/**
 * The amount in dollars, to follow an amount in sats.
 *
 * @param perCoin null: the operator gives no rates
 */
export function dollars(sats: number, perCoin: number | null): HtmlValue {
  if (perCoin === null) return null;
  const words = ((sats / 100_000_000) * perCoin).toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
  });
  return html` <span class="faint">about ${words} at the current rate</span>`;
}
