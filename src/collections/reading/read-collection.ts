import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import { type NamedPhase, namePhases } from './name-phases.ts';
import { findPhaseFaults } from './phase-faults.ts';
import { readAllowList } from './read-allow-list.ts';
import { readAltPrices, type SentRunePrice } from './read-alt-prices.ts';
import { readPhases, readPrice, type SentPhase } from './read-phases.ts';
import { readSentFiles, type SentFile } from './read-sent-files.ts';

/** A collection from a creator's request, without faults in single fields. */
export interface SentCollection {
  readonly id: string;
  readonly name: string;
  readonly totalCount: number;
  /** Price of an item in sats, which the creator receives. */
  readonly price: bigint;
  readonly creator: { readonly address: string; readonly script: Uint8Array } | null;
  /** The price of an item in a rune. Null if items are sold for sats. */
  readonly runePrice: SentRunePrice | null;
  readonly shown: ShownTexts;
  /** sha256 of the key that may change the collection. Null if only the operator may change it. */
  readonly keyHash: Buffer | null;
  readonly files: readonly SentFile[];
  /** Never empty. */
  readonly phases: readonly NamedPhase[];
}

/** Texts that responses show unchanged. Optional texts that were not sent are absent. */
export interface ShownTexts {
  readonly description: string;
  readonly creator: string;
  readonly website?: string;
  readonly banner?: string;
  readonly cover?: string;
  readonly twitter?: string;
  readonly discord?: string;
}

export interface ReadOptions {
  readonly network: NetworkParameters;
  /** Why a URL can never be fetched. Returns null if it may be fetched. */
  readonly urlProblem: (url: string) => string | null;
}

const slugPattern = /^[a-z0-9][a-z0-9_-]{0,99}$/u;
/** Whether a text may be the id of a collection. */
export const isCollectionSlug = (text: string): boolean => slugPattern.test(text);

const slugForm =
  'must be 1 to 100 small letters without accents, digits, - or _, and must begin with a letter or digit, because it is a part of URLs';
/** sha256 of an empty text. Clients without a key send this value. */
const emptyKeyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** Maximum number of characters of an account name or link. */
const handleChars = 500;

/**
 * Reads a request to create a collection, from JSON or from a form. Never throws: any value gives a collection or its
 * faults.
 */
export function* readCollection(
  body: unknown,
  { network, urlProblem }: ReadOptions,
): Steps<{ readonly kind: 'read'; readonly collection: SentCollection } | Faulty> {
  const values = new RequestValues();
  const given = values.object(body, 'the body');
  if (given === null) return { kind: 'faulty', faults: values.faults };
  const terms = readTerms(values, given, network);
  const files = readSentFiles(values, given['files'], urlProblem);
  const phases = yield* readAllPhases(values, given, network);
  findSharedFaults(values, given, { ...terms, files, phases });
  const { id, name, totalCount, shown } = terms;
  if (values.faults.length > 0 || id === null || name === null || totalCount === null || shown === null)
    return { kind: 'faulty', faults: values.faults };
  const collection = { ...terms, id, name, totalCount, shown, files, phases: namePhases(phases) };
  return { kind: 'read', collection };
}

type ReadTerms = Omit<SentCollection, 'id' | 'name' | 'totalCount' | 'shown' | 'files' | 'phases'> & {
  readonly [Field in 'id' | 'name' | 'totalCount' | 'shown']: SentCollection[Field] | null;
};

