import type { TSchema } from 'typebox';

/**
 * The texts that a parameter accepts, as a schema. The schema appears only in the API document, for clients and tests
 * of the API. The function that reads the parameter refuses other texts with its own messages, not with the
 * validator's. A test compares each schema with its function.
 */
export type AcceptedForm = Readonly<Record<string, unknown>>;

/** The keyword of a schema that holds its accepted form. */
export const acceptedFormKeyword = 'acceptedForm';

const hash = '[0-9a-fA-F]{64}';
/**
 * A number of at most nine digits. Numbers of ten digits below 2^31 are not needed, because there are fewer than a
 * billion blocks, and no block or list has a billion entries.
 */
const count = '[0-9]{1,9}';
const id = `${hash}i${count}`;
const whole = (pattern: string): AcceptedForm => ({ pattern: `^(?:${pattern})$` });

/** The forms that several paths share. */
export const acceptedForms = {
  hash: whole(hash),
  inscriptionId: whole(id),
  /** An id or a number. Numbers of cursed inscriptions are negative. */
  inscription: whole(`${id}|-?${count}`),
  count: whole(count),
  block: whole(`${count}|${hash}`),
  outpoint: whole(`${hash}:${count}`),
  satpoint: whole(`${hash}:${count}:${count}`),
  /**
   * Number, name, decimal or percentile of a sat. The pattern cannot check all bounds, namely the last sat and the
   * subsidies.
   */
  sat: whole(String.raw`[0-9]{1,15}|[a-m][a-z]{0,10}|[0-9]{1,5}\.[0-9]{1,9}|[0-9]{1,2}(?:\.[0-9]{1,9})?%`),
  /**
   * Number, id or name of a rune. Every name of up to 27 letters is valid. Names of 28 letters are valid up to the last
   * possible name. A pattern cannot compare names, so this form has no names of 28 letters.
   */
  rune: whole(`${count}|${count}:${count}|[A-Z](?:[•.]?[A-Z]){0,26}`),
  /** Name of a rune. */
  runeName: whole('[A-Z](?:[•.]?[A-Z]){0,26}'),
  fromEitherEnd: whole(`-?${count}`),
  /** An address in base58 or bech32, in either case. The checksum is checked later. */
  address: whole('[0-9A-Za-z]{14,90}'),
  /** Number of entries of a page. */
  limit: whole('[1-9][0-9]{0,2}|1000'),
  order: { enum: ['asc', 'desc'] },
  /** The text of a cursor from a previous page. */
  cursor: whole('[0-9A-Za-z_-]{1,128}'),
  /** An exact content type, or a class of types such as `image/*`. */
  contentType: whole(String.raw`[^*]{1,1000}|[^*\/]{1,1000}\/\*`),
  /** A text of at most 4,096 bytes. A character takes at most four bytes. */
  text: { minLength: 1, maxLength: 1000 },
} as const satisfies Readonly<Record<string, AcceptedForm>>;

/** A list of texts in a body, each in the given form. */
export function acceptedList(items: AcceptedForm, maxItems: number): AcceptedForm {
  return { type: 'array', items: { type: 'string', ...items }, maxItems };
}

/** A schema as the document shows it, with the accepted forms of the schema itself, of its fields and of its items. */
export function documentedSchema(schema: TSchema): TSchema {
  const { [acceptedFormKeyword]: form, ...own } = schema as DocumentedParts;
  // a form may have fields and items that have accepted forms
  const { properties, items, ...rest }: DocumentedParts = { ...own, ...form };
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: mapValues(properties, documentedSchema) }),
    ...(items === undefined ? {} : { items: documentedSchema(items) }),
  };
}

interface DocumentedParts extends Readonly<Record<string, unknown>> {
  readonly [acceptedFormKeyword]?: AcceptedForm;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

const mapValues = <Value>(values: Readonly<Record<string, Value>>, map: (value: Value) => Value) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
