// Shows the payment for an order: the address and the amount, as texts, as a link, and as a QR code.
import { bitcoinOf, paymentUri, satsWords } from './amounts.js';
import { postJson } from './ask-service.js';
import { copyButton, element, svgElement } from './elements.js';
import { qrCode, qrPath } from './qr-code.js';

/** @import { Child } from './elements.js' */

/** Width of the light border around a QR code, in modules. The QR standard requires this border. */
const borderModules = 4;

/**
 * Makes the QR code of a payment. The result is null if the text is too long for a QR code.
 *
 * @param {string} uri
 * @param {string} [label]
 */
export function qrPicture(uri, label = 'QR code of the payment') {
  const rows = qrCode(uri);
  // this happens only if the text is longer than any payment of this page
  if (rows === null) return null;
  const side = rows.length + 2 * borderModules;
  const picture = svgElement(
    'svg',
    {
      viewBox: `${-borderModules} ${-borderModules} ${side} ${side}`,
      class: 'qr',
      role: 'img',
      'aria-label': label,
    },
    svgElement('path', { d: qrPath(rows) }),
  );
  return picture;
}

/**
 * @param {{ readonly address: string, readonly sats: number, readonly hasDemoCoins: boolean, readonly onPaid: () => void }} payment
 * @returns {readonly Child[]}
 */
export function payView({ address, sats, hasDemoCoins, onPaid }) {
  const uri = paymentUri(address, sats);
  return [
    element('h2', {}, 'Pay'),
    element(
      'div',
      { class: 'pay' },
      element('div', { class: 'qr-frame' }, qrPicture(uri)),
      element(
        'div',
        {},
        element(
          'dl',
          { class: 'pairs' },
          element('dt', {}, 'Amount'),
          element(
            'dd',
            {},
            element(
              'span',
              { class: 'copied' },
              element('b', { class: 'amount' }, satsWords(sats)),
              copyButton(String(sats), 'the amount in sats'),
            ),
            element(
              'span',
              { class: 'copied' },
              `${bitcoinOf(sats)} BTC`,
              copyButton(bitcoinOf(sats), 'the amount in bitcoin'),
            ),
          ),
          element('dt', {}, 'Address'),
          element(
            'dd',
            {},
            element(
              'span',
              { class: 'copied' },
              element('span', { class: 'mono wrap', id: 'pay-address' }, address),
              copyButton(address, 'the address'),
            ),
          ),
        ),
        element(
          'p',
          {},
          element('a', { class: 'button primary', href: uri }, 'Open in a wallet'),
          ' ',
          copyLink(uri),
        ),
        hasDemoCoins && demoButton(address, sats, onPaid),
      ),
    ),
  ];
}

/** @param {string} uri */
const copyLink = (uri) =>
  element(
    'span',
    { class: 'copied' },
    element('small', { class: 'faint' }, 'payment link'),
    copyButton(uri, 'the payment link'),
  );

/**
 * Makes a button that pays with coins of a demo. These coins have no value.
 *
 * @param {string} address
 * @param {number} sats
 * @param {() => void} onPaid
 */
function demoButton(address, sats, onPaid) {
  const words = element('span', { role: 'status' });
  const button = element(
    'button',
    {
      class: 'button',
      type: 'button',
      id: 'demo-pay',
      click: () => {
        button.disabled = true;
        void postJson('/demo/pay', { address, sats }).then((outcome) => {
          words.textContent = outcome.kind === 'answered' ? ' Paid.' : ` ${outcome.messages.join(' ')}`;
          button.disabled = outcome.kind === 'answered';
          onPaid();
        });
      },
    },
    'Pay with the demo’s coins',
  );
  return element('p', {}, button, words);
}
