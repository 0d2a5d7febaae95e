import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

const satsPerCoin = 100_000_000;
/** Minimum amount in sats of prices that are shown in BTC (0.01 BTC). People also name such prices in BTC. */
const namedInCoins = 1_000_000;
/**
 * Number of significant digits of a rounded amount. The rounded amount differs from the exact amount by at most a
 * thousandth.
 */
const shownDigits = 4;

/** An amount in coins with all digits: 0.0007 */
export const coins = (sats: number): string => shortened((sats / satsPerCoin).toFixed(8));

/** An exact price: `70,000 sats`, or from 0.01 BTC upwards `0.0123 BTC`. */
export const price = (sats: number): string =>
  sats < namedInCoins ? plural(sats, 'sat') : `${coinsGrouped(coins(sats))} BTC`;

/** A sum of prices. It has the form of a price, but it is rounded if it is in BTC. The title has all digits. */
export function volume(sats: number): Markup {
  if (sats < namedInCoins) return html`<span class="nowrap">${plural(sats, 'sat')}</span>`;
  const value = sats / satsPerCoin;
  // if an amount is below one coin, its leading zeros are not significant digits
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

/** A price in both units, because clients use sats, and people use coins. */
export const priceWords = (sats: number): string =>
  sats >= 1_000 ? `${coins(sats)} BTC (${plural(sats, 'sat')})` : plural(sats, 'sat');

/**
 * An amount in dollars that follows an amount in sats. Empty if there is no rate.
 *
 * @param perCoin dollars per bitcoin; `null` if the operator sets no rates
 */
export function dollars(sats: number, perCoin: number | null): HtmlValue {
  if (perCoin === null) return null;
  const words = ((sats / 100_000_000) * perCoin).toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
  });
  return html` <span class="faint">about ${words} at the current rate</span>`;
}
