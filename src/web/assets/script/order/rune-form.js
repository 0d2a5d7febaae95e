// The form for orders about a rune: its fields, the state of the typed name, the price, and the order.
import { getJson } from './ask-service.js';
import { byId, element } from './elements.js';
import { canBeAsked, typedName } from './etch-body.js';
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

/** @import { Priced } from './pricing.js' */

/** How long the page waits for the next keystroke before it looks up the name, in ms. */
const quietMs = 350;

/** @typedef {{ readonly rune: string, readonly receiveAddress: string }} RuneFields */

/**
 * @template {RuneFields} Fields
 * @typedef {{
 *   readonly form: HTMLFormElement,
 *   readonly fields: () => Fields,
 *   readonly problems: (fields: Fields, network: string) => ReadonlyMap<string, string>,
 *   readonly isComplete: (fields: Fields) => boolean,
 *   readonly incomplete: string,
 *   readonly body: (fields: Fields) => Readonly<Record<string, unknown>>,
 *   readonly type: string,
 *   readonly path: string,
 *   readonly ordered: (fields: Fields) => string,
 *   readonly noReceiver: string,
 *   readonly standing: HTMLElement,
 *   readonly nameless: string,
 *   readonly namePath: (name: string) => string,
 *   readonly nameWords: (name: string, answer: unknown) => string,
 *   readonly onFields: (fields: Fields, isComplete: boolean) => void,
 * }} RuneForm `incomplete`: names the fields that a price still needs. `ordered`: describes the order in the list of
 *   this browser's orders. `nameless`: the text in `standing` if the name is empty
 */

/**
 * Shows a form, and follows its fields.
 *
 * @template {RuneFields} Fields
 * @param {RuneForm<Fields>} rune
 */
export function followRuneForm(rune) {
  const { form, fields: fieldsNow } = rune;
  const network = form.dataset['network'] ?? '';
  const [price, refusals] = [byId('price', HTMLElement), byId('refusals', HTMLElement)];
  const button = byId('order-button', HTMLButtonElement);
  const refuse = (/** @type {readonly string[]} */ messages) => showRefusals(refusals, messages);
  const pricing = new Pricing((priced) => shown(priced));
  const askName = nameAsker(rune);
  /** Key of this order. If the same order is sent again after a failure, the key prevents a second order. */
  let onceKey = newOnceKey();
  let isOrdering = false;

  function changed() {
    onceKey = newOnceKey();
    button.disabled = true;
    const fields = fieldsNow();
    const problems = showProblems(form, rune.problems(fields, network));
    pricing.stop();
    askName(fields.rune);
    const isComplete = problems.size === 0 && rune.isComplete(fields);
    rune.onFields(fields, isComplete);
    if (isComplete) {
      const body = rune.body(fields);
      pricing.ask({ type: rune.type, order: () => Promise.resolve(body), canUncurse: false });
      return;
    }
    const words = problems.size > 0 ? 'Correct the marked fields to see the price.' : rune.incomplete;
    price.replaceChildren(element('p', { class: 'faint' }, words));
    refuse([]);
  }

  /** @param {Priced} priced */
  function shown(priced) {
    if (priced.kind === 'refused') {
      price.replaceChildren();
      refuse(priced.messages.map((message) => inWords(form, message)));
      return;
    }
    refuse([]);
    showPrice(price, priced.price, null, fieldsNow().receiveAddress.trim() !== '');
    button.disabled = isOrdering;
  }

  async function order() {
    const fields = fieldsNow();
    if (fields.receiveAddress.trim() === '') {
      refuse([rune.noReceiver]);
      document.getElementById('receiveAddress')?.focus();
      return;
    }
    setOrdering(true);
    const sent = { path: rune.path, body: rune.body(fields), onceKey, words: rune.ordered(fields) };
    const refused = await sendOrder(sent);
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
  // if the customer comes back from the order's page, the browser restores the form with an idempotency key that is
  // used: make a new key
  addEventListener('pageshow', (event) => {
    if (event.persisted) changed();
  });
  void offerFees(changed);
  changed();
}

/**
 * Requests the state of a name when typing pauses, and shows this state.
 *
 * @param {Pick<RuneForm<RuneFields>, 'standing' | 'nameless' | 'namePath' | 'nameWords'>} rune
 */
function nameAsker({ standing, nameless, namePath, nameWords }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let asked = '';
  return (/** @type {string} */ typed) => {
    const name = typedName(typed);
    if (name === asked) return;
    asked = name;
    clearTimeout(timer);
    standing.textContent = name === '' ? nameless : '';
    if (!canBeAsked(name)) return;
    timer = setTimeout(() => {
      getJson(namePath(encodeURIComponent(name)))
        .then((outcome) => {
          if (name === asked && outcome.kind === 'answered')
            standing.textContent = nameWords(name, outcome.body);
        })
        .catch(() => undefined);
    }, quietMs);
  };
}
