import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { RequestValues } from '#kernel/requests/request-values.ts';
import { isGiven } from '#kernel/requests/request-values.ts';
import { foldText } from '#kernel/text/fold.ts';
import { textFault } from '#kernel/text/text-fault.ts';
import { parseTraitPairs } from '#kernel/text/trait-pairs.ts';
import { readQuestion } from '#search/text/text-question.ts';
import type { SearchCondition } from './watch-condition.ts';

type Body = Readonly<Record<string, unknown>>;

/** Fields of a saved search: what is searched, how, and the filter. */
export const searchFields = [
  'text',
  'metadata',
  'hash',
  'phrase',
  'words',
  'contentType',
  'metaprotocol',
  'parent',
  'cursed',
  'title',
  'trait',
  'gallery',
  'key',
  'value',
] as const;

/** Fields of a search that a saved search cannot have, with the reason. */
export const unsavedFields: ReadonlyMap<string, string> = new Map([
  ['fuzzy', 'cannot be saved, because every new text would be compared with the words letter by letter'],
  ['from', 'cannot be saved, because a saved search finds only what arrives from now on'],
  ['to', 'cannot be saved, because a saved search finds only what arrives from now on'],
]);

/**
 * Minimum number of bytes of a needle, folded and in UTF-8. Shorter needles occur in nearly every text, and an index of
 * trigrams, as the search has, begins at three. Words have no minimum, because a short word is rare as a whole word.
 */
const needleBytesMin = 3;
/**
 * Maximum number of bytes of all needles, the title and the traits of a saved search, folded and in UTF-8. The
 * automaton of `NeedleMatcher` needs 34 to 52 bytes of memory for each of them.
 */
const searchedBytesMax = 4_096;
/** Maximum number of UTF-16 units of a searched text: 32 needles of 1,000 characters, with blanks around them. */
const textUnitsMax = 40_000;
/** Maximum number of traits. No known inscription has more traits. */
const traitsMax = 32;
/** Maximum number of code points of a title. A needle has the same maximum. */
const titleMax = 1_000;

/** Reads the condition of a saved search. Adds faults to `values`, and returns null if there are any. */
export function readSearchCondition(values: RequestValues, body: Body): SearchCondition | null {
  const before = values.faults.length;
  const hash = readHash(values, body['hash']);
  const filter = readFilter(values, body);
  const given = (['text', 'metadata', 'hash'] as const).filter((name) => isGiven(body[name]));
  if (given.length > 1)
    return values.sentence(given[1] ?? '', `only one of ${given.join(', ')} can be given`);
  const corpus = isGiven(body['metadata']) ? 'metadata' : 'content';
  const question = readTexts(values, body, corpus);
  if (values.faults.length > before || question === null) return null;
  const isCursedAlone = Object.keys(filter).every((name) => name === 'cursed');
  if (given.length === 0 && isCursedAlone)
    return values.sentence(
      'text',
      'a saved search needs text, metadata, hash, or a filter other than cursed, because it would find nearly everything',
    );
  const bytes = searchedBytesOf(question.needles, filter);
  if (bytes > searchedBytesMax)
    return values.sentence(
      given[0] ?? 'trait',
      `the needles, title and traits have ${bytes} bytes together, but a saved search has at most ${searchedBytesMax}; save several searches`,
    );
  return { corpus, ...question, hash, filter };
}

const searchedBytesOf = (needles: readonly string[], { title = '', traits = [] }: SearchFilter): number =>
  [...needles, foldText(title), ...traits.flatMap(({ name, value }) => [name, value].map(foldText))].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );

function readHash(values: RequestValues, value: unknown): string | null {
  if (!isGiven(value)) return null;
  if (typeof value === 'string' && /^[0-9a-f]{64}$/iu.test(value)) return value.toLowerCase();
  return values.fault('hash', 'must be a sha256 in 64 hex digits');
}

