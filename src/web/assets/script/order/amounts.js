// Amounts of money as texts. Pure.

/**
 * Formats an exact amount in bitcoin, without trailing zeros.
 *
 * @param {number} sats
 */
export function bitcoinOf(sats) {
  const digits = String(sats).padStart(9, '0');
  const decimals = digits.slice(-8).replace(/(?<!0)0+$/u, '');
  return `${digits.slice(0, -8)}${decimals === '' ? '' : '.'}${decimals}`;
}

/**
 * Adds commas to a number: 1234567 becomes 1,234,567.
 *
 * @param {number} value
 */
export const grouped = (value) => value.toLocaleString('en-US');

/** @param {number} sats */
export const satsWords = (sats) => `${grouped(sats)} ${sats === 1 ? 'sat' : 'sats'}`;

/**
 * A payment in the form that wallets read (BIP 21). The link has no order id, because wallets keep labels, and the id
 * is a secret.
 *
 * @param {string} address
 * @param {number} sats
 */
export const paymentUri = (address, sats) => `bitcoin:${address}?amount=${bitcoinOf(sats)}`;

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** @param {number} bytes */
export function sizeWords(bytes) {
  if (bytes < 1000) return plural(bytes, 'byte');
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`;
}
