import { Type } from 'typebox';
import type { Fault } from '#http/server/error-forms.ts';
import { InvalidRequest } from '#http/server/validation.ts';

/**
 * Parameters of the market as they are documented. Its clients are told all faults of a request at once, and a missing
 * slug with its name, so the readers below check them, not the validator.
 */
const parameter = (description: string, form: Readonly<Record<string, unknown>>) =>
  Type.Optional(Type.Unsafe<unknown>({ description, acceptedForm: form }));

const limitMin = 20;
const limitMax = 100;
/** More rows than any chain has. The interface has no upper bound, so a page beyond the last is `[]`. */
const pageMax = 1_000_000_000;

export const marketParameters = {
  slug: parameter('required: that of an import, or the id of a parent or gallery', {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    example: 'bitcoin-frogs',
  }),
  startDate: parameter('a day, from 00:00 UTC of block time; absent, empty or null: the last 7 days', {
    type: 'string',
    pattern: '^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|null)?$',
  }),
  page: parameter('from 0', { type: 'integer', minimum: 0, maximum: pageMax, default: 0 }),
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
};

type Query = Readonly<Record<string, unknown>>;

/** Longer slugs name nothing: 100 characters, or an inscription id. */
const slugCharsMax = 100;

/** Reads parameters, and collects what is wrong with them. */
export class MarketQuery {
  readonly #query: Query;
  readonly #faults: Fault[] = [];

  constructor(query: unknown) {
    this.#query = query as Query;
  }

  /** Throws `request_invalid` with all faults. */
  refuse(): void {
    const [first, ...more] = this.#faults;
    if (first !== undefined) throw new InvalidRequest([first, ...more]);
  }

  /** Any text: one that no collection has is no fault. */
  slug(): string {
    const slug = this.#text('slug');
    if (slug === '') this.#fault('slug', 'is required');
    if (slug.length > slugCharsMax) this.#fault('slug', `has more than ${slugCharsMax} characters`);
    return slug;
  }

  /** Unix seconds of the beginning of a day. Null: it is absent, empty or null. */
  startDate(): number | null {
    const text = this.#text('startDate');
    if (text === '' || text === 'null') return null;
    const time = datePattern.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
    // Date.parse refuses month 13, and takes February 30th for a day of March
    if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(text)) {
      this.#fault('startDate', 'is not a date (YYYY-MM-DD)');
      return null;
    }
    return time / 1000;
  }

  page(): number {
    return this.#whole('page', { absent: 0, least: 0, most: pageMax });
  }

  limit(): number {
    return this.#whole('limit', { absent: limitMax, least: limitMin, most: limitMax });
  }

  order(): 'asc' | 'desc' {
    const order = this.#text('order');
    if (order === 'asc' || order === 'desc') return order;
    if (order !== '') this.#fault('order', 'must be one of asc, desc');
    return 'desc';
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

  /** A parameter; empty where it is absent. */
  #text(name: string): string {
    const value = this.#query[name];
    if (typeof value === 'string') return value;
    if (value !== undefined) this.#fault(name, 'is given more than once');
    return '';
  }

  #fault(parameter: string, words: string): void {
    // one a field
    if (this.#faults.some((fault) => fault.parameter === parameter)) return;
    this.#faults.push({ message: `${parameter} ${words}`, parameter });
  }
}

const datePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u;
const wholePattern = /^-?[0-9]+$/u;
