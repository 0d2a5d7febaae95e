import { type Static, Type } from 'typebox';
import {
  boundedText,
  choice,
  exampleId,
  filterQuery,
  idOf,
  sharedFilterOf,
  text,
} from '#http/parameters/list-parameters.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import type { MetadataMember, SearchFilter, SearchSort, TextMatch } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTraitPairs } from '#kernel/text/trait-pairs.ts';
import { highlightedMax } from '#search/records/highlights.ts';
import { exampleHash } from './search.schemas.ts';

const maxPage = 2 ** 31 - 1;
const maxItemsPerPage = 1_000;
const itemsPerPageDefault = 100;
/** Maximum number of traits in one search. No known inscription has more traits. */
const maxTraits = 32;
/** Maximum number of code points of a title. A needle has the same maximum. */
const maxTitle = 1_000;

const flag = (description: string) =>
  Type.Optional(
    Type.Union([Type.Literal('0'), Type.Literal('1'), Type.Literal('false'), Type.Literal('true')], {
      description,
      examples: ['1'],
    }),
  );

/** Parameters that say how a text is matched. */
const matchQuery = {
  phrase: flag('1: the whole text is one needle, commas included'),
  words: flag('1: the text is a list of whole words, found in any order'),
  fuzzy: flag('1: like words, but each word may differ by a few edits'),
};

export const searchFilterQuery = {
  ...filterQuery,
  title: text('a part of the title (tag 17), in any letter case', acceptedForms.text, 'genesis'),
  trait: text(
    'required traits (tag 17) as Name:Value, separated by commas; whole, in any letter case; \\, means a comma and \\: a colon',
    { pattern: String.raw`^[^,:\\]{1,100}:[^,:\\]{0,100}$` },
    'Hat:Red',
  ),
  gallery: text('id of an inscription in the gallery (tag 17)', acceptedForms.inscriptionId, exampleId),
};

export const memberQuery = {
  key: text('a key of the metadata at any depth; whole, in any letter case', acceptedForms.text, 'name'),
  value: text(
    'a value in the metadata, or of the given key; whole, in any letter case',
    acceptedForms.text,
    'Foo',
  ),
};

export const sortQuery = {
  sort: text(
    'height (order of application), number, or length of the stored content',
    { enum: ['height', 'number', 'length'] },
    'height',
  ),
  order: text('asc (first), or desc', acceptedForms.order, 'asc'),
};

/**
 * Parameters of paging. Unknown parameters are ignored, because public clients send more parameters than the interface
 * names.
 */
const pagingQuery = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxPage, description: 'number of the page, from 1', examples: [1] }),
  ),
  itemsPerPage: Type.Integer({
    minimum: 1,
    maximum: maxItemsPerPage,
    default: itemsPerPageDefault,
    description: 'records per page',
  }),
  ...sortQuery,
  cursor: text('nextCursor of the previous page; empty for the first page', {
    pattern: '^[0-9A-Za-z_-]{0,128}$',
  }),
  highlight: flag('1: records have highlights, the text around each match; at most 100 items per page'),
  pending: flag('1: also matches in the mempool, after all others'),
};

const texts = {
  text: text('needles, separated by commas; all must occur', acceptedForms.text, 'brc-20,mint'),
};

export const searchQuery = Type.Object({
  ...texts,
  hash: text('sha256 of the content in 64 hex digits', acceptedForms.hash, exampleHash),
  query: text(
    'an identifier, as on ord: redirects to the page of the thing that it names',
    acceptedForms.text,
    '0',
  ),
  ...matchQuery,
  ...searchFilterQuery,
  ...pagingQuery,
});

export const metadataQuery = Type.Object({
  ...texts,
  ...matchQuery,
  ...searchFilterQuery,
  ...memberQuery,
  ...pagingQuery,
});

export const facetsQuery = Type.Object({
  corpus: text(
    'content: as /search; metadata: as /indexer/metadata',
    { enum: ['content', 'metadata'] },
    'content',
  ),
  ...texts,
  hash: text('sha256 of the content in 64 hex digits', acceptedForms.hash, exampleHash),
  ...matchQuery,
  ...searchFilterQuery,
  ...memberQuery,
  pending: pagingQuery.pending,
});

export type FacetsQuery = Static<typeof facetsQuery>;

