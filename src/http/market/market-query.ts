import { Type } from 'typebox';
import { exampleId } from '#http/parameters/list-parameters.ts';
import type { Fault } from '#http/server/errors/error-forms.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { asHeight, type Height, maxHeight } from '#kernel/primitives/height.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { parseTraitPairs, type TraitPair } from '#kernel/text/trait-pairs.ts';
import {
  parseSaleId,
  parseSalePlace,
  type SaleId,
  saleIdPattern,
  salePlacePattern,
} from '#market/sales/sale-id.ts';
import type { SalePlace } from '#market/sales/sale-places.ts';
import type { RangeEnd, SaleRange } from '#market/sales/sale-range.ts';
import { type ExportFormName, exportForms } from './show-exported-sale.ts';

/**
 * A market parameter in the API document. The validator does not check it; the readers below do. So a client of the
 * market gets all faults of a request at once, including a missing slug.
 */
export const parameter = (description: string, form: Readonly<Record<string, unknown>>) =>
  Type.Optional(Type.Unsafe<unknown>({ description, acceptedForm: form }));

/** Maximum number of characters of a text to search. Hardly any name of an import is longer. */
const searchCharsMax = 100;
/**
 * Maximum number of traits in a query. Each trait limits the result further. A URL with eight of the longest traits
 * fits into a request.
 */
const traitsMax = 8;
/**
 * Maximum number of characters of the parameter. It allows eight names and values of 100 characters, each character
 * with a backslash before it.
 */
const traitCharsMax = 4_000;
const limitMin = 20;
const limitMax = 100;
/**
 * Maximum page number. Every chain has fewer rows. The public interface has no maximum, so a page beyond the last page
 * is `[]`.
 */
const pageMax = 1_000_000_000;

const rangeForm = { type: 'string', pattern: '^(?:[0-9]{1,10}|[0-9]{4}-[0-9]{2}-[0-9]{2})$' };

export const marketParameters = {
  slug: parameter('required: the slug of an import, or the id of a parent or gallery', {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    example: 'bitcoin-frogs',
  }),
  startDate: parameter(
    'the first day, from 00:00 UTC of block time; absent, empty or null: the last 7 days',
    {
      type: 'string',
      pattern: '^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|null)?$',
    },
  ),
  page: parameter('from 0', { type: 'integer', minimum: 0, maximum: pageMax, default: 0 }),
  pageNumber: parameter('from 1', { type: 'integer', minimum: 1, maximum: pageMax, default: 1 }),
  limit: parameter('rows of a page', {
    type: 'integer',
    minimum: limitMin,
    maximum: limitMax,
    default: limitMax,
  }),
  order: parameter('asc: oldest first; desc: newest first', {
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'desc',
  }),
  from: parameter('first block: a height, or a day (UTC) of block time', rangeForm),
  to: parameter('last block: a height, or a day (UTC) of block time; absent: the tip', rangeForm),
  format: parameter('NDJSON, or a table whose first line has the names', {
    type: 'string',
    enum: Object.keys(exportForms),
    default: 'ndjson',
  }),
  after: parameter('id of the last row that the client has; the answer begins after it', {
    type: 'string',
    pattern: saleIdPattern,
  }),
  before: parameter('the sale before the page, as in the link to the page', {
    type: 'string',
    pattern: salePlacePattern,
  }),
  q: parameter('a part of the name or the slug, in any letter case; or the id of a parent or gallery', {
    type: 'string',
    maxLength: searchCharsMax,
    example: 'frog',
  }),
  trait: parameter(
    'traits that the items must all have: Name:Value, several separated by commas; a backslash escapes a comma, a colon or a backslash',
    { type: 'string', maxLength: traitCharsMax, example: 'Sky:Dawn' },
  ),
  sort: parameter('volume: largest volume of seven days first; slug: in the order of slugs', {
    type: 'string',
    enum: ['volume', 'slug'],
    default: 'volume',
  }),
  at: parameter('a height: the holders after that block; absent: after the last block', {
    type: 'integer',
    minimum: 0,
    maximum: maxHeight,
  }),
  afterItem: parameter('the id of the last item of the previous page', {
    type: 'string',
    ...acceptedForms.inscriptionId,
  }),
};

