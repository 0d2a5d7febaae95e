import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Corpus, SearchFilter, SearchSlice, TextMatch } from '#kernel/contracts/search-engine.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { jsonTerms, readProperties } from './naive-json.ts';
import { type NaiveQuestion, placeOf, typeText } from './naive-search.ts';
import { naiveWords } from './naive-words.ts';
import { needleOf, needleSeed, word } from './search-corpora.ts';
import { type StoredInscription, testId } from './search-rows.ts';

const filterParts = [
  'type',
  'class',
  'heights',
  'cursed',
  'metaprotocol',
  'parent',
  'title',
  'traits',
  'gallery',
  'key',
  'value',
  'member',
] as const;
type FilterPart = (typeof filterParts)[number];

/** Random data for queries about an existing chain. Filters and words come from the chain's inscriptions. */
export const questionSeed = fc.record({
  kind: fc.constantFrom('text', 'text', 'text', 'hash'),
  corpus: fc.constantFrom<Corpus[]>('content', 'content', 'metadata'),
  match: fc.constantFrom<TextMatch[]>('substring', 'substring', 'words', 'fuzzy'),
  needles: fc.array(needleSeed, { minLength: 1, maxLength: 3 }),
  word,
  /** Number of needles. Zero counts only if the filter may be used alone. */
  needleCount: fc.nat({ max: 3 }),
  parts: fc.oneof(
    fc.constant<FilterPart[]>([]),
    fc.uniqueArray(fc.constantFrom(...filterParts), { minLength: 1, maxLength: 3 }),
  ),
  target: fc.nat(),
  from: fc.nat(),
  isUpper: fc.boolean(),
  sort: fc.constantFrom('height', 'number', 'length'),
  order: fc.constantFrom('asc', 'asc', 'desc'),
  page: fc.constantFrom(1, 1, 2, 3, 2 ** 31 - 1),
  itemsPerPage: fc.constantFrom(1, 3, 10, 1000),
  after: fc.option(fc.record({ at: fc.nat(), shift: fc.constantFrom(-1, 0, 0, 1) }), { freq: 2 }),
  isPlain: fc.boolean(),
});
export type QuestionSeed = typeof questionSeed extends fc.Arbitrary<infer Seed> ? Seed : never;

const at = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

/** The value in another case, if that does not change the number of code points. */
function cased(value: string, isUpper: boolean): string {
  if (!isUpper) return value;
  return Array.from(value, (point) => {
    const upper = point.toUpperCase();
    return Array.from(upper).length === 1 ? upper : point;
  }).join('');
}

type FilterOf = (target: StoredInscription | undefined, seed: QuestionSeed) => SearchFilter;

const metadataOf = (target: StoredInscription | undefined): ReturnType<typeof jsonTerms> =>
  target?.metadata == null ? { names: ['a'], values: [] } : jsonTerms(target.metadata);

const filters: Readonly<Record<FilterPart, FilterOf>> = {
  type: (target) => ({ contentType: (target && typeText(target)) ?? 'image/png' }),
  class: (target) => ({ contentType: `${/^[^/]*/u.exec((target && typeText(target)) ?? 'image')![0]}/*` }),
  heights: (target, { from }) => {
    const height = asHeight(target?.height ?? 1);
    return [
      { from: height },
      { to: height },
      { from: height, to: asHeight(height + 1) },
      { from: asHeight(2), to: asHeight(1) },
    ][from % 4]!;
  },
  cursed: (target, { from }) => ({ cursed: target?.number == null ? from % 2 === 0 : target.number < 0 }),
  metaprotocol: (target) => ({ metaprotocol: target?.metaprotocol ?? 'brc-20' }),
  parent: (target, { from }) => ({ parent: testId(at(target?.parents ?? [], from) ?? from % 8) }),
  title: (target, { from, isUpper }) => {
    const title = target?.properties == null ? null : readProperties(target.properties).title;
    const piece = Array.from(title ?? '')
      .slice(from % 4, (from % 4) + 1 + (from % 5))
      .join('');
    return { title: cased(piece === '' ? 'sun' : piece, isUpper) };
  },
  traits: (target, { from, isUpper }) => {
    const traits = target?.properties == null ? [] : readProperties(target.properties).traits;
    const named = traits.length === 0 ? [['a', 'red'] as const] : traits.slice(from % 2);
    return {
      traits: named.map(([name, value]) => ({ name: cased(name, isUpper), value: cased(value, isUpper) })),
    };
  },
  gallery: (target, { from }) => {
    const ids = target?.properties == null ? [] : readProperties(target.properties).gallery;
    const id = at(ids, from);
    return { gallery: (id === undefined ? null : parseInscriptionId(id)) ?? testId(from % 14) };
  },
  key: (target, { from, isUpper }) => ({
    metadata: { key: cased(at(metadataOf(target).names, from) ?? 'tick', isUpper) },
  }),
  value: (target, { from, isUpper }) => ({
    metadata: { value: cased(at(metadataOf(target).values, from)?.text ?? 'mint', isUpper) },
  }),
  member: (target, { from, isUpper }) => {
    const member = at(metadataOf(target).values, from) ?? { under: 'op', text: 'mint' };
    return { metadata: { key: cased(member.under ?? 'op', isUpper), value: cased(member.text, isUpper) } };
  },
};

