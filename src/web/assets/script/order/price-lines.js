// The price of an order, line by line, with warnings and savings. Pure.
import { grouped, plural, satsWords } from './amounts.js';

/** @import { Price } from './order-shapes.js' */

/** @typedef {{ readonly name: string, readonly sats: number, readonly note: string }} PriceLine */

/**
 * The lines of a price. Their sum is the price's amount.
 *
 * @param {Price} price
 * @returns {readonly PriceLine[]}
 */
export function priceLines(price) {
  const { count } = price;
  const each = (/** @type {number} */ sats) => (count === 1 ? '' : `${grouped(sats)} × ${grouped(count)}`);
  const transactions = price.transactions?.length ?? 0;
  const postage =
    price.amount -
    price.chainFee -
    (price.baseFee + price.rareSatsFee + price.collectionServiceFee + price.price) * count -
    price.additionalFeeCharged -
    price.sizeFee;
  const lines = [
    {
      name: 'Fees of miners',
      sats: price.chainFee,
      note: transactions === 0 ? '' : plural(transactions, 'transaction'),
    },
    { name: 'Service', sats: price.baseFee * count, note: each(price.baseFee) },
    { name: 'Special sats', sats: price.rareSatsFee * count, note: each(price.rareSatsFee) },
    { name: 'Collection', sats: price.collectionServiceFee * count, note: each(price.collectionServiceFee) },
    { name: 'Creator', sats: price.price * count, note: each(price.price) },
    { name: 'Referral', sats: price.additionalFeeCharged, note: '' },
    { name: 'Size', sats: price.sizeFee, note: 'a share of the fees of miners' },
    {
      name: 'Postage',
      // an etching also needs postage, for the output with its premine
      sats: postage,
      note: `${postage === price.postage * count ? each(price.postage) : ''}${count === 1 ? '' : ', '}yours: it comes with the inscription or runes`,
    },
  ];
  return lines.filter(({ name, sats }) => sats > 0 || name === 'Fees of miners');
}

/**
 * Warnings for the customer. There is no warning about contents that were only counted, because their sizes are exact.
 *
 * @param {Price} price
 * @param {boolean} hasReceiver
 * @param {boolean} [hasOffer] whether the page also offers one reveal for each inscription. This offer already says how
 *   many inscriptions are vindicated
 * @returns {readonly string[]}
 */
export function priceWarnings({ warnings = [] }, hasReceiver, hasOffer = false) {
  const said = warnings
    .filter(({ code }) => code !== 'assumed' && !(hasOffer && code === 'vindicated'))
    .map(({ message }) => message);
  return hasReceiver
    ? said
    : ['The price is for the longest type of address. With yours it may be a little lower.', ...said];
}

/**
 * Number of inscriptions in the order that would have been cursed before the jubilee.
 *
 * @param {Price} price
 */
export function vindicatedCount({ warnings = [] }) {
  const warning = warnings.find(({ code }) => code === 'vindicated');
  return warning === undefined ? 0 : Number(/^\d+/u.exec(warning.message)?.[0] ?? 0);
}

/**
 * The offer of one reveal for each inscription, in words with the cost. Then no inscription is vindicated. `null` if no
 * inscription is known to be vindicated.
 *
 * @param {Price} price
 * @param {Price} uncursed the price of the same order with `uncurseIt`
 */
export function uncurseOffer(price, uncursed) {
  const count = vindicatedCount(price);
  if (count === 0) return null;
  const more = uncursed.amount - price.amount;
  const cost = more > 0 ? `${satsWords(more)} more` : more < 0 ? `${satsWords(-more)} less` : 'the same';
  return `${count} of ${grouped(price.count)} will be vindicated: one reveal each costs ${cost}.`;
}

/** The form's words for savings, by code. For other savings the form shows the service's words. */
const savingWords = /** @type {Readonly<Record<string, string>>} */ ({
  'shared-output': 'Puts all inscriptions into one output. They move together until you separate them.',
  compress:
    'Stores contents in brotli if that is shorter. Browsers show them in the same way; their hashes differ.',
});

/** @param {{ readonly code: string, readonly message: string }} saving */
export const wordsOfSaving = ({ code, message }) => savingWords[code] ?? message;
