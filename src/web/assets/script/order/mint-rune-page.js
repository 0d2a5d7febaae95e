// The page that orders mints of a rune: what is filled in, what is left of the rune, the price, and the order.
import { plural } from './amounts.js';
import { getJson } from './ask-service.js';
import { byId, element } from './elements.js';
import { canBeAsked, typedName } from './etch-body.js';
import { mintBody, mintProblems, runeWords } from './mint-rune-body.js';
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

/** @import { MintFields, RuneAnswer } from './mint-rune-body.js' */
/** @import { Priced } from './pricing.js' */

/** A pause of typing. */
const quietMs = 350;

const form = byId('mint', HTMLFormElement);
const network = form.dataset['network'] ?? '';
const priceParts = { price: byId('price', HTMLElement), refusals: byId('refusals', HTMLElement) };
const standing = byId('rune-standing', HTMLElement);
const button = byId('order-button', HTMLButtonElement);

/** @returns {MintFields} */
function fieldsNow() {
  const data = new FormData(form);
  const textOf = (/** @type {string} */ name) => String(data.get(name) ?? '');
  return {
    rune: textOf('rune'),
    numberOfMints: textOf('numberOfMints'),
    receiveAddress: textOf('receiveAddress'),
    refundAddress: textOf('refundAddress'),
    fee: textOf('fee'),
  };
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
  const problems = showProblems(form, mintProblems(fields, network));
  pricing.stop();
  askRune(fields.rune);
  const isComplete = problems.size === 0 && fields.rune.trim() !== '' && fields.numberOfMints.trim() !== '';
  if (!isComplete) {
    const words =
      problems.size > 0
        ? 'Correct the marked fields to see the price.'
        : 'Fill in the rune and the number of mints to see the price.';
    priceParts.price.replaceChildren(element('p', { class: 'faint' }, words));
    refuse([]);
    return;
  }
  const body = mintBody(fields);
  pricing.ask({ type: 'rune-mint', order: () => Promise.resolve(body), canUncurse: false });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let runeTimer;
let asked = '';

/** @param {string} typed */
function askRune(typed) {
  const name = typedName(typed);
  if (name === asked) return;
  asked = name;
  clearTimeout(runeTimer);
  standing.textContent = '';
  if (!canBeAsked(name)) return;
  runeTimer = setTimeout(() => {
    getJson(`/rune/${encodeURIComponent(name)}`)
      .then((outcome) => {
        if (name !== asked) return;
        if (outcome.kind === 'answered')
          standing.textContent = runeWords(/** @type {RuneAnswer} */ (outcome.body));
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
    refuse(['Name the address that receives the runes.']);
    document.getElementById('receiveAddress')?.focus();
    return;
  }
  setOrdering(true);
  const body = mintBody(fields);
  const words = `${plural(body.numberOfMints, 'mint')} of ${body.rune}`;
  const refused = await sendOrder({ path: '/runes/mint', body, onceKey, words });
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
// from the page of a rune
byId('rune', HTMLInputElement).value = new URLSearchParams(location.search).get('rune') ?? '';
void offerFees(changed);
changed();
