// The parts of an order's page that only show data: state, files, parents and facts.
import { bitcoinOf, plural, satsWords } from './amounts.js';
import { copyButton, element, identifier } from './elements.js';
import { chargeWords, runeWords } from './rune-charge.js';
import { awaitedParents, momentWords, stepsOf, told } from './state-words.js';

/** @import { Child } from './elements.js' */
/** @import { Order, OrderFile, OrderParent } from './order-shapes.js' */
/** @import { TokenPayCharge } from './rune-charge.js' */

/**
 * @param {Order} order
 * @param {number} now
 * @returns {readonly Child[]}
 */
export function stateView(order, now) {
  const { tone, title, words } = told(order, now);
  const steps = stepsOf(order);
  return [
    element('p', { class: `tone ${tone}` }, element('b', {}, title)),
    ...words.map((each) => element('p', {}, each)),
    steps !== null &&
      element(
        'ol',
        { class: 'order-steps' },
        ...steps.map(({ name, is }) =>
          element('li', { class: is, ...(is === 'current' ? { 'aria-current': 'step' } : {}) }, name),
        ),
      ),
    order.refund !== undefined &&
      element(
        'p',
        {},
        `Refunded: ${satsWords(order.refund.amount)}, in `,
        identifier(`/tx/${order.refund.txid}`, order.refund.txid, 'the transaction of the refund'),
      ),
  ];
}

/** Maximum number of frames with inscribed contents. Each frame loads a document. */
const framesMax = 12;
/** Maximum number of files that have their own row. A page with 10,000 rows would have megabytes. */
const rowsMax = 100;

/** Describes the state of a file in words. */
const fileWords = (/** @type {OrderFile} */ { status, error, tx }) => {
  if (error !== undefined) return `The node refuses it: ${error}`;
  if (status === 'inscribed') return tx?.burn === undefined ? 'inscribed' : 'inscribed and burned';
  if (status === 'broadcast') return 'sent, waits for a block';
  return status === 'queued' ? 'created, will be sent next' : 'waits';
};

/**
 * Ids of inscriptions in the mempool. Each inscription gets a frame as soon as the service has seen it there.
 *
 * @param {Order} order
 */
export const awaitedPreviews = ({ files }) =>
  files
    .flatMap(({ status, inscriptionId }) =>
      status === 'broadcast' && inscriptionId !== undefined ? [inscriptionId] : [],
    )
    .slice(0, framesMax);

/**
 * @param {Order} order
 * @param {ReadonlySet<string>} seen ids in the mempool, whose previews exist
 * @returns {readonly Child[]}
 */
export function filesView({ files }, seen) {
  const there = files.filter(
    ({ status, inscriptionId = '' }) => status === 'inscribed' || seen.has(inscriptionId),
  );
  if (files.length === 0) return [];
  const listed = files.slice(0, rowsMax);
  return [
    element('h2', {}, 'Inscriptions'),
    there.length > 0 &&
      element(
        'div',
        { class: 'order-art' },
        ...there.slice(0, framesMax).map(({ inscriptionId = '' }) =>
          element(
            'a',
            { href: `/inscription/${inscriptionId}`, 'aria-label': `Inscription ${inscriptionId}` },
            // the sandbox prevents access to this page, and content in a list does not run scripts
            element('iframe', {
              sandbox: '',
              loading: 'lazy',
              tabindex: '-1',
              title: `Content of inscription ${inscriptionId}`,
              src: `/preview/${inscriptionId}?size=card`,
            }),
          ),
        ),
      ),
    element(
      'ol',
      { class: 'order-files' },
      ...listed.map((file) =>
        element(
          'li',
          {},
          element('span', { class: 'wrap' }, element('bdi', {}, file.name ?? 'delegate'), ' '),
          element('span', { class: 'faint' }, fileWords(file)),
          file.inscriptionId === undefined
            ? null
            : identifier(
                `/inscription/${file.inscriptionId}`,
                file.inscriptionId,
                'the id of the inscription',
              ),
        ),
      ),
    ),
    files.length > listed.length &&
      element('p', { class: 'faint' }, `and ${files.length - listed.length} more`),
  ];
}

/**
 * @param {Order} order
 * @param {boolean} isPayable
 * @returns {readonly Child[]}
 */
export function parentsView(order, isPayable) {
  const parents = order.parents ?? [];
  if (parents.length === 0) return [];
  const isAsked = isPayable && awaitedParents(order).length > 0;
  return [
    element('h2', {}, parents.length === 1 ? 'The parent' : 'Parents'),
    isAsked &&
      element(
        'p',
        {},
        'Send each parent, with all sats of its output, in one output to its deposit address. Use a wallet that lets you choose the output: others may send another inscription, which is returned without a fee.',
      ),
    ...parents.map((parent) => parentView(parent, isAsked)),
  ];
}

/**
 * @param {OrderParent} parent
 * @param {boolean} isAsked
 */
function parentView({ inscriptionId = '', depositAddress, txid, parentReturnTx, returnAddress }, isAsked) {
  return element(
    'dl',
    { class: 'pairs' },
    element('dt', {}, 'Parent'),
    element('dd', {}, identifier(`/inscription/${inscriptionId}`, inscriptionId, 'the id of the parent')),
    element('dt', {}, txid === undefined ? 'Deposit address' : 'Deposited in'),
    element(
      'dd',
      {},
      txid !== undefined
        ? identifier(`/tx/${txid}`, txid, 'the transaction')
        : depositAddress === undefined
          ? 'not arrived yet'
          : isAsked
            ? identifier(`/address/${depositAddress}`, depositAddress, 'the deposit address')
            : 'no longer needed',
    ),
    element('dt', {}, 'Returns to'),
    element('dd', { class: 'mono wrap' }, returnAddress ?? ''),
    ...(parentReturnTx === undefined
      ? []
      : [
          element('dt', {}, 'Returned in'),
          element('dd', {}, identifier(`/tx/${parentReturnTx}`, parentReturnTx, 'the transaction')),
        ]),
  );
}