function readTexts(
  values: RequestValues,
  body: Body,
  corpus: SearchCondition['corpus'],
): Pick<SearchCondition, 'match' | 'needles'> | null {
  const name = corpus === 'metadata' ? 'metadata' : 'text';
  const [phrase, words] = [values.boolean(body['phrase'], 'phrase'), values.boolean(body['words'], 'words')];
  if (phrase && words)
    return values.sentence(
      'phrase',
      'phrase excludes words, because a phrase is one needle and not a list of words',
    );
  const text = body[name];
  if (!isGiven(text)) {
    const option = phrase ? 'phrase' : words ? 'words' : null;
    if (option !== null) return values.sentence(option, `${option} can only be used with text or metadata`);
    return { match: 'substring', needles: [] };
  }
  if (typeof text !== 'string') return values.fault(name, 'must be a text');
  if (text.length > textUnitsMax) return values.fault(name, `has more than ${textUnitsMax} characters`);
  const reason = textFault(text);
  if (reason !== null) return values.fault(name, reason);
  return readNeedles(values, name, { text, phrase, match: words ? 'words' : 'substring' });
}

function readNeedles(
  values: RequestValues,
  name: string,
  asked: { readonly text: string; readonly phrase: boolean; readonly match: 'substring' | 'words' },
): Pick<SearchCondition, 'match' | 'needles'> | null {
  const { match } = asked;
  try {
    const needles = [...new Set(readQuestion(asked).folded)];
    const short = match === 'words' ? undefined : needles.find(isShort);
    if (short === undefined) return { match, needles };
    return values.sentence(
      name,
      `${name}: the needle ${JSON.stringify(short)} has fewer than ${needleBytesMin} bytes, and would be found in nearly every text; send a longer needle, or a list of words with words`,
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return values.sentence(name, `${name}: ${error.message}`);
  }
}

const isShort = (needle: string): boolean => Buffer.byteLength(needle) < needleBytesMin;

function readFilter(values: RequestValues, body: Body): SearchFilter {
  const [key, value] = [values.text(body['key'], 'key'), values.text(body['value'], 'value')];
  const member = given({ key, value });
  return given({
    contentType: readContentType(values, body['contentType']),
    metaprotocol: values.text(body['metaprotocol'], 'metaprotocol'),
    cursed: isGiven(body['cursed']) ? values.boolean(body['cursed'], 'cursed') : null,
    parent: isGiven(body['parent']) ? values.inscriptionId(body['parent'], 'parent') : null,
    gallery: isGiven(body['gallery']) ? values.inscriptionId(body['gallery'], 'gallery') : null,
    title: readTitle(values, body['title']),
    traits: readTraits(values, body['trait']),
    metadata: Object.keys(member).length === 0 ? null : member,
  });
}

/** Leaves out fields that are null. */
function given<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [name in keyof Fields]?: Exclude<Fields[name], null> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [name in keyof Fields]?: Exclude<Fields[name], null>;
  };
}

function readContentType(values: RequestValues, value: unknown): string | null {
  const contentType = values.text(value, 'contentType');
  if (contentType === null || !contentType.includes('*') || /^[^*/]+\/\*$/u.test(contentType))
    return contentType;
  return values.fault('contentType', 'must be an exact type, or a class such as image/*');
}

function readTitle(values: RequestValues, value: unknown): string | null {
  const title = values.text(value, 'title');
  if (title === null) return null;
  if (Array.from(title).length > titleMax)
    return values.fault('title', `is longer than ${titleMax} characters`);
  if (isShort(foldText(title)))
    return values.fault(
      'title',
      `has fewer than ${needleBytesMin} bytes, and would be in nearly every title`,
    );
  return title;
}

function readTraits(values: RequestValues, value: unknown): NonNullable<SearchFilter['traits']> | null {
  const text = values.text(value, 'trait');
  if (text === null) return null;
  const traits = parseTraitPairs(text);
  if (traits === null) return values.fault('trait', 'must be Name:Value, several separated by commas');
  return traits.length > traitsMax ? values.fault('trait', `has more than ${traitsMax} traits`) : traits;
}