function filterOf(seed: QuestionSeed, inscriptions: readonly StoredInscription[]): SearchFilter {
  // prefers inscriptions that have any of the fields
  const target = at(inscriptions, seed.target);
  return Object.assign({}, ...seed.parts.map((part) => filters[part](target, seed))) as SearchFilter;
}

function wordsQuestion(seed: QuestionSeed, texts: readonly string[]): string[] {
  const all = naiveWords(texts.join(' '));
  const drawn = seed.needles
    .slice(0, Math.max(1, seed.needleCount))
    .map((needle) => at(all, needle.at)?.join('') ?? seed.word);
  const words = seed.from % 3 === 0 ? [...drawn, seed.word] : drawn;
  // sometimes the last word loses a letter or gets one twice
  const last = Array.from(words.pop() ?? 'a');
  const edited = last.toSpliced(seed.from % last.length, seed.from % 5 === 0 ? 1 : 0);
  return [...words, edited.join('')]
    .filter((one) => naiveWords(one).length > 0)
    .map((one) => cased(one, seed.isUpper));
}

const hashOf = ({ from, isUpper }: QuestionSeed, inscriptions: readonly StoredInscription[]): Uint8Array => {
  const content = at(inscriptions, from)?.content;
  const body = content?.decoded !== undefined && isUpper ? content.decoded : content?.body;
  return createHash('sha256')
    .update(body ?? 'none')
    .digest();
};

/**
 * Inscriptions from which needles are cut. Mostly this is the inscription of the filter, because needles of another
 * inscription would match nothing together with the filter.
 */
function sourcesOf(
  { target, from }: QuestionSeed,
  filter: SearchFilter,
  inscriptions: readonly StoredInscription[],
): readonly StoredInscription[] {
  const own = at(inscriptions, target);
  const isFree = Object.keys(filter).length === 0 || from % 4 === 0 || own === undefined;
  return isFree ? inscriptions : [own];
}

/** The query of a seed; `null` if the seed gives no query. */
export function questionOf(
  seed: QuestionSeed,
  inscriptions: readonly StoredInscription[],
): NaiveQuestion | null {
  const filter = seed.isPlain ? {} : filterOf(seed, inscriptions);
  const filtered = Object.keys(filter).length === 0 ? {} : { filter };
  const sources = sourcesOf(seed, filter, inscriptions);
  if (seed.kind === 'hash') return { hash: hashOf(seed, sources), ...filtered };
  const { corpus, match } = seed;
  const texts = sources.map((one) => (corpus === 'content' ? one.content?.text : one.metadata) ?? '');
  if (match === 'substring') {
    const isNone = seed.needleCount === 0 && needsNoNeedle(filter);
    return {
      corpus,
      match,
      needles: isNone ? [] : seed.needles.map((one) => needleOf(one, texts)),
      ...filtered,
    };
  }
  const needles = wordsQuestion(seed, texts);
  return needles.length > 0 ? { corpus, match, needles, ...filtered } : null;
}

/** Whether a filter may be used alone. */
export const needsNoNeedle = ({ title, traits, gallery, metadata }: SearchFilter): boolean =>
  (title ?? traits ?? gallery ?? metadata) !== undefined;

/** The slice of results that a seed asks for. */
export function sliceOf(seed: QuestionSeed, inscriptions: readonly StoredInscription[]): SearchSlice {
  const { page, itemsPerPage, sort, order, after } = seed;
  if (seed.isPlain && after === null) return { page, itemsPerPage };
  const target = at(inscriptions, after?.at ?? 0);
  if (after === null || target === undefined) return { page, itemsPerPage, sort, order };
  const { key, number, length } = placeOf(target);
  const { shift } = after;
  const place = {
    key: Math.max(0, key + shift),
    number: number === null ? null : number + shift,
    length: Math.max(0, length + shift),
  };
  return { page, itemsPerPage, sort, order, after: place };
}
