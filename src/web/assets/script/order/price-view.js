// Shows the price of a new order next to the order's form.
import { bitcoinOf, satsWords } from './amounts.js';
import { element } from './elements.js';
import { priceLines, priceWarnings, uncurseOffer, wordsOfSaving } from './price-lines.js';

/** @import { Price } from './order-shapes.js' */

/**
 * @param {HTMLElement} part
 * @param {Price} price
 * @param {Price | null} uncursed the price with one reveal for each inscription. `null` if this price is the same or
 *   unknown
 * @param {boolean} hasReceiver
 */
export function showPrice(part, price, uncursed, hasReceiver) {
  const offer = uncursed === null ? null : uncurseOffer(price, uncursed);
  const warnings = priceWarnings(price, hasReceiver, offer !== null);
  part.replaceChildren(
    element(
      'p',
      { class: 'amount' },
      element('b', {}, satsWords(price.amount)),
      ` · ${bitcoinOf(price.amount)} BTC`,
    ),
    element(
      'dl',
      { class: 'price-lines' },
      ...priceLines(price).flatMap(({ name, sats, note }) => [
        element('dt', {}, name, note === '' ? null : element('small', {}, ` ${note}`)),
        element('dd', {}, satsWords(sats)),
      ]),
    ),
  );
  if (offer !== null)
    part.append(
      element('p', { class: 'hint' }, offer, ' '),
      element(
        'button',
        { class: 'button', type: 'button', click: () => setCheck('uncurse') },
        'One reveal each',
      ),
    );
  if (warnings.length > 0)
    part.append(element('ul', { class: 'warnings' }, ...warnings.map((words) => element('li', {}, words))));
  const savings = price.savings ?? [];
  if (savings.length > 0)
    part.append(
      element('h3', {}, 'It could cost less'),
      element('ul', { class: 'savings' }, ...savings.map((saving) => savingItem(saving))),
    );
}

/** Checkboxes of the form that turn a saving on, by the saving's code. */
const boxes = /** @type {Readonly<Record<string, string>>} */ ({
  'shared-output': 'shared',
  compress: 'compress',
});

/** @param {{ readonly code: string, readonly message: string, readonly sats: number }} saving */
function savingItem(saving) {
  const { code, sats } = saving;
  const box = boxes[code];
  return element(
    'li',
    {},
    element('b', {}, `${satsWords(sats)} less`),
    `: ${wordsOfSaving(saving)} `,
    box === undefined
      ? null
      : element('button', { class: 'button', type: 'button', click: () => setCheck(box) }, 'Do that'),
  );
}

/**
 * Checks a box of the form, and unfolds the part of the form that contains the box.
 *
 * @param {string} id
 */
function setCheck(id) {
  const box = document.getElementById(id);
  if (!(box instanceof HTMLInputElement)) return;
  box.checked = true;
  const folded = box.closest('details');
  if (folded !== null) folded.open = true;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}
