import { Type } from 'typebox';
import { type InscriptionFilter, inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import { wholeNumberPattern } from '#http/server/errors/schema-faults.ts';
import { type AcceptedForm, acceptedForms } from '#http/server/routes/accepted-form.ts';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { type ParsedAddress, parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** A text parameter. A separate reader parses the text. */
export const text = (
  description: string,
  acceptedForm: AcceptedForm,
  example?: string,
): ReturnType<typeof optional> => optional(description, acceptedForm, example);
const optional = (description: string, acceptedForm: AcceptedForm, example?: string) =>
  Type.Optional(
    Type.String({ description, acceptedForm, ...(example === undefined ? {} : { examples: [example] }) }),
  );

/** The id of an existing inscription, so that readers and the reference's tools can send this id. */
export const exampleId = '6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799i0';
export const exampleAddress = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

/** Parameters of a path with facts about an address. */
export const addressPath = Type.Object({
  address: Type.String({
    description: 'an address of the network',
    acceptedForm: acceptedForms.address,
    examples: [exampleAddress],
  }),
});

/** A whole number as a text. A separate reader parses the text. */
const wholeNumberText = (description: string, acceptedForm: AcceptedForm, example: string) =>
  Type.Optional(Type.String({ description, pattern: wholeNumberPattern, acceptedForm, examples: [example] }));

/** Paging parameters of a list. They are texts, so that the checks here can name the parameter in their errors. */
export const pagingQuery = {
  limit: wholeNumberText('entries per page, 1 to 1,000', acceptedForms.limit, '100'),
  order: text('asc: oldest first; desc: newest first', acceptedForms.order, 'desc'),
  cursor: text('the cursor from the previous page', acceptedForms.cursor),
};

/** Filters of every list of inscriptions, and of searches. */
export const filterQuery = {
  contentType: text('exact content type, or a class such as image/*', acceptedForms.contentType, 'image/*'),
  from: wholeNumberText('lowest height of the reveal', acceptedForms.count, '767430'),
  to: wholeNumberText('highest height of the reveal', acceptedForms.count, '800000'),
  cursed: text(
    'true: only cursed inscriptions; false: only others; inscriptions with unknown curses match neither',
    { enum: ['true', 'false'] },
    'true',
  ),
  metaprotocol: text('exact', acceptedForms.text, 'brc-20'),
  parent: text('id of a parent', acceptedForms.inscriptionId, exampleId),
};
type FilterQuery = { readonly [name in keyof typeof filterQuery]?: string | undefined };

export const listQuery = Type.Object({
  ...filterQuery,
  address: text('current owner', acceptedForms.address, exampleAddress),
  delegate: text('id of the delegate', acceptedForms.inscriptionId, exampleId),
  kind: text('a kind of content', { enum: [...inscriptionKinds] }, 'images'),
  tokens: text(
    'hide: leaves out JSON texts that name a protocol, such as BRC-20; the page hides them unless this is `show`',
    { enum: ['show', 'hide'] },
    'hide',
  ),
  sort: text(
    'order of the page, in place of `order`. number and size leave out inscriptions without one; size only has the largest of the newest 5,000',
    { enum: ['newest', 'oldest', 'number', 'size'] },
    'newest',
  ),
  ...pagingQuery,
});
export type ListQuery = Type.Static<typeof listQuery>;

const limitDefault = 100;
const limitMax = 1_000;

/**
 * Whether a page has more entries than usual. Such a request counts as expensive, because 1,000 entries with their
 * lookups take the database and the event loop some 30 ms.
 */
export const isLongPage = ({ limit }: Readonly<Record<string, unknown>>): boolean =>
  Number(limit) > limitDefault;

/**
 * Maximum number of bytes of a filter text. Some inscriptions have longer content types and metaprotocols, but such
 * texts do not fit into a URL.
 */
const textBytesMax = 4_096;

const invalid = (message: string, parameter: string): AppError =>
  new AppError('request_invalid', message, { parameter });

/** Parses a whole number. Throws `request_invalid`. */
export function wholeNumber(
  value: string | undefined,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (value === undefined) return undefined;
  if (!/^-?\d{1,15}$/u.test(value)) throw invalid(`${name} is not a whole number`, name);
  const number = Number(value);
  if (number < least) throw invalid(`${name} must be >= ${least}`, name);
  if (number > most) throw invalid(`${name} must be <= ${most}`, name);
  return number;
}

export interface Paging {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly cursor: string | undefined;
}

/** The paging parameters of a query. Throws `request_invalid`. */
export function pagingOf(
  {
    limit,
    order,
    cursor,
  }: { limit?: string | undefined; order?: string | undefined; cursor?: string | undefined },
  orderDefault: 'asc' | 'desc',
): Paging {
  return {
    limit: wholeNumber(limit, 'limit', { least: 1, most: limitMax }) ?? limitDefault,
    order: choice(order, 'order', ['asc', 'desc']) ?? orderDefault,
    cursor,
  };
}

function height(value: string | undefined, name: string): Height | undefined {
  const number = wholeNumber(value, name, { least: 0, most: maxHeight });
  return number === undefined ? undefined : asHeight(number);
}

/** Parses the filters that every list has. Throws `request_invalid` with the name of the parameter. */
export function sharedFilterOf(
  query: FilterQuery,
): Pick<InscriptionFilter, 'contentType' | 'from' | 'to' | 'cursed' | 'metaprotocol' | 'parent'> {
  return {
    contentType: contentTypeOf(query.contentType),
    from: height(query.from, 'from'),
    to: height(query.to, 'to'),
    cursed: cursedOf(query.cursed),
    metaprotocol: boundedText(query.metaprotocol, 'metaprotocol'),
    parent: idOf(query.parent, 'parent'),
  };
}

/**
 * The filter of a query. `null` if the query has no filter. Throws `request_invalid` with the name of the parameter.
 */
export function filterOf(query: ListQuery, network: NetworkParameters): InscriptionFilter | null {
  const { address } = query;
  const filter: InscriptionFilter = {
    ...sharedFilterOf(query),
    owner: address === undefined ? undefined : scriptOf(address, 'address', network),
    delegate: idOf(query.delegate, 'delegate'),
    kind: choice(query.kind, 'kind', inscriptionKinds),
    withoutTokens: choice(query.tokens, 'tokens', ['show', 'hide']) === 'hide' ? true : undefined,
  };
  return Object.values(filter).every((value) => value === undefined) ? null : filter;
}

function contentTypeOf(value: string | undefined): string | undefined {
  const contentType = boundedText(value, 'contentType');
  if (contentType === undefined || !contentType.includes('*')) return contentType;
  if (/^[^*/]+\/\*$/u.test(contentType)) return contentType;
  throw invalid('contentType must be an exact type, or a class such as image/*', 'contentType');
}

/** Checks the length of a text. Throws `request_invalid`. */
export function boundedText(value: string | undefined, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (value === '') throw invalid(`${name} is empty`, name);
  if (Buffer.byteLength(value) > textBytesMax)
    throw invalid(`${name} is longer than ${textBytesMax} bytes`, name);
  return value;
}

function cursedOf(value: string | undefined): boolean | undefined {
  const cursed = choice(value, 'cursed', ['true', 'false']);
  return cursed && cursed === 'true';
}

/** Parses a choice. Throws `request_invalid`. */
export function choice<const Word extends string>(
  value: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  if (value === undefined) return undefined;
  const word = words.find((known) => known === value);
  if (word === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`, name);
  return word;
}

/** Parses the inscription id in a parameter. Throws `request_invalid`. */
export function idOf(value: string | undefined, name: string): InscriptionId | undefined {
  if (value === undefined) return undefined;
  const id = parseInscriptionId(value);
  if (id === null) throw invalid(`${name} is not an inscription id`, name);
  return id;
}

/** Maximum number of characters of a wrong value that an error quotes. */
const shownChars = 100;

/** The script of an address. Throws `request_invalid`, also if the address belongs to another network. */
export function scriptOf(address: string, name: string, network: NetworkParameters): Uint8Array {
  return scriptIn(parseAddress(address, network), address, name, network);
}

/**
 * The script of an address to which a client sends its own sats. Throws `request_invalid`, also if anyone or no one can
 * spend outputs of the script.
 */
export function payableScriptOf(address: string, name: string, network: NetworkParameters): Uint8Array {
  const checked = checkDestination({ address, network, amount: null }, 'allowed');
  return scriptIn(checked, address, name, network);
}

function scriptIn(
  parsed: ParsedAddress,
  address: string,
  name: string,
  network: NetworkParameters,
): Uint8Array {
  if (parsed.kind === 'script') return parsed.script;
  const shown = address.length <= shownChars ? address : `${address.slice(0, shownChars)}…`;
  throw invalid(`${name}: ${shown} ${parsed.reason}, but this server serves ${network.name}`, name);
}
