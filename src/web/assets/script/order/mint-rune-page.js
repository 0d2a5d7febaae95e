// The page on which customers order mints of a rune. It shows how many mints are left.
import { plural } from './amounts.js';
import { byId } from './elements.js';
import { typedName } from './etch-body.js';
import { mintBody, mintProblems, runeWords } from './mint-rune-body.js';
import { followRuneForm } from './rune-form.js';

/** @import { MintFields, RuneAnswer } from './mint-rune-body.js' */

const form = byId('mint', HTMLFormElement);

/** @returns {MintFields} */
function fields() {
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

// the page of a rune links to this page, with the rune's name in the query
byId('rune', HTMLInputElement).value = new URLSearchParams(location.search).get('rune') ?? '';
followRuneForm({
  form,
  fields,
  problems: mintProblems,
  isComplete: ({ rune, numberOfMints }) => rune.trim() !== '' && numberOfMints.trim() !== '',
  incomplete: 'Enter the rune and the number of mints to see the price.',
  body: mintBody,
  type: 'rune-mint',
  path: '/runes/mint',
  ordered: ({ rune, numberOfMints }) => `${plural(Number(numberOfMints), 'mint')} of ${typedName(rune)}`,
  noReceiver: 'Enter the address that receives the runes.',
  standing: byId('rune-standing', HTMLElement),
  nameless: '',
  namePath: (name) => `/rune/${name}`,
  nameWords: (_, answer) => runeWords(/** @type {RuneAnswer} */ (answer)),
  onFields: () => undefined,
});
