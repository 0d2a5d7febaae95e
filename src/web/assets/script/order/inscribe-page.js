// The page that makes orders: what is filled in, its price, and the order.
import { takeHandedFile } from '../handed-file.js';
import { plural } from './amounts.js';
import { getJson, postJson } from './ask-service.js';
import { byId, element } from './elements.js';
import { ItemList } from './item-list.js';
import { fieldProblems, isInscriptionId } from './order-body.js';
import { browserStorage, rememberOrder } from './own-orders.js';
import { showPrice } from './price-view.js';
import { Pricing, unreadable, wholeBody } from './pricing.js';
import { hexOf } from './psbt-bytes.js';

/** @import { Fields } from './order-body.js' */
/** @import { FileLimits } from './file-checks.js' */
/** @import { Priced } from './pricing.js' */

const form = byId('inscribe', HTMLFormElement);
const network = form.dataset['network'] ?? '';
const limits = /** @type {FileLimits} */ (JSON.parse(form.dataset['limits'] ?? '{}'));
const priceParts = { price: byId('price', HTMLElement), refusals: byId('refusals', HTMLElement) };
const button = byId('order-button', HTMLButtonElement);
const data = () => new FormData(form);

/** @param {string} name */
const textOf = (name) => {
  const value = data().get(name);
  return typeof value === 'string' ? value : '';
};
const isChecked = (/** @type {string} */ name) => textOf(name) === 'on';

/** @returns {Fields} */
function fieldsNow() {
  const texts = /** @type {const} */ ([
    'type',
    'receiveAddress',
    'fee',
    'refundAddress',
    'postage',
    'parentId',
    'parentValue',
    'parentReturn',
    'allowedSatributes',
    'rareSats',
    'metadata',
    'metaprotocol',
    'inscriptionIdPrefix',
    'timeout',
  ]);
  const values = /** @type {Record<typeof texts[number], string>} */ (
    Object.fromEntries(texts.map((name) => [name, textOf(name)]))
  );
  return {
    ...values,
    burn: isChecked('burn'),
    uncurse: isChecked('uncurse'),
    compress: isChecked('compress'),
    shared: isChecked('shared'),
  };
}

const list = new ItemList(limits, () => changed());
const pricing = new Pricing((priced) => shown(priced));

/** A creation that is sent again after a failure makes no second order. */
let onceKey = newOnceKey();
let isOrdering = false;

/** Fields whose content is in the order only once it is added. */
const contentFields = ['text', 'delegates'];