type Given<Query extends Record<string, unknown>> = { readonly [name in keyof Query]?: string | undefined };
type MatchQuery = Given<typeof matchQuery>;
type PagingQuery = Partial<Static<ReturnType<typeof pagingObject>>>;
const pagingObject = () => Type.Object(pagingQuery);

const invalid = (message: string, parameter: string): AppError =>
  new AppError('request_invalid', message, { parameter });

export const isSet = (given: string | undefined): boolean => given === '1' || given === 'true';

/** The kind of match that a query asks for. Throws `request_invalid`. */
export function matchOf({ phrase, words, fuzzy }: MatchQuery): { match: TextMatch; phrase: boolean } {
  const match = isSet(fuzzy) ? 'fuzzy' : isSet(words) ? 'words' : 'substring';
  if (match !== 'substring' && isSet(phrase)) {
    throw invalid(
      `phrase excludes ${match}, because a phrase is one needle and not a list of words`,
      'phrase',
    );
  }
  return { match, phrase: isSet(phrase) };
}

/** Refuses options of a text search without a text. Throws `request_invalid`. */
export function withoutTextOptions(
  given: Given<typeof matchQuery> & { readonly highlight?: string | undefined },
  where: string,
): void {
  for (const name of ['words', 'fuzzy', 'highlight'] as const) {
    if (isSet(given[name])) throw invalid(`${name} can only be used with text, not with ${where}`, name);
  }
}

export interface SearchPaging {
  readonly page: number;
  readonly itemsPerPage: number;
  readonly pending: boolean;
  readonly sort?: SearchSort;
  readonly order?: 'asc' | 'desc';
  readonly cursor?: string;
}

/** Parses the paging parameters. Throws `request_invalid` with the name of the parameter. */
export function searchPagingOf(query: PagingQuery): SearchPaging & { readonly highlight: boolean } {
  const { page, itemsPerPage = itemsPerPageDefault, cursor } = query;
  const pending = isSet(query.pending);
  const highlight = isSet(query.highlight);
  if (cursor !== undefined && page !== undefined)
    throw invalid('only one of page and cursor can be given', 'cursor');
  if (cursor !== undefined && pending) {
    throw invalid('pending excludes cursor, because pending matches have no stable position', 'pending');
  }
  if (highlight && itemsPerPage > highlightedMax) {
    throw invalid(`itemsPerPage must be <= ${highlightedMax} with highlight`, 'itemsPerPage');
  }
  const given = {
    sort: choice(query.sort, 'sort', ['height', 'number', 'length']),
    order: choice(query.order, 'order', ['asc', 'desc']),
    cursor,
  };
  return { page: page ?? 1, itemsPerPage, pending, highlight, ...withoutAbsent(given) };
}

/**
 * The filter of a search, or undefined if the query has no filter. Throws `request_invalid` with the name of the
 * parameter.
 */
export function searchFilterOf(
  query: Given<typeof searchFilterQuery & typeof memberQuery>,
): SearchFilter | undefined {
  const { key, value } = query;
  const member = withoutAbsent({ key: boundedText(key, 'key'), value: boundedText(value, 'value') });
  const filter = withoutAbsent({
    ...sharedFilterOf(query),
    title: titleOf(query.title),
    traits: query.trait === undefined ? undefined : traitsOf(query.trait),
    gallery: idOf(query.gallery, 'gallery'),
    metadata: Object.keys(member).length === 0 ? undefined : member,
  });
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Removes fields that are undefined. */
function withoutAbsent<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [name in keyof Fields]?: Exclude<Fields[name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [name in keyof Fields]?: Exclude<Fields[name], undefined>;
  };
}

function titleOf(value: string | undefined): string | undefined {
  const title = boundedText(value, 'title');
  if (title !== undefined && Array.from(title).length > maxTitle)
    throw invalid(`title is longer than ${maxTitle} characters`, 'title');
  return title;
}

/**
 * Parses `Name:Value` pairs that are separated by commas. After a backslash, a comma, a colon or a backslash is part of
 * the name or the value.
 */
function traitsOf(value: string): MetadataMember[] {
  const bounded = boundedText(value, 'trait') ?? '';
  const traits = parseTraitPairs(bounded);
  if (traits === null) throw invalid('trait must be Name:Value, several separated by commas', 'trait');
  if (traits.length > maxTraits) throw invalid(`trait has more than ${maxTraits} traits`, 'trait');
  return traits;
}
