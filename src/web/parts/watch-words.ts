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

/** A sentence that says what a watch finds. Its texts may be texts of strangers. */
export function watchWords(kind: string, condition: ShownCondition): HtmlValue {
  switch (kind) {
    case 'sales':
      return saleWords(condition);
    case 'children':
      return html`New children of ${inscription(condition['parent'])}`;
    case 'runes':
      return runeWords(condition);
    case 'receipts':
      return html`Receipts of ${addressLink(text(condition['address']), { isBare: true })}`;
    default:
      return searchWords(condition);
  }
}

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const inscription = (id: unknown): Markup => inscriptionLink({ id: text(id), number: null });

function searchWords(condition: ShownCondition): HtmlValue {
  const filters = Object.entries(condition).filter(([name]) => !namedFields.has(name));
  return [
    subjectWords(condition),
    filters.map(([name, value]) => html` <span class="chip">${name}: ${isolated(text(value))}</span>`),
  ];
}

function subjectWords({ text: content, metadata, hash, words }: ShownCondition): HtmlValue {
  const verb = text(words) === 'true' || text(words) === '1' ? 'with the words' : 'with';
  if (hash !== undefined) return html`The content with the hash <span class="mono wrap">${text(hash)}</span>`;
  if (metadata !== undefined) return html`Metadata ${verb} <q>${isolated(text(metadata))}</q>`;
  return content === undefined ? 'Inscriptions' : html`Contents ${verb} <q>${isolated(text(content))}</q>`;
}

function saleWords({ collection, address, minPrice, maxPrice }: ShownCondition): HtmlValue {
  const slug = text(collection);
  return [
    'Sales',
    collection !== undefined &&
      html` of the collection <a class="wrap" href="/collection/${slug}">${slug}</a>`,
    address !== undefined && html` by ${addressLink(text(address), { isBare: true })}`,
    minPrice !== undefined && ` from ${sats(minPrice)}`,
    maxPrice !== undefined && ` up to ${sats(maxPrice)}`,
  ];
}

const sats = (amount: unknown): string => `${grouped(Number(amount))} sats`;

function runeWords({ event, rune }: ShownCondition): HtmlValue {
  const isLastMint = event === 'minted-out';
  if (rune === undefined) return isLastMint ? 'Runes whose last mint is used' : 'New runes';
  const name = text(rune);
  return html`${isLastMint ? 'The last mint' : 'The etching'} of <a class="wrap" href="/rune/${encodeURIComponent(name)}">${name}</a>`;
}
