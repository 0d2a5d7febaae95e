// Functions that all order forms use: showing refusals and problems of fields, offering current fee rates, and sending
// the order.
import { getJson, postJson } from './ask-service.js';
import { byId, element } from './elements.js';
import { browserStorage, rememberOrder } from './own-orders.js';
import { hexOf } from './psbt-bytes.js';

/** @import { Outcome } from './ask-service.js' */

/** Maximum number of refusals that are shown. More refusals would hide the advice in the first ones. */
const refusalsMax = 8;

/**
 * Makes a new key for one order. The key is random, because anyone with the key and the order's body gets the order.
 * Random bytes are used, because browsers offer UUIDs only on https.
 */
export const newOnceKey = () => hexOf(crypto.getRandomValues(new Uint8Array(16)));

/**
 * @param {HTMLElement} part a list
 * @param {readonly string[]} messages
 */
export function showRefusals(part, messages) {
  part.replaceChildren(...messages.slice(0, refusalsMax).map((message) => element('li', {}, message)));
  part.hidden = messages.length === 0;
}

/**
 * Converts a refusal of the service. If it begins with the name of a field, the label of the field in the form replaces
 * the name.
 *
 * @param {HTMLFormElement} form
 * @param {string} message
 */
export const inWords = (form, message) =>
  message.replace(/^[a-z]+(?= )/iu, (name) => {
    const label = form.querySelector(`#${name}-problem`) && form.querySelector(`label[for="${name}"]`);
    return label === null ? name : `“${label.textContent}”`;
  });

/**
 * Shows problems of fields, each below its field.
 *
 * @param {HTMLFormElement} form
 * @param {ReadonlyMap<string, string>} problems by names of fields
 */
export function showProblems(form, problems) {
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

/**
 * @param {HTMLButtonElement} button
 * @param {boolean} isNow
 */
export function setBusy(button, isNow) {
  button.disabled = isNow;
  button.setAttribute('aria-busy', String(isNow));
}

/**
 * Shows buttons with current fee rates. Shows no buttons if the service has no node.
 *
 * @param {() => void} onChosen
 */
export async function offerFees(onChosen) {
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
            onChosen();
          },
        },
        `${name}: ${rate ?? '?'}`,
      ),
    ),
  );
  part.hidden = false;
  // a current rate becomes the default, because the order will be created soon
  if (field.value === field.defaultValue && halfHourFee !== undefined) {
    field.value = String(halfHourFee);
    onChosen();
  }
}

/** @typedef {Exclude<Outcome, { readonly kind: 'answered' }>} Refused */

/**
 * Whether the same order may be sent again with the same key. The order may already exist, or the next try may create
 * it.
 *
 * @param {Refused} refused
 */
export const mayBeRepeated = (refused) =>
  refused.kind === 'unreachable' || refused.status === 429 || refused.status >= 500;

/** @param {Refused} refused */
export const againWords = (refused) =>
  mayBeRepeated(refused) ? ['Press Order again: it will not be ordered twice.'] : [];

/**
 * Sends an order, and opens the order's page. Returns the refusal, or null if the order exists.
 *
 * @param {{ readonly path: string, readonly body: unknown, readonly onceKey: string, readonly words: string }} order
 *   `words`: the order's words in the list of this browser's orders
 * @returns {Promise<Refused | null>}
 */
export async function sendOrder({ path, body, onceKey, words }) {
  const outcome = await postJson(path, body, { onceKey });
  if (outcome.kind !== 'answered') return outcome;
  const { id } = /** @type {{ id: string }} */ (outcome.body);
  rememberOrder(browserStorage(), { id, at: Date.now(), words });
  location.assign(`/order#${id}`);
  return null;
}
