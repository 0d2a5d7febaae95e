// The page on which a shop's customer pays. It repeatedly requests its own URL, and shows the changes.
import { showCopyButtons } from '../copy.js';
import { shopPaymentOf } from './checkout-payment.js';
import { byId, fill } from './elements.js';
import { qrPicture } from './pay-view.js';
import { pauseMs } from './polling.js';
import { countdownTickMs, showCountdowns } from './show-countdowns.js';
import { WalletView } from './wallet-view.js';

/** @import { OrderState } from './order-shapes.js' */

const shown = byId('checkout', HTMLElement);
const orderId = location.pathname.split('/').at(-1) ?? '';
const wallet = new WalletView({
  network: shown.dataset['network'] ?? '',
  holds: 'the rune',
  said: byId('said', HTMLElement),
  newest: async () => {
    const { page } = await readPage();
    return page === null ? undefined : shopPaymentOf(orderId, page.dataset['pay']);
  },
  onSent: () => void look(),
});

/**
 * The HTML of the parts as the server sent it, by the name of the part. The displayed parts are different, because
 * scripts add QR codes and countdowns.
 */
const made = /** @type {Map<string, string>} */ (new Map());
let failures = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** Number of requests that were started. A response is shown only if it belongs to the newest request. */
let begun = 0;

const partsOf = (/** @type {ParentNode} */ root) =>
  /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-part]'));

/**
 * The HTML of a part as the server sent it. The attribute `hidden` is removed, because scripts also remove it to show
 * buttons.
 */
const textOf = (/** @type {HTMLElement} */ part) => part.innerHTML.replaceAll(' hidden=""', '');

/** Requests the current page of the order. `page` is null if the service does not respond with the page. */
async function readPage() {
  try {
    const answer = await fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-store' });
    const seconds = Number(answer.headers.get('retry-after') ?? 0);
    const retryAfterMs = answer.ok || !Number.isFinite(seconds) ? null : seconds * 1000;
    if (!answer.ok) return { page: null, retryAfterMs };
    // safe, because this is a page of this service, which escapes texts
    const read = new DOMParser().parseFromString(await answer.text(), 'text/html');
    return { page: read.getElementById('checkout'), retryAfterMs };
  } catch {
    return { page: null, retryAfterMs: null };
  }
}

async function look() {
  clearTimeout(timer);
  begun += 1;
  const own = begun;
  const { page, retryAfterMs } = await readPage();
  if (own !== begun) return;
  failures = page === null ? failures + 1 : 0;
  // a single failed request is not reported
  const isTold = failures > 1;
  const trouble = byId('trouble', HTMLElement);
  const words = isTold ? 'The service does not answer. Nothing is lost: this page asks again by itself.' : '';
  if (trouble.textContent !== words) trouble.textContent = words;
  if (page !== null) take(page);
  later(retryAfterMs);
}

/** @type {Readonly<Record<string, OrderState>>} */
const paces = {
  open: 'waiting-payment',
  waiting: 'waiting-confirmation',
  closing: 'waiting-confirmation',
  completed: 'completed',
  over: 'expired',
  'etched-again': 'waiting-confirmation',
};

/** @param {number | null} retryAfterMs */
function later(retryAfterMs) {
  const state = paces[shown.dataset['state'] ?? ''] ?? null;
  timer = setTimeout(
    () => void look(),
    pauseMs({ state, isHidden: document.hidden, failures, retryAfterMs }),
  );
}

/**
 * Shows a newer state of the order.
 *
 * @param {HTMLElement} next
 */
function take(next) {
  shown.dataset['state'] = next.dataset['state'] ?? '';
  if (next.dataset['pay'] === undefined) delete shown.dataset['pay'];
  else shown.dataset['pay'] = next.dataset['pay'];
  const fresh = new Map([...partsOf(next)].map((part) => [part.dataset['part'] ?? '', part]));
  for (const part of partsOf(shown)) {
    const name = part.dataset['part'] ?? '';
    const newer = fresh.get(name);
    if (newer === undefined || textOf(newer) === made.get(name)) continue;
    made.set(name, textOf(newer));
    replace(part, newer);
  }
  dress();
}

/**
 * Replaces a part. If a button in the old part had the focus, the button in the new part gets the focus.
 *
 * @param {HTMLElement} part
 * @param {HTMLElement} newer
 */
function replace(part, newer) {
  const { activeElement } = document;
  const at =
    activeElement instanceof HTMLElement && part.contains(activeElement)
      ? activeElement.dataset['copy']
      : null;
  part.replaceChildren(...newer.childNodes);
  if (at === null || at === undefined) return;
  showCopyButtons();
  for (const button of part.querySelectorAll('button'))
    if (button.dataset['copy'] === at) button.focus({ preventScroll: true });
}

/** Adds the parts that need scripts: QR codes, countdowns, copy buttons, and wallets. */
function dress() {
  for (const frame of /** @type {NodeListOf<HTMLElement>} */ (shown.querySelectorAll('.qr-frame:empty'))) {
    const code = qrPicture(frame.dataset['qr'] ?? '', frame.dataset['label']);
    if (code !== null) frame.append(code);
  }
  showCopyButtons();
  showCountdowns();
  const payment = shopPaymentOf(orderId, shown.dataset['pay']);
  wallet.payment = payment;
  const isPayable = payment !== null;
  fill(byId('wallet', HTMLElement), isPayable, () => (isPayable ? wallet.view() : []));
}

for (const part of partsOf(shown)) made.set(part.dataset['part'] ?? '', textOf(part));
dress();
setInterval(showCountdowns, countdownTickMs);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void look();
});
addEventListener('online', () => void look());
later(null);