/**
 * Parameters in the path of a URL. MarketQuery reads them too. Their examples are real values, so that "Try it" can
 * send them.
 */
export const marketPath = {
  slug: Type.String({
    description: 'that of an import, or the id of a parent or gallery',
    acceptedForm: { minLength: 1, maxLength: 100 },
    examples: ['bitcoin-frogs'],
  }),
  inscription: Type.String({
    description: 'the id of an inscription',
    acceptedForm: acceptedForms.inscriptionId,
    examples: [exampleId],
  }),
};

type Query = Readonly<Record<string, unknown>>;
type Path = Readonly<Record<string, string | undefined>>;

/**
 * Maximum number of characters of a slug: 100. Inscription ids, which are also slugs, are shorter. No collection has a
 * longer slug.
 */
const slugCharsMax = 100;

/** Reads parameters, and collects all faults that it finds in them. */
export class MarketQuery {
  readonly #query: Query;
  readonly #path: Path;
  readonly #faults: Fault[] = [];

  /**
   * Starts with the parameters of a request.
   *
   * @param path the parameters in the path
   */
  constructor(query: unknown, path: Path = {}) {
    this.#query = query as Query;
    this.#path = path;
  }

  /** Throws `request_invalid` with all faults, if there are any. */
  refuse(): void {
    const [first, ...more] = this.#faults;
    if (first !== undefined) throw new InvalidRequest([first, ...more]);
  }

  /** Reads the slug. Any text is accepted, because an unknown slug is not a fault. */
  slug(): string {
    return this.#slugOf(this.#text('slug'));
  }

  /** Reads the slug in the path. */
  slugOfPath(): string {
    return this.#slugOf(this.#path['slug'] ?? '', 'path');
  }

