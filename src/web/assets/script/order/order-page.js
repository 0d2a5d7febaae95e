// The page of an order. It repeatedly requests the order, and shows the order's state.

import { plural } from './amounts.js';
import { answers, getJson, postJson } from './ask-service.js';
import { byId, element, fill } from './elements.js';
import { listenToOpening } from './open-order.js';
import { paymentOf } from './order-payment.js';
import { awaitedPreviews, factsView, filesView, parentsView, runePayView, stateView } from './order-views.js';
import { browserStorage, forgetOrder, orderIdOf, ownOrders, rememberOrder } from './own-orders.js';
import { showOwnOrders } from './own-orders-view.js';
import { payView } from './pay-view.js';
import { pauseMs } from './polling.js';
import { isRunePayable, withCharge } from './rune-charge.js';
import { askedSats, canCancel, isPayable, stepsOf, told } from './state-words.js';
import { WalletView } from './wallet-view.js';

/** @import { Order } from './order-shapes.js' */
/** @import { Outcome } from './ask-service.js' */

const page = byId('order', HTMLElement);
const part = (/** @type {string} */ id) => byId(id, HTMLElement);
const hasDemoCoins = page.dataset['demoPay'] !== undefined;
const wallet = new WalletView({
  network: page.dataset['network'] ?? '',
  holds: 'your inscriptions',
  said: part('said'),
  newest: async () => {
    if (id === null) return null;
    const outcome = await getJson(`/order?id=${id}`);
    return outcome.kind === 'answered' ? paymentOf(/** @type {Order} */ (outcome.body)) : undefined;
  },
  onSent: () => look(),
});

/** @type {string | null} */
let id = null;
/** @type {Order | null} */
let order = null;
/** Ids of inscriptions that the service has already seen in the mempool. */
const seen = /** @type {Set<string>} */ (new Set());
let failures = 0;
/**
 * Whether the order was stored in the list of this browser. It is stored only once per visit. So if the order is
 * removed from the list in another tab, it stays removed.
 */
let isRemembered = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {AbortController | null} */
let asked = null;

/** Opens the order whose id is in the URL. If the URL has no id, opens the list of orders. */
function open() {
  asked?.abort();
  clearTimeout(timer);
  id = orderIdOf(location.hash);
  order = null;
  isRemembered = false;
  seen.clear();
  failures = 0;
  wallet.reset();
  part('said').textContent = '';
  page.hidden = id === null;
  for (const section of page.querySelectorAll('section')) {
    section.hidden = true;
    delete section.dataset['made'];
    section.replaceChildren();
  }
  part('open-order').hidden = id !== null;
  part('own-orders').hidden = id !== null;
  part('order-title').textContent = id === null ? 'Your orders' : 'Your order';
  if (id === null) showOwnOrders(part('own-orders'));
  else {
    notice(['Loading the order…']);
    look();
  }
  if (id === null && location.hash !== '')
    tellOpening(
      'The address of this page has no order id after the #. Enter the id, or open an order of this browser.',
    );
}

/** @param {string} words */
function tellOpening(words) {
  const problem = part('order-id-problem');
  problem.textContent = words;
  problem.hidden = false;
}

/** Requests the order now. */
function look() {
  if (id === null) return;
  clearTimeout(timer);
  asked?.abort();
  const now = new AbortController();
  asked = now;
  getJson(`/order?id=${id}`, now.signal)
    .then((outcome) => {
      if (!now.signal.aborted) came(outcome);
    })
    .catch(() => undefined);
}

/** @param {Outcome} outcome */
function came(outcome) {
  const isUnknown = outcome.kind === 'refused' && (outcome.status === 404 || outcome.status === 400);
  if (isUnknown) {
    unknown();
    return;
  }
  if (outcome.kind === 'answered') {
    failures = 0;
    order = withCharge(/** @type {Order} */ (outcome.body));
    show(order);
  } else {
    failures += 1;
    notice([...outcome.messages, 'Nothing is lost: this page tries again by itself.']);
  }
  const retryAfterMs = outcome.kind === 'answered' ? null : outcome.retryAfterMs;
  timer = setTimeout(
    look,
    pauseMs({ state: order?.state ?? null, isHidden: document.hidden, failures, retryAfterMs }),
  );
}

/** @param {readonly string[]} messages */
function notice(messages) {
  fill(part('notices'), messages, () =>
    messages.map((message) => element('p', { class: 'notice' }, message)),
  );
}

