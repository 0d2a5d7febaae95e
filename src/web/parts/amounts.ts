import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

const satsPerCoin = 100_000_000;
/** From 0.01 BTC on, people name prices in coins. */
const namedInCoins = 1_000_000;
/** Digits of a rounded amount that count: a thousandth of it. */
const shownDigits = 4;

/** All digits: 0.0007 */
export const coins = (sats: number): string => shortened((sats / satsPerCoin).toFixed(8));

/** A price, exact: `70,000 sats`, from 0.01 BTC on `0.0123 BTC`. */
export const price = (sats: number): string =>
  sats < namedInCoins ? plural(sats, 'sat') : `${coinsGrouped(coins(sats))} BTC`;

/** A sum of prices: as a price, and rounded where it is shown in coins. Its title has all digits. */
export function volume(sats: number): Markup {
  if (sats < namedInCoins) return html`<span class="nowrap">${plural(sats, 'sat')}</span>`;
  const value = sats / satsPerCoin;
  // below one coin the first zeros do not count
  const decimals = Math.max(0, shownDigits - (Math.floor(Math.log10(value)) + 1));
  const rounded = shortened(value.toFixed(decimals));
  return html`<span class="nowrap" title="${plural(sats, 'sat')}">${coinsGrouped(rounded)} BTC</span>`;
}

/** A number without the zeros that end its decimals. */
const shortened = (digits: string): string =>
  digits.includes('.') ? digits.replace(/(?<!0)0+$/u, '').replace(/\.$/u, '') : digits;

function coinsGrouped(text: string): string {
  const [whole = '0', decimals] = text.split('.');
  return decimals === undefined ? grouped(Number(whole)) : `${grouped(Number(whole))}.${decimals}`;
}

/** Both units, as clients and people name prices. */
export const priceWords = (sats: number): string =>
  sats >= 1_000 ? `${coins(sats)} BTC (${plural(sats, 'sat')})` : plural(sats, 'sat');

/**
 * The same in dollars, after an amount.
 *
 * @param perCoin null: the operator gives no rates
 */
export function dollars(sats: number, perCoin: number | null): HtmlValue {
  if (perCoin === null) return null;
  const words = ((sats / 100_000_000) * perCoin).toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
  });
  return html` <span class="faint">about ${words} by the rate of now</span>`;
}