  #slugOf(slug: string, place?: 'path'): string {
    if (slug === '') this.#fault('slug', 'is required', place);
    if (slug.length > slugCharsMax) this.#fault('slug', `has more than ${slugCharsMax} characters`, place);
    return slug;
  }

  /** Reads the inscription in the path. `null` if the path has no valid id; this is then a fault. */
  inscriptionOfPath(): InscriptionId | null {
    const id = parseInscriptionId(this.#path['inscription'] ?? '');
    if (id === null) this.#fault('inscription', 'is not an inscription id', 'path');
    return id;
  }

  /** Reads the text to search. Empty if absent. */
  searched(): string {
    const text = this.#text('q');
    if (text.length > searchCharsMax) this.#fault('q', `has more than ${searchCharsMax} characters`);
    return text;
  }

  /** Reads the traits that items must have. Empty if absent. */
  traits(): readonly TraitPair[] {
    const text = this.#text('trait');
    if (text === '') return [];
    if (text.length > traitCharsMax) this.#fault('trait', `has more than ${traitCharsMax} characters`);
    const traits = parseTraitPairs(text);
    if (traits === null) this.#fault('trait', 'must be Name:Value, several separated by commas');
    else if (traits.length > traitsMax) this.#fault('trait', `has more than ${traitsMax} traits`);
    return traits ?? [];
  }

  sort(): 'volume' | 'slug' {
    return this.choice('sort', ['volume', 'slug'], 'volume');
  }

  /** Reads the height in the parameter `at`. `null` if absent. */
  at(): Height | null {
    const height = this.#whole('at', { absent: -1, least: 0, most: maxHeight });
    return height === -1 ? null : asHeight(height);
  }

  /** Reads the last item of the previous page. `null` if absent. */
  afterItem(): InscriptionId | null {
    const text = this.#text('after');
    if (text === '') return null;
    const id = parseInscriptionId(text);
    if (id === null) this.#fault('after', 'is not an inscription id');
    return id;
  }

  /**
   * Reads the first second of the start day, in Unix seconds. `null` if the parameter is absent, empty, or the text
   * `null`.
   */
  startDate(): number | null {
    const text = this.#text('startDate');
    if (text === '' || text === 'null') return null;
    const start = dayStart(text);
    if (start === null) this.#fault('startDate', 'is not a date (YYYY-MM-DD)');
    return start;
  }

  /**
   * Reads the range of blocks. If `from` is null, the range begins with the first block. If `to` is null, it ends at
   * the tip.
   */
  range(): SaleRange {
    const [from, to] = [this.#rangeEnd('from'), this.#rangeEnd('to')];
    if (from !== null && to !== null && isBehind(from, to)) this.#fault('from', 'must not be after to');
    return { from, to };
  }

  format(): ExportFormName {
    return this.choice('format', ['ndjson', 'csv'], 'ndjson');
  }

  /** Reads an amount in sats. `null` if absent or empty. */
  sats(name: string): number | null {
    const sats = this.#whole(name, { absent: -1, least: 0, most: Number.MAX_SAFE_INTEGER });
    return sats === -1 ? null : sats;
  }

  /** Reads the cursor of a page of sales. The page contains the sales before the cursor. `null` if absent. */
  before(): SalePlace | null {
    const text = this.#text('before');
    if (text === '') return null;
    const place = parseSalePlace(text);
    if (place === null) this.#fault('before', 'is not the place of a sale');
    return place;
  }

  /** Reads the sale of the last row that a client has. `null` if absent. */
  after(): SaleId | null {
    const text = this.#text('after');
    if (text === '') return null;
    const id = parseSaleId(text);
    if (id === null) this.#fault('after', 'is not the id of a row');
    return id;
  }

  #rangeEnd(name: 'from' | 'to'): RangeEnd | null {
    const text = this.#text(name);
    if (text === '') return null;
    const height = heightPattern.test(text) ? Number(text) : maxHeight + 1;
    if (height <= maxHeight) return { height };
    const start = dayStart(text);
    if (start !== null) return { dayStart: start };
    this.#fault(name, 'is not a height or a date (YYYY-MM-DD)');
    return null;
  }

  page(): number {
    return this.#whole('page', { absent: 0, least: 0, most: pageMax });
  }

  /** Reads the number of an HTML page, from 1. */
  pageNumber(): number {
    return this.#whole('page', { absent: 1, least: 1, most: pageMax });
  }

  limit(): number {
    return this.#whole('limit', { absent: limitMax, least: limitMin, most: limitMax });
  }

  order(): 'asc' | 'desc' {
    return this.choice('order', ['asc', 'desc'], 'desc');
  }

  /** Reads a parameter whose value must be one of some words. */
  choice<const Word extends string>(name: string, words: readonly Word[], absent: Word): Word {
    const text = this.#text(name);
    const word = words.find((known) => known === text);
    if (word === undefined && text !== '') this.#fault(name, `must be one of ${words.join(', ')}`);
    return word ?? absent;
  }

  #whole(
    name: string,
    { absent, least, most }: { readonly absent: number; readonly least: number; readonly most: number },
  ): number {
    const text = this.#text(name);
    if (text === '') return absent;
    const value = wholePattern.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value)) this.#fault(name, 'is not a whole number');
    else if (value < least) this.#fault(name, `must be >= ${least}`);
    else if (value > most) this.#fault(name, `must be <= ${most}`);
    else return value;
    return absent;
  }

  /** Reads a parameter. Empty if absent. */
  #text(name: string): string {
    const value = this.#query[name];
    if (typeof value === 'string') return value;
    if (value !== undefined) this.#fault(name, 'is given more than once');
    return '';
  }

  #fault(parameter: string, words: string, place?: 'path'): void {
    // report only one fault per field
    if (this.#faults.some((fault) => fault.parameter === parameter)) return;
    const message = `${parameter} ${words}`;
    this.#faults.push({ message, parameter, ...(place === undefined ? {} : { place }) });
  }
}

/** The first second of a day (UTC), in Unix seconds. `null` if the text is not a date. */
function dayStart(text: string): number | null {
  const time = datePattern.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // this check is needed, because Date.parse refuses month 13, but reads February 30th as a day in March
  return Number.isNaN(time) || !new Date(time).toISOString().startsWith(text) ? null : time / 1000;
}

/**
 * Whether a range ends before it begins. If one end is a height and the other is a day, they cannot be compared, and
 * the result is false.
 */
function isBehind(one: RangeEnd, other: RangeEnd): boolean {
  if ('height' in one) return 'height' in other && one.height > other.height;
  return 'dayStart' in other && one.dayStart > other.dayStart;
}

const datePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u;
const heightPattern = /^[0-9]{1,10}$/u;
const wholePattern = /^-?[0-9]+$/u;