function unknown() {
  for (const section of page.querySelectorAll('section')) section.hidden = true;
  const known = id;
  fill(part('notices'), ['unknown', known], () => [
    element(
      'div',
      { class: 'notice' },
      element('p', {}, element('b', {}, 'This service has no order with this id.')),
      element(
        'p',
        {},
        'A part of the address may be missing: copy it completely. Orders of other services or networks are not here. If you paid the order, write to the operator with the whole address.',
      ),
      element(
        'p',
        {},
        element('a', { class: 'button', href: '/order' }, 'Your orders'),
        ' ',
        element('a', { class: 'button', href: '/inscribe' }, 'Order again'),
        ' ',
        known !== null && ownOrders(browserStorage()).some((own) => own.id === known)
          ? element(
              'button',
              { class: 'button', type: 'button', click: () => forget(known) },
              'Remove it from the list',
            )
          : null,
      ),
    ),
  ]);
}

/** @param {string} forgotten */
function forget(forgotten) {
  forgetOrder(browserStorage(), forgotten);
  location.assign('/order');
}

/** @param {Order} read */
function show(read) {
  notice([]);
  const now = Date.now();
  const payable = isPayable(read);
  fill(part('state'), [told(read, now), stepsOf(read), read.refund], () => stateView(read, now));
  const payment = { address: read.charge.address, sats: askedSats(read) };
  const needsSats = payable && payment.sats > 0;
  const inRunes = isRunePayable(read) ? (read.tokenPayCharge ?? null) : null;
  fill(part('pay'), [needsSats, payment, inRunes], () => {
    if (inRunes !== null) return runePayView(inRunes);
    return needsSats ? payView({ ...payment, hasDemoCoins, onPaid: look }) : [];
  });
  fill(part('parents'), [read.parents, payable], () => parentsView(read, payable));
  // an order with a rune charge has no wallet button here, because another page pays both charges together
  const hasWallet = payable && inRunes === null;
  wallet.payment = hasWallet ? paymentOf(read) : null;
  fill(part('wallet'), hasWallet, () => (hasWallet ? wallet.view() : []));
  showFiles(read);
  void awaitPreviews(read);
  fill(
    part('facts'),
    [
      read.state,
      read.etchingTx,
      read.runeId,
      read.mintingTxs,
      read.executedMints,
      read.charge,
      read.expiresAt,
      read.underpaid,
      read.priceHeldUntil,
    ],
    () => [...factsView(read), cancelButton(read)],
  );
  const words =
    read.numberOfMints === undefined
      ? (read.rune ?? read.runeProperties?.rune ?? plural(read.files.length, 'inscription'))
      : `${plural(read.numberOfMints, 'mint')} of ${read.rune ?? ''}`;
  if (!isRemembered && ownOrders(browserStorage()).every((own) => own.id !== read.id))
    rememberOrder(browserStorage(), { id: read.id, at: read.createdAt, words });
  isRemembered = true;
}

/** @param {Order} read */
const showFiles = (read) => fill(part('files'), [read.files, [...seen]], () => filesView(read, seen));

/**
 * Shows contents in the mempool as soon as the service has seen them there. A frame that is loaded earlier would show
 * "not found".
 *
 * @param {Order} read
 */
async function awaitPreviews(read) {
  const awaited = awaitedPreviews(read).filter((each) => !seen.has(each));
  const answered = await Promise.all(awaited.map((each) => answers(`/preview/${each}?size=card`)));
  for (const [index, each] of awaited.entries()) if (answered[index] === true) seen.add(each);
  if (order === read && answered.includes(true)) showFiles(read);
}

/** @param {Order} read */
function cancelButton(read) {
  if (!canCancel(read)) return null;
  const words = element('span', { role: 'status' });
  let isSure = false;
  const button = element(
    'button',
    {
      class: 'button',
      type: 'button',
      click: () => {
        if (!isSure) {
          isSure = true;
          button.textContent = 'Really cancel it';
          words.textContent = ' Later payments are only refunded.';
          return;
        }
        button.disabled = true;
        void postJson('/order/cancel', { id: read.id }).then((outcome) => {
          words.textContent = outcome.kind === 'answered' ? '' : ` ${outcome.messages.join(' ')}`;
          button.disabled = false;
          look();
        });
      },
    },
    'Cancel the order',
  );
  return element('p', {}, button, words);
}

listenToOpening();
addEventListener('hashchange', open);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) look();
});
addEventListener('online', () => look());
open();