/** Random, as who knows it and the body is given the order. Browsers offer UUIDs on https alone. */
function newOnceKey() {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

/** @param {readonly string[]} messages */
function refuse(messages) {
  const { refusals } = priceParts;
  refusals.replaceChildren(...messages.slice(0, 8).map((message) => element('li', {}, message)));
  refusals.hidden = messages.length === 0;
}

/**
 * A refusal of the service in the words of the form, where it begins with the name of a field.
 *
 * @param {string} message
 */
const inWords = (message) =>
  message.replace(/^[a-z]+(?= )/iu, (name) => {
    const label = form.querySelector(`#${name}-problem`) && form.querySelector(`label[for="${name}"]`);
    return label === null ? name : `“${label.textContent}”`;
  });

/** Shows which fields are not right, below each. Null: all may be. */
function showProblems() {
  const problems = fieldProblems(fieldsNow(), network);
  for (const part of form.querySelectorAll('.problem')) {
    if (!(part instanceof HTMLElement)) continue;
    const name = part.id.replace(/-problem$/u, '');
    const problem = problems.get(name) ?? '';
    if (part.textContent !== problem) part.textContent = problem;
    part.hidden = problem === '';
    document.getElementById(name)?.setAttribute('aria-invalid', String(problem !== ''));
  }
  return problems;
}

function changed() {
  // another body needs another key
  onceKey = newOnceKey();
  button.disabled = true;
  const problems = showProblems();
  pricing.stop();
  if (list.items.length === 0) {
    priceParts.price.replaceChildren(
      element('p', { class: 'faint' }, 'Add a file or a text to see its price.'),
    );
    refuse([]);
    return;
  }
  if (problems.size > 0) {
    // a price of other values would stay beside the refusal
    priceParts.price.replaceChildren();
    refuse(['Correct the marked fields to see the price.']);
    return;
  }
  pricing.ask(list.items, fieldsNow());
}

/** @param {Priced} priced */
function shown(priced) {
  if (priced.kind === 'refused') {
    priceParts.price.replaceChildren();
    refuse(priced.messages.map(inWords));
    return;
  }
  refuse([]);
  const { receiveAddress, burn } = fieldsNow();
  const hasReceiver = burn || receiveAddress.trim() !== '';
  showPrice(priceParts.price, priced.price, priced.uncursed, hasReceiver);
  button.disabled = isOrdering;
  button.textContent = `Order ${plural(priced.price.count, 'inscription')}`;
}

async function order() {
  const fields = fieldsNow();
  if (!fields.burn && fields.receiveAddress.trim() === '') {
    refuse(['Name the address that receives the inscriptions.']);
    document.getElementById('receiveAddress')?.focus();
    return;
  }
  const unadded = contentFields.find((id) => byId(id, HTMLTextAreaElement).value.trim() !== '');
  if (unadded !== undefined) {
    refuse([
      `What you wrote is not in the order yet. Press “${unadded === 'text' ? 'Add this text' : 'Add them'}”, or empty the field.`,
    ]);
    byId(unadded, HTMLTextAreaElement).focus();
    return;
  }
  setOrdering(true);
  const path = fields.type === 'direct' ? '/inscribe' : '/order';
  try {
    const body = await wholeBody(list.items, fields);
    const outcome = await postJson(path, body, { onceKey });
    if (outcome.kind !== 'answered') {
      const isAgain = outcome.kind === 'unreachable' || outcome.status === 429 || outcome.status >= 500;
      refuse([
        ...outcome.messages.map(inWords),
        ...(isAgain ? ['Press Order again: nothing is ordered twice.'] : []),
      ]);
      return;
    }
    const { id } = /** @type {{ id: string }} */ (outcome.body);
    const words = plural(list.items.length, 'inscription');
    rememberOrder(browserStorage(), { id, at: Date.now(), words });
    location.assign(`/order#${id}`);
  } catch {
    refuse([unreadable]);
  } finally {
    setOrdering(false);
  }
}

/** @param {boolean} isNow */
function setOrdering(isNow) {
  isOrdering = isNow;
  button.disabled = isNow;
  button.setAttribute('aria-busy', String(isNow));
}

/** Fee rates of now, as buttons; none where the service has no node. */
async function offerFees() {
  const outcome = await getJson('/mempool/api/v1/fees/recommended');
  if (outcome.kind !== 'answered') return;
  const { fastestFee, halfHourFee, economyFee } = /** @type {Readonly<Record<string, number>>} */ (
    outcome.body
  );
  const field = byId('fee', HTMLInputElement);
  const choices = /** @type {const} */ ([
    ['next block', fastestFee],
    ['half an hour', halfHourFee],
    ['no hurry', economyFee],
  ]);
  const part = byId('fees', HTMLElement);
  part.replaceChildren(
    ...choices.map(([name, rate]) =>
      element(
        'button',
        {
          type: 'button',
          class: 'button',
          click: () => {
            field.value = String(rate);
            changed();
          },
        },
        `${name}: ${rate ?? '?'}`,
      ),
    ),
  );
  part.hidden = false;
  // the order is made soon: what is asked for now is a fair beginning
  if (field.value === field.defaultValue && halfHourFee !== undefined) {
    field.value = String(halfHourFee);
    changed();
  }
}

/** Fills in what this service knows of a parent. */
async function knowParent() {
  const id = textOf('parentId').trim();
  if (!isInscriptionId(id)) return;
  const outcome = await getJson(`/inscription/${id}`);
  if (outcome.kind !== 'answered' || textOf('parentId').trim() !== id) return;
  const { value, address } = /** @type {{ value?: number | null, address?: string | null }} */ (outcome.body);
  const [sats, home] = [byId('parentValue', HTMLInputElement), byId('parentReturn', HTMLInputElement)];
  if (sats.value === '' && typeof value === 'number') sats.value = String(value);
  if (home.value === '' && typeof address === 'string') home.value = address;
  changed();
}

form.hidden = false;
list.listen();
form.addEventListener('input', (event) => {
  const isContent = event.target instanceof Element && ['files', ...contentFields].includes(event.target.id);
  if (!isContent) changed();
});
byId('parentId', HTMLInputElement).addEventListener('change', () => void knowParent());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!button.disabled) void order();
});
// back from the order's page: what is filled in stays, and its key is used
addEventListener('pageshow', (event) => {
  if (event.persisted) changed();
});
void offerFees();
void takeHandedFile().then((file) => {
  if (file !== null) list.addFiles([file]);
});
