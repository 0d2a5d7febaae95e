import { createHash } from 'node:crypto';
import type {
  Corpus,
  SearchFacets,
  SearchFilter,
  SearchPlace,
  SearchSlice,
  TextMatch,
} from '#kernel/contracts/search-engine.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { jsonTerms, readProperties } from './naive-json.ts';
import { hasWords } from './naive-words.ts';
import { type StoredInscription, testId } from './search-rows.ts';

// The rules of docs/search.md as a scan of everything. It shares no code with an engine. It compares texts with regular
// expressions, which fold case by the rules of the language (flags i and u: Unicode simple case folding).

export interface NaiveAnswer {
  readonly keys: readonly number[];
  readonly totalItems: number;
}

export interface NaivePage {
  readonly page: number;
  readonly itemsPerPage: number;
}

/** A query as the client sends it, neither folded nor split. */
export type NaiveQuestion = (
  | {
      readonly corpus: Corpus;
      readonly match: TextMatch;
      /** Needles. For the match `words`: texts that contain words. */
      readonly needles: readonly string[];
    }
  | { readonly hash: Uint8Array }
) & { readonly filter?: SearchFilter };

/** Regular expression for a needle. NUL and its picture, U+2400, are equal. */
function sourceOf(needle: string): string {
  const points = Array.from(needle, (character) => {
    const point = character.codePointAt(0)!;
    return point === 0 || point === 0x2400 ? '[\\0\\u2400]' : `\\u{${point.toString(16)}}`;
  });
  return points.join('');
}

const patternOf = (needle: string): RegExp => new RegExp(sourceOf(needle), 'iu');
const wholePatternOf = (value: string): RegExp => new RegExp(`^${sourceOf(value)}$`, 'iu');

function textOf(inscription: StoredInscription, corpus: Corpus): string | null {
  return corpus === 'content' ? (inscription.content?.text ?? null) : inscription.metadata;
}

type Test = (inscription: StoredInscription) => boolean;

const hashes = new WeakMap<Uint8Array, string>();

/** The hash of a body. It is computed only once for any number of queries. */
function hashOf(bytes: Uint8Array): string {
  const known = hashes.get(bytes);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(bytes).digest('hex');
  hashes.set(bytes, hash);
  return hash;
}

/** Returns a test that runs once for each text, because thousands of inscriptions may have the same text. */
function oncePerText(test: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = test(text);
      known.set(text, result);
    }
    return result;
  };
}

function questionTest(question: NaiveQuestion): Test {
  if ('hash' in question) {
    const wanted = Buffer.from(question.hash).toString('hex');
    const isWanted = (bytes: Uint8Array | undefined): boolean =>
      bytes !== undefined && hashOf(bytes) === wanted;
    return ({ content }) => isWanted(content?.body) || isWanted(content?.decoded);
  }
  const { corpus, match, needles } = question;
  if (needles.length === 0) return () => true;
  const patterns = match === 'substring' ? needles.map(patternOf) : [];
  const isMatch = oncePerText((text) =>
    match === 'substring'
      ? patterns.every((pattern) => pattern.test(text))
      : needles.every((needle) => hasWords(text, needle, match === 'fuzzy')),
  );
  return (inscription) => {
    const text = textOf(inscription, corpus);
    return text !== null && isMatch(text);
  };
}

/** The bytes of a content type as text. `null` if there are none, or if they are not UTF-8. */
export function typeText({ contentType }: StoredInscription): string | null {
  if (contentType === null) return null;
  const bytes = Buffer.from(contentType, 'latin1');
  return bytes.equals(Buffer.from(bytes.toString())) ? bytes.toString() : null;
}

/** ord's jubilee on regtest, the network of these chains. From this height on, no inscription is cursed. */
const jubileeHeight = 110;

function naiveCursed({ number: ordsNumber, height, curse }: StoredInscription): boolean | null {
  if (ordsNumber !== null) return ordsNumber < 0;
  if (height >= jubileeHeight) return false;
  return curse === null ? null : curse > 0;
}

function filterTests(filter: SearchFilter): Test[] {
  const tests: Test[] = [];
  const { contentType, from, to, cursed, metaprotocol, parent } = filter;
  if (contentType?.endsWith('/*') === true) {
    const start = Buffer.from(contentType.slice(0, -1)).toString('latin1');
    const isClass = start.indexOf('/') === start.length - 1;
    tests.push((one) => isClass && one.contentType?.startsWith(start) === true);
  } else if (contentType !== undefined) tests.push((one) => typeText(one) === contentType);
  if (from !== undefined) tests.push(({ height }) => height >= from);
  if (to !== undefined) tests.push(({ height }) => height <= to);
  if (cursed !== undefined) tests.push((one) => naiveCursed(one) === cursed);
  if (metaprotocol !== undefined) tests.push((one) => one.metaprotocol === metaprotocol);
  if (parent !== undefined) {
    const wanted = formatInscriptionId(parent.txid, parent.index);
    tests.push(({ parents }) => parents.some((key) => wanted === formatInscriptionId(testId(key).txid, 0)));
  }
  return [...tests, ...propertyTests(filter)];
}

