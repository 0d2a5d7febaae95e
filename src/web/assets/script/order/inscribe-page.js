// The page on which customers order inscriptions: the form, the price, and the order.
import { takeHandedFile } from '../handed-file.js';
import { plural } from './amounts.js';
import { getJson } from './ask-service.js';
import { byId, element } from './elements.js';
import { ItemList } from './item-list.js';
import { fieldProblems, isInscriptionId } from './order-body.js';
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
import { Pricing, questionOf, unreadable, wholeBody } from './pricing.js';

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

/** Key of this order. If the order is sent again after a failure, the same key prevents a second order. */
let onceKey = newOnceKey();
let isOrdering = false;
const refuse = (/** @type {readonly string[]} */ messages) => showRefusals(priceParts.refusals, messages);

/** Fields whose content becomes part of the order only when the customer adds it to the list. */
const contentFields = ['text', 'delegates'];

function changed() {
  // a changed order needs a new key
  onceKey = newOnceKey();
  button.disabled = true;
  const problems = showProblems(form, fieldProblems(fieldsNow(), network));
  pricing.stop();
  if (list.items.length === 0) {
    priceParts.price.replaceChildren(
      element('p', { class: 'faint' }, 'Add a file or a text to see its price.'),
    );
    refuse([]);
    return;
  }
  if (problems.size > 0) {
    // the price of the earlier values is removed; otherwise it would stay next to the refusal
    priceParts.price.replaceChildren();
    refuse(['Correct the marked fields to see the price.']);
    return;
  }
  pricing.ask(questionOf(list.items, fieldsNow()));
}

/** @param {Priced} priced */
function shown(priced) {
  if (priced.kind === 'refused') {
    priceParts.price.replaceChildren();
    refuse(priced.messages.map((message) => inWords(form, message)));
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
    refuse(['Enter the address that receives the inscriptions.']);
    document.getElementById('receiveAddress')?.focus();
    return;
  }
  const unadded = contentFields.find((id) => byId(id, HTMLTextAreaElement).value.trim() !== '');
  if (unadded !== undefined) {
    refuse([
      `The text in the field is not in the order yet. Press “${unadded === 'text' ? 'Add this text' : 'Add them'}”, or clear the field.`,
    ]);
    byId(unadded, HTMLTextAreaElement).focus();
    return;
  }
  setOrdering(true);
  const path = fields.type === 'direct' ? '/inscribe' : '/order';
  try {
    const body = await wholeBody(list.items, fields);
    const words = plural(list.items.length, 'inscription');
    const refused = await sendOrder({ path, body, onceKey, words });
    if (refused !== null)
      refuse([...refused.messages.map((message) => inWords(form, message)), ...againWords(refused)]);
  } catch {
    refuse([unreadable]);
  } finally {
    setOrdering(false);
  }
}

/** @param {boolean} isNow */
function setOrdering(isNow) {
  isOrdering = isNow;
  setBusy(button, isNow);
}

/** Fills in the data of the parent, if this service knows the parent. */
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
// if the customer returns from the order's page, the form still has its values, but its key was already used
addEventListener('pageshow', (event) => {
  if (event.persisted) changed();
});
void offerFees(changed);
void takeHandedFile().then((file) => {
  if (file !== null) list.addFiles([file]);
});
