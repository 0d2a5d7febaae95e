// The page on which buyers order items of a collection: the form, the price, the order, and the state of the sale.
import { plural } from './amounts.js';
import { postJson } from './ask-service.js';
import { Challenge } from './challenge.js';
import { byId, element } from './elements.js';
import { allocationWords, mintBody, mintProblems } from './mint-body.js';
import { followSale } from './mint-sale.js';
import {
  againWords,
  inWords,
  mayBeRepeated,
  newOnceKey,
  offerFees,
  sendOrder,
  setBusy,
  showProblems,
  showRefusals,
} from './order-form.js';
import { showPrice } from './price-view.js';
import { Pricing } from './pricing.js';
import { runeWords } from './rune-charge.js';
import { networkProblem } from './wallets.js';

/** @import { MintFields, PhaseAllocation } from './mint-body.js' */
/** @import { Priced } from './pricing.js' */

class MintForm {
  #form = byId('mint', HTMLFormElement);
  #button = byId('order-button', HTMLButtonElement);
  #price = byId('price', HTMLElement);
  #refusals = byId('refusals', HTMLElement);
  #notOpen = byId('not-open', HTMLElement);
  #network = this.#form.dataset['network'] ?? '';
  #collection = this.#form.dataset['collection'] ?? '';
  #challenge = new Challenge(byId('challenge', HTMLElement), this.#form.dataset['siteKey']);
  #pricing = new Pricing((priced) => this.#shown(priced));
  #isOrdering = false;
  #isOpen = false;
  /**
   * The order that was sent and got no response. If this order is sent again with the same key, no second order is
   * created.
   *
   * @type {{ readonly body: object, readonly onceKey: string } | null}
   */
  #sent = null;

  /** @returns {MintFields} */
  get #fields() {
    const data = new FormData(this.#form);
    const text = (/** @type {string} */ name) => {
      const value = data.get(name);
      return typeof value === 'string' ? value : '';
    };
    return {
      count: text('count'),
      requestedIds: text('requestedIds'),
      receiveAddress: text('receiveAddress'),
      refundAddress: text('refundAddress'),
      fee: text('fee'),
      uncurse: text('uncurse') === 'on',
    };
  }

  listen() {
    this.#form.addEventListener('input', () => this.changed());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!this.#button.disabled) void this.#order();
    });
    // if the buyer returns from the order's page, the token of the challenge was already used
    addEventListener('pageshow', (event) => {
      if (!event.persisted) return;
      this.#challenge.reset();
      this.changed();
    });
    void offerFees(() => this.changed());
  }

  /** @param {boolean} isOpen whether a phase sells now */
  show(isOpen) {
    this.#isOpen = isOpen;
    this.#form.hidden = !isOpen;
    this.#notOpen.hidden = isOpen;
    this.changed();
  }

  /** @param {string} address an address on a list of buyers */
  receive(address) {
    const field = byId('receiveAddress', HTMLTextAreaElement);
    if (field.value.trim() !== '') return;
    field.value = address;
    this.changed();
  }

  changed() {
    this.#sent = null;
    this.#button.disabled = true;
    this.#pricing.stop();
    if (!this.#isOpen) return;
    const fields = this.#fields;
    if (showProblems(this.#form, mintProblems(fields, this.#network)).size > 0) {
      this.#price.replaceChildren();
      this.#refuse(['Correct the marked fields to see the price.']);
      return;
    }
    this.#pricing.ask({
      type: 'bulk',
      order: async () => mintBody(this.#collection, fields),
      canUncurse: !fields.uncurse,
    });
  }

  /** @param {Priced} priced */
  #shown(priced) {
    if (priced.kind === 'refused') {
      this.#price.replaceChildren();
      this.#refuse(priced.messages);
      return;
    }
    this.#refuse([]);
    const hasReceiver = this.#fields.receiveAddress.trim() !== '';
    // savings are not shown, because they concern only files, and a collection's files cannot change after approval
    showPrice(this.#price, { ...priced.price, savings: [] }, priced.uncursed, hasReceiver);
    const rune = priced.price.tokenPayCharge?.tokenCharge;
    if (rune !== undefined)
      this.#price.prepend(
        element('p', { class: 'amount' }, element('b', {}, runeWords(rune)), ' for the creator, and'),
      );
    this.#button.disabled = this.#isOrdering;
    this.#button.textContent = `Order ${plural(priced.price.count, 'item')}`;
  }

  /** @param {readonly string[]} messages */
  #refuse(messages) {
    showRefusals(
      this.#refusals,
      messages.map((message) => inWords(this.#form, message)),
    );
  }

  async #order() {
    const fields = this.#fields;
    if (fields.receiveAddress.trim() === '') {
      this.#refuse(['Enter the address that receives the items.']);
      byId('receiveAddress', HTMLTextAreaElement).focus();
      return;
    }
    const { token, words: missing } = this.#challenge;
    if (this.#sent === null && token === null) {
      this.#refuse([missing]);
      return;
    }
    this.#setOrdering(true);
    const body = { ...mintBody(this.#collection, fields), token };
    const sent = this.#sent ?? { body, onceKey: newOnceKey() };
    this.#sent = sent;
    const words = `Items of ${this.#collection}`;
    const refused = await sendOrder({ path: '/collectionorder', ...sent, words });
    this.#setOrdering(false);
    if (refused === null) return;
    this.#refuse([...refused.messages, ...againWords(refused)]);
    if (mayBeRepeated(refused)) return;
    this.#sent = null;
    this.#challenge.reset();
  }

  /** @param {boolean} isNow */
  #setOrdering(isNow) {
    this.#isOrdering = isNow;
    setBusy(this.#button, isNow);
  }
}

/**
 * Listens to the form that shows whether an address is on a list of buyers.
 *
 * @param {HTMLFormElement} form
 * @param {(address: string) => void} onListed
 */
function listenToLists(form, onListed) {
  const { collection = '', network = '' } = form.dataset;
  const answer = byId('listed-answer', HTMLElement);
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button'));
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const address = byId('listedAddress', HTMLInputElement).value.trim();
    const problem = address === '' ? 'Enter an address.' : networkProblem(address, network);
    showProblems(form, new Map(problem === null ? [] : [['listedAddress', problem]]));
    answer.replaceChildren();
    if (problem !== null) return;
    setBusy(button, true);
    void postJson('/getallocation', { id: collection, receiveAddress: address }).then((outcome) => {
      setBusy(button, false);
      if (outcome.kind !== 'answered') {
        answer.replaceChildren(element('p', { class: 'problem' }, outcome.messages.join(' ')));
        return;
      }
      const { phases } = /** @type {{ phases: readonly PhaseAllocation[] }} */ (outcome.body);
      answer.replaceChildren(
        element('ul', {}, ...phases.map((phase) => element('li', {}, allocationWords(phase)))),
      );
      if (phases.some((phase) => phase.public === 0 && phase.allocation !== 0)) onListed(address);
    });
  });
}

const form = document.getElementById('mint') === null ? null : new MintForm();
form?.listen();
const lists = document.getElementById('listed');
if (lists instanceof HTMLFormElement) listenToLists(lists, (address) => form?.receive(address));
followSale(({ isOpen }) => form?.show(isOpen));