/** Reads all fields except files and phases. A required field is null if it is missing or wrong. */
function readTerms(values: RequestValues, given: Fields, network: NetworkParameters): ReadTerms {
  return {
    id: readSlug(values, given['id']),
    name: readText(values, given['name'], 'name', collectionBounds.nameChars),
    totalCount: readTotalCount(values, given['totalCount']),
    price: readPrice(values, given['price'], 'price') ?? 0n,
    creator: readCreatorAddress(values, given['creator-address'], network),
    runePrice: readAltPrices(values, given['altPrices']),
    shown: readShown(values, given),
    keyHash: readKeyHash(values, given['apikeyhash']),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Collects faults that concern several fields. */
function findSharedFaults(
  values: RequestValues,
  given: Fields,
  {
    price,
    runePrice,
    totalCount,
    files,
    phases,
  }: Pick<ReadTerms, 'price' | 'runePrice' | 'totalCount'> &
    Pick<SentCollection, 'files'> & { readonly phases: readonly SentPhase[] },
): void {
  const hasCreatorAddress = isGiven(given['creator-address']);
  if (price > 0n && runePrice === null && !hasCreatorAddress)
    values.sentence(
      'creator-address',
      'creator-address is required if price is above 0, because it receives the price.',
    );
  // only one price is allowed, because an order does not say which of two prices it pays
  if (runePrice !== null && price > 0n)
    values.sentence(
      'price',
      'price and altPrices cannot both be given, because items are sold either for sats or for a rune.',
    );
  if (isParentGiven(given['parent']))
    values.fault('parent', 'is not accepted, because items of collections have no parent here. Leave it out');
  if (totalCount === null) return;
  if (files.length > totalCount)
    values.fault('files', `are ${files.length}, but totalCount is ${totalCount}`);
  findPhaseFaults(values, phases, {
    totalCount,
    price,
    hasCreatorAddress,
    isInRunes: runePrice !== null,
  });
}

/**
 * Reads the phases. A collection without phases gets one phase that sells all items. This phase sells only to the
 * addresses of the collection's list, if there is a list.
 */
function* readAllPhases(
  values: RequestValues,
  given: Fields,
  network: NetworkParameters,
): Steps<readonly SentPhase[]> {
  const phases = yield* readPhases(values, given['phases'], network);
  const allowances = yield* readAllowList(values, given['allowList'], 'allowList', network);
  if (phases.length > 0) {
    if (allowances.length > 0)
      values.sentence(
        'allowList',
        'allowList and phases cannot both be given. Give each phase its own allowList instead.',
      );
    return phases;
  }
  return [
    {
      phase: null,
      items: null,
      isPublic: allowances.length === 0,
      price: null,
      startsAt: null,
      endsAt: null,
      allowances,
    },
  ];
}

function readSlug(values: RequestValues, given: unknown): string | null {
  const text = values.text(given, 'id');
  if (text === null) return values.required(given, 'id');
  if (!isCollectionSlug(text)) return values.fault('id', slugForm);
  return parseInscriptionId(text) === null
    ? text
    : values.fault('id', 'must not be the id of an inscription');
}

function readText(values: RequestValues, given: unknown, name: string, charsMax: number): string | null {
  const text = values.text(given, name);
  if (text === null) return values.required(given, name);
  return text.length <= charsMax ? text : values.fault(name, `has more than ${charsMax} characters`);
}

function readTotalCount(values: RequestValues, given: unknown): number | null {
  const count = values.whole(given, 'totalCount');
  if (count === null) return values.required(given, 'totalCount');
  if (count >= 1n && count <= BigInt(collectionBounds.items)) return Number(count);
  return values.fault('totalCount', `must be from 1 to ${collectionBounds.items}`);
}

function readCreatorAddress(
  values: RequestValues,
  given: unknown,
  network: NetworkParameters,
): SentCollection['creator'] {
  const name = 'creator-address';
  const address = values.text(given, name);
  if (address === null) return null;
  const parsed = parseAddress(address, network);
  return parsed.kind === 'script' ? { address, script: parsed.script } : values.fault(name, parsed.reason);
}

/** Reads the texts that responses show. Returns null if a required text is missing or wrong. */
function readShown(values: RequestValues, given: Fields): ShownTexts | null {
  const description = values.text(given['description'], 'description');
  if (description === null) values.required(given['description'], 'description');
  const creator = readText(values, given['creator'], 'creator', collectionBounds.nameChars);
  const links = linkNames.map((name) => [name, readLink(values, given[name], name)] as const);
  const handles = handleNames.map(
    (name) => [name, readOptional(values, given[name], name, handleChars)] as const,
  );
  if (description === null || creator === null) return null;
  const rest = Object.fromEntries([...links, ...handles].filter(([, text]) => text !== null));
  return { ...rest, description, creator };
}

const linkNames = ['website', 'banner', 'cover'] as const;
const handleNames = ['twitter', 'discord'] as const;

const readOptional = (
  values: RequestValues,
  given: unknown,
  name: string,
  charsMax: number,
): string | null => (isGiven(given) ? readText(values, given, name, charsMax) : null);

/** Reads a link. Only http and https are accepted, because pages show the link. */
function readLink(values: RequestValues, given: unknown, name: string): string | null {
  const text = readOptional(values, given, name, collectionBounds.urlChars);
  if (text === null) return null;
  const protocol = URL.canParse(text) ? new URL(text).protocol : null;
  return protocol === 'http:' || protocol === 'https:'
    ? text
    : values.fault(name, 'must be a URL that begins with http:// or https://');
}

function readKeyHash(values: RequestValues, given: unknown): Buffer | null {
  const text = values.text(given, 'apikeyhash')?.toLowerCase() ?? null;
  if (text === null || text === emptyKeyHash) return null;
  return /^[0-9a-f]{64}$/u.test(text)
    ? Buffer.from(text, 'hex')
    : values.fault('apikeyhash', 'must be the sha256 of an API key, in 64 hex characters');
}

/** Whether a parent was sent. An empty object does not name an inscription, so it is not a parent. */
const isParentGiven = (given: unknown): boolean =>
  isGiven(given) && !(typeof given === 'object' && Object.keys(given as object).length === 0);
