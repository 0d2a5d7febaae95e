// The page on which customers order etchings. It shows whether the name is free, and the terms in words.
import { byId, element } from './elements.js';
import { etchBody, etchProblems, hasUnits, nameWords, termsInWords, typedName } from './etch-body.js';
import { followRuneForm } from './rune-form.js';

/** @import { EtchFields, NameAnswer } from './etch-body.js' */

const form = byId('etch', HTMLFormElement);
const summary = byId('terms-words', HTMLElement);

/** @returns {EtchFields} */
function fields() {
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

followRuneForm({
  form,
  fields,
  problems: etchProblems,
  isComplete: hasUnits,
  incomplete: 'Enter a premine, or the units of a mint, to see the price.',
  body: etchBody,
  type: 'rune-etch',
  path: '/runes/etch',
  ordered: ({ rune }) => typedName(rune) || 'a rune without a name',
  noReceiver: 'Enter the address that receives the premine.',
  standing: byId('name-standing', HTMLElement),
  nameless: 'Without a name, ord assigns one to the rune, and the etching need not wait for it.',
  namePath: (name) => `/rune/${name}/name`,
  nameWords: (name, answer) => nameWords(name, /** @type {NameAnswer} */ (answer)),
  onFields: (now, isComplete) =>
    summary.replaceChildren(
      ...(isComplete ? termsInWords(now) : []).map((words) => element('li', {}, words)),
    ),
});
