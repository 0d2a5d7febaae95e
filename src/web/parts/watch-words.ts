import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { addressLink, inscriptionLink } from '#web/parts/identifiers.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** A condition as the client sent it, without its webhook. */
export type ShownCondition = Readonly<Record<string, unknown>>;

/** States of findings. A height follows the words if a block has or had the finding. */
export const stateWords = {
  pending: 'in the mempool',
  confirmed: 'in block',
  replaced: 'replaced',
  void: 'mined without effect',
  reorganised: 'reorganised away from block',
} as const;

/** Fields of a condition that its sentence names, so that they are not repeated as filters. */
const namedFields: ReadonlySet<string> = new Set(['text', 'metadata', 'hash', 'phrase', 'words']);

/** A part of a sentence: a text, or a text with the markup that shows it on pages. */
type Part = string | { readonly text: string; readonly shown: Markup };

/** A sentence that says what a watch finds. Its texts may be texts of strangers. */
export const watchWords = (kind: string, condition: ShownCondition): HtmlValue =>
  partsOf(kind, condition).map((part) => (typeof part === 'string' ? part : part.shown));

/** The same sentence as plain text, for the title of a feed. */
export const watchTitle = (kind: string, condition: ShownCondition): string =>
  partsOf(kind, condition)
    .map((part) => (typeof part === 'string' ? part : part.text))
    .join('');

function partsOf(kind: string, condition: ShownCondition): readonly Part[] {
  switch (kind) {
    case 'sales':
      return saleParts(condition);
    case 'children':
      return ['New children of ', inscription(condition['parent'])];
    case 'runes':
      return runeParts(condition);
    case 'receipts':
      return ['Receipts of ', address(condition['address'])];
    default:
      return searchParts(condition);
  }
}

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
const isOn = (value: unknown): boolean => text(value) === 'true' || text(value) === '1';

const inscription = (id: unknown): Part => ({
  text: text(id),
  shown: inscriptionLink({ id: text(id), number: null }),
});
const address = (of: unknown): Part => ({ text: text(of), shown: addressLink(text(of), { isBare: true }) });
const quoted = (needle: string): Part => ({ text: `“${needle}”`, shown: html`<q>${isolated(needle)}</q>` });
const link = (href: string, words: string): Part => ({
  text: words,
  shown: html`<a class="wrap" href="${href}">${words}</a>`,
});

function searchParts(condition: ShownCondition): readonly Part[] {
  const filters = Object.entries(condition).filter(([name]) => !namedFields.has(name));
  return [
    ...subjectParts(condition),
    ...filters.map(([name, value]) => ({
      text: `, ${name}: ${text(value)}`,
      shown: html` <span class="chip">${name}: ${isolated(text(value))}</span>`,
    })),
  ];
}

function subjectParts({ text: content, metadata, hash, phrase, words }: ShownCondition): readonly Part[] {
  if (hash !== undefined) {
    const shown = html`<span class="mono wrap">${text(hash)}</span>`;
    return ['The content with the hash ', { text: text(hash), shown }];
  }
  const searched = metadata ?? content;
  if (searched === undefined) return ['Inscriptions'];
  const corpus = metadata === undefined ? 'Contents' : 'Metadata';
  if (isOn(words)) return [`${corpus} with the words `, quoted(text(searched))];
  const needles = isOn(phrase) ? [text(searched)] : needlesIn(text(searched));
  return [
    `${corpus} with `,
    ...needles.flatMap((needle, place) => (place === 0 ? [quoted(needle)] : [' and ', quoted(needle)])),
  ];
}

/** The needles of a list (docs/search.md, "Needles"). */
const needlesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

function saleParts({ collection, address: party, minPrice, maxPrice }: ShownCondition): readonly Part[] {
  return [
    party === undefined ? 'Sales' : 'Sales and purchases',
    ...(party === undefined ? [] : [' of ', address(party)]),
    ...(collection === undefined
      ? []
      : [
          party === undefined ? ' of the collection ' : ' in the collection ',
          link(`/collection/${text(collection)}`, text(collection)),
        ]),
    minPrice === undefined ? '' : ` from ${sats(minPrice)}`,
    maxPrice === undefined ? '' : ` up to ${sats(maxPrice)}`,
  ];
}

const sats = (amount: unknown): string => `${grouped(Number(amount))} sats`;

function runeParts({ event, rune }: ShownCondition): readonly Part[] {
  const isLastMint = event === 'minted-out';
  if (rune === undefined) return [isLastMint ? 'Runes whose last mint is used' : 'New runes'];
  const name = text(rune);
  return [
    `${isLastMint ? 'The last mint' : 'The etching'} of `,
    link(`/rune/${encodeURIComponent(name)}`, name),
  ];
}