/**
 * Makes rows about the rune that an order etches, and about its transactions.
 *
 * @param {Order} order
 * @returns {readonly (readonly [string, Child])[]}
 */
function etchingFacts({ runeProperties, etchingTx, rune, runeId }) {
  if (runeProperties === undefined) return [];
  const txLink = (/** @type {string} */ txid) => identifier(`/tx/${txid}`, txid, 'the transaction');
  return [
    [
      'Rune',
      rune === undefined
        ? (runeProperties.rune ?? 'ord assigns a name')
        : element('a', { href: `/rune/${rune}` }, rune),
    ],
    ...(runeId === undefined ? [] : [/** @type {const} */ (['Rune id', runeId])]),
    ...(etchingTx === undefined ? [] : [/** @type {const} */ (['Claimed in', txLink(etchingTx.commit)])]),
    ...(etchingTx?.reveal === undefined
      ? []
      : [/** @type {const} */ (['Etched in', txLink(etchingTx.reveal)])]),
  ];
}

/**
 * Makes rows about the rune that an order mints, and about the results of the mints.
 *
 * @param {Order} order
 * @returns {readonly (readonly [string, Child])[]}
 */
function mintFacts({
  rune,
  numberOfMints,
  executedMints = 0,
  mintingTxs = [],
  failedMints = [],
  refundedMints = 0,
}) {
  if (rune === undefined || numberOfMints === undefined) return [];
  const [first] = mintingTxs;
  return [
    ['Rune', element('a', { href: `/rune/${rune}` }, rune)],
    ['Mints', `${numberOfMints}: ${mintingTxs.length} sent, ${executedMints} executed`],
    ...(failedMints.length === 0
      ? []
      : [/** @type {const} */ (['Too late', plural(failedMints.length, 'mint')])]),
    ...(refundedMints === 0 ? [] : [/** @type {const} */ (['Refunded', plural(refundedMints, 'mint')])]),
    ...(first === undefined
      ? []
      : [/** @type {const} */ (['First mint', identifier(`/tx/${first}`, first, 'the transaction')])]),
  ];
}

/**
 * @param {Order} order
 * @returns {readonly Child[]}
 */
export function factsView(order) {
  const receivers = [order.receiveAddress ?? []].flat();
  const [receiver] = receivers;
  const isWaiting = order.state === 'waiting-payment' || order.state === 'waiting-parent';
  const facts = /** @type {readonly (readonly [string, Child])[]} */ ([
    ...etchingFacts(order),
    ...mintFacts(order),
    ['Price', `${satsWords(order.charge.amount)} (${bitcoinOf(order.charge.amount)} BTC)`],
    ...(order.tokenPayCharge === undefined
      ? []
      : [/** @type {const} */ (['And the rune', runeWords(order.tokenPayCharge.tokenCharge)])]),
    [
      'Receiver',
      receiver === undefined
        ? 'none: it is burned'
        : receivers.length === 1
          ? identifier(`/address/${receiver}`, receiver, 'the address')
          : plural(receivers.length, 'address', 'addresses'),
    ],
    ['Refund address', order.refundAddress ?? 'none: the operator decides'],
    ['Ordered', momentWords(order.createdAt)],
    ...(isWaiting ? [/** @type {const} */ (['Time to pay until', momentWords(order.expiresAt)])] : []),
    ...(order.priceHeldUntil === undefined || !isWaiting
      ? []
      : [
          /** @type {const} */ ([
            'Price valid until',
            `${momentWords(order.priceHeldUntil)}; later it may rise with the fees`,
          ]),
        ]),
    [
      'Id of the order',
      element(
        'span',
        { class: 'copied' },
        element('span', { class: 'mono wrap' }, order.id),
        copyButton(order.id, 'the id of the order'),
      ),
    ],
  ]);
  return [
    element('h2', {}, 'The order'),
    element(
      'dl',
      { class: 'pairs' },
      ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', { class: 'wrap' }, value)]),
    ),
    element(
      'p',
      { class: 'hint small' },
      'Keep the address of this page: it is the key to the order. Anyone who has it can read and cancel the order.',
    ),
  ];
}

/**
 * @param {TokenPayCharge} charge
 * @returns {readonly Child[]}
 */
export function runePayView({ id, feeCharge, tokenCharge, refunds }) {
  return [
    element('h2', {}, 'Pay'),
    element(
      'dl',
      { class: 'pairs' },
      element('dt', {}, 'Rune'),
      element('dd', {}, element('b', {}, runeWords(tokenCharge)), ` · ${chargeWords(tokenCharge.state)}`),
      element('dt', {}, 'Sats'),
      element('dd', {}, element('b', {}, satsWords(feeCharge.amount)), ` · ${chargeWords(feeCharge.state)}`),
    ),
    element('p', {}, element('a', { class: 'button primary', href: `/tokenpay/checkout/${id}` }, 'Pay both')),
    element('p', { class: 'hint' }, refunds),
  ];
}