function propertyTests({ title, traits, gallery, metadata }: SearchFilter): Test[] {
  const tests: Test[] = [];
  if (title !== undefined) {
    const pattern = patternOf(title);
    tests.push(({ properties }) => {
      const its = properties === null ? null : readProperties(properties).title;
      return its !== null && pattern.test(its);
    });
  }
  for (const wanted of traits ?? []) {
    const [name, value] = [wholePatternOf(wanted.name), wholePatternOf(wanted.value)];
    tests.push(
      ({ properties }) =>
        properties !== null &&
        readProperties(properties).traits.some((trait) => name.test(trait[0]) && value.test(trait[1])),
    );
  }
  if (gallery !== undefined) {
    const wanted = formatInscriptionId(gallery.txid, gallery.index);
    tests.push(
      ({ properties }) => properties !== null && readProperties(properties).gallery.includes(wanted),
    );
  }
  if (metadata !== undefined) {
    const key = metadata.key === undefined ? null : wholePatternOf(metadata.key);
    const value = metadata.value === undefined ? null : wholePatternOf(metadata.value);
    tests.push((one) => one.metadata !== null && hasMember(one.metadata, key, value));
  }
  return tests;
}

function hasMember(json: string, key: RegExp | null, value: RegExp | null): boolean {
  const { names, values } = jsonTerms(json);
  if (value === null) return key !== null && names.some((name) => key.test(name));
  return values.some(
    ({ under, text }) => value.test(text) && (key === null || (under !== null && key.test(under))),
  );
}

function matchesOf(
  inscriptions: readonly StoredInscription[],
  question: NaiveQuestion,
): readonly StoredInscription[] {
  const tests = [...filterTests(question.filter ?? {}), questionTest(question)];
  return inscriptions.filter((inscription) => tests.every((test) => test(inscription)));
}

/** The position of an inscription in every sort order. */
export function placeOf({ key, number: ordsNumber, content }: StoredInscription): SearchPlace {
  return { key, number: ordsNumber, length: content === null ? 0 : content.body.length };
}

function orderOf({
  sort = 'height',
  order = 'asc',
}: SearchSlice): (a: SearchPlace, b: SearchPlace) => number {
  const sign = order === 'asc' ? 1 : -1;
  const value = (place: SearchPlace): number => {
    if (sort === 'length') return place.length;
    return sort === 'number' ? (place.number ?? Infinity) : place.key;
  };
  const compare = (a: number, b: number): number => (a < b ? -1 : Number(a > b));
  return (a, b) => sign * (compare(value(a), value(b)) || compare(a.key, b.key));
}

/** The matches of a query, sorted and cut to a page. */
export function naiveSearch(
  inscriptions: readonly StoredInscription[],
  question: NaiveQuestion,
  slice: SearchSlice,
): NaiveAnswer {
  const { page, itemsPerPage, after } = slice;
  const compare = orderOf(slice);
  const places = matchesOf(inscriptions, question).map(placeOf).toSorted(compare);
  const left = after === undefined ? places : places.filter((place) => compare(place, after) > 0);
  const offset = (page - 1) * itemsPerPage;
  return { keys: left.slice(offset, offset + itemsPerPage).map(({ key }) => key), totalItems: places.length };
}

const typesMax = 50;
const typeBytesMax = 512;

/** The number of a query's matches, by type and by day. */
export function naiveFacets(
  inscriptions: readonly StoredInscription[],
  question: NaiveQuestion,
): Omit<SearchFacets, 'tip'> {
  const found = matchesOf(inscriptions, question);
  const types = new Map<string | null, number>();
  const days = new Map<number, number>();
  for (const inscription of found) {
    const day = Math.floor(inscription.time / 86_400);
    days.set(day, (days.get(day) ?? 0) + 1);
    if ((inscription.contentType?.length ?? 0) > typeBytesMax) continue;
    const type = typeText(inscription);
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  // inscriptions without a type sort before all types
  const orderBytes = (type: string | null): Buffer => Buffer.from(type === null ? '' : `.${type}`);
  const listed = [...types]
    .map(([contentType, count]) => ({ contentType, count }))
    .toSorted(
      (a, b) => b.count - a.count || Buffer.compare(orderBytes(a.contentType), orderBytes(b.contentType)),
    )
    .slice(0, typesMax);
  return {
    totalItems: found.length,
    types: listed,
    otherTypes: found.length - listed.reduce((sum, { count }) => sum + count, 0),
    days: [...days].map(([day, count]) => ({ day, count })).toSorted((a, b) => a.day - b.day),
  };
}

/** Inscriptions whose text contains all needles. Needles are as given, not folded. */
export function naiveTextSearch(
  inscriptions: readonly StoredInscription[],
  corpus: Corpus,
  needles: readonly string[],
  page: NaivePage,
): NaiveAnswer {
  return naiveSearch(inscriptions, { corpus, match: 'substring', needles }, page);
}

/** Inscriptions whose stored body or decoded body has this hash. */
export function naiveHashSearch(
  inscriptions: readonly StoredInscription[],
  hash: Uint8Array,
  page: NaivePage,
): NaiveAnswer {
  return naiveSearch(inscriptions, { hash }, page);
}
