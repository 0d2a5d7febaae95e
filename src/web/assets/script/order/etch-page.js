// The page that orders etchings: what is filled in, whether the name is free, the price, and the order.
import { getJson } from './ask-service.js';
import { byId, element } from './elements.js';
import {
  canBeAsked,
  etchBody,
  etchProblems,
  hasUnits,
  nameWords,
  termsInWords,
  typedName,
} from './etch-body.js';
import {
  againWords,
  inWords,
  newOnceKey,
  offerFees,
  sendOrder,
  setBusy,
  showProblems,
  showRefusals,
} from './order-form.js';
import { showPrice } from './price-view.js';
import { Pricing } from './pricing.js';

/** @import { EtchFields, NameAnswer } from './etch-body.js' */
/** @import { Priced } from './pricing.js' */

/** A pause of typing. */
const quietMs = 350;

const form = byId('etch', HTMLFormElement);
const network = form.dataset['network'] ?? '';
const priceParts = { price: byId('price', HTMLElement), refusals: byId('refusals', HTMLElement) };
const standing = byId('name-standing', HTMLElement);
const summary = byId('terms-words', HTMLElement);
const button = byId('order-button', HTMLButtonElement);

/** @returns {EtchFields} */
function fieldsNow() {
  const data = new FormData(form);
  const texts = /** @type {const} */ ([
    'rune',
    'symbol',
    'divisibility',
    'premine',
    'amount',
    'cap',
    'heightStart',
    'heightEnd',
    'offsetStart',
    'offsetEnd',
    'receiveAddress',
    'refundAddress',
    'fee',
  ]);
  const values = /** @type {Record<typeof texts[number], string>} */ (
    Object.fromEntries(texts.map((name) => [name, String(data.get(name) ?? '')]))
  );
  return { ...values, turbo: data.get('turbo') === 'on' };
}

const pricing = new Pricing((priced) => shown(priced));
/** A creation that is sent again after a failure makes no second order. */
let onceKey = newOnceKey();
let isOrdering = false;
const refuse = (/** @type {readonly string[]} */ messages) => showRefusals(priceParts.refusals, messages);

function changed() {
  onceKey = newOnceKey();
  button.disabled = true;
  const fields = fieldsNow();
  const problems = showProblems(form, etchProblems(fields, network));
  pricing.stop();
  askName(fields.rune);
  const isComplete = problems.size === 0 && hasUnits(fields);
  summary.replaceChildren(
    ...(isComplete ? termsInWords(fields) : []).map((words) => element('li', {}, words)),
  );
  if (!isComplete) {
    priceParts.price.replaceChildren(
      element(
        'p',
        { class: 'faint' },
        problems.size > 0
          ? 'Correct the marked fields to see the price.'
          : 'Fill in a premine, or what a mint gives, to see the price.',
      ),
    );
    refuse([]);
    return;
  }
  const body = etchBody(fields);
  pricing.ask({ type: 'rune-etch', order: () => Promise.resolve(body), canUncurse: false });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let nameTimer;
let asked = '';

/** @param {string} typed */
function askName(typed) {
  const name = typedName(typed);
  if (name === asked) return;
  asked = name;
  clearTimeout(nameTimer);
  standing.textContent = name === '' ? 'Without a name ord gives the rune one: it waits for nothing.' : '';
  if (!canBeAsked(name)) return;
  nameTimer = setTimeout(() => {
    getJson(`/rune/${encodeURIComponent(name)}/name`)
      .then((outcome) => {
        if (name === asked && outcome.kind === 'answered')
          standing.textContent = nameWords(name, /** @type {NameAnswer} */ (outcome.body));
      })
      .catch(() => undefined);
  }, quietMs);
}

/** @param {Priced} priced */
function shown(priced) {
  if (priced.kind === 'refused') {
    priceParts.price.replaceChildren();
    refuse(priced.messages.map((message) => inWords(form, message)));
    return;
  }
  refuse([]);
  showPrice(priceParts.price, priced.price, null, fieldsNow().receiveAddress.trim() !== '');
  button.disabled = isOrdering;
}

async function order() {
  const fields = fieldsNow();
  if (fields.receiveAddress.trim() === '') {
    refuse(['Name the address that receives the premine.']);
    document.getElementById('receiveAddress')?.focus();
    return;
  }
  setOrdering(true);
  const name = typedName(fields.rune);
  const words = name === '' ? 'a rune without a name' : name;
  const refused = await sendOrder({ path: '/runes/etch', body: etchBody(fields), onceKey, words });
  if (refused !== null)
    refuse([...refused.messages.map((message) => inWords(form, message)), ...againWords(refused)]);
  setOrdering(false);
}

/** @param {boolean} isNow */
function setOrdering(isNow) {
  isOrdering = isNow;
  setBusy(button, isNow);
}

form.hidden = false;
form.addEventListener('input', () => changed());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!button.disabled) void order();
});
// back from the order's page: what is filled in stays, and its key is used
addEventListener('pageshow', (event) => {
  if (event.persisted) changed();
});
void offerFees(changed);
changed();
