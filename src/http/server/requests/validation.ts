import assert from 'node:assert/strict';
import { parse } from 'node:querystring';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type Fault, faultsMax } from '#http/server/errors/error-forms.ts';
import { limits } from '#http/server/limits.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { nearestWord } from '#kernel/text/nearest-word.ts';

// the default is 8, and lists of errors hold more
Settings.Set({ maxErrors: faultsMax });

/** The parts of a validator's error that are used here. */
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** A request with invalid parameters or an invalid body: its faults, for the forms that list them all. */
export class InvalidRequest extends AppError {
  readonly faults: readonly [Fault, ...Fault[]];

  constructor(faults: readonly [Fault, ...Fault[]]) {
    super('request_invalid', faults[0].message);
    this.faults = faults;
  }
}

/**
 * The faults of parameters or a body, in our words instead of the validator's: one a field, in the order of the
 * schema, at most `faultsMax`. `part` is `querystring`, `params` (of the path) or `body`.
 */
export function faultsOf(errors: readonly SchemaError[], part: string): readonly [Fault, ...Fault[]] {
  const byField = new Map<string, SchemaError[]>();
  for (const error of errors) {
    const sameField = byField.get(error.instancePath) ?? [];
    sameField.push(error);
    byField.set(error.instancePath, sameField);
  }
  const faults = [...byField.values()].slice(0, faultsMax).map((sameField) => faultOf(sameField, part));
  const [first, ...others] = faults;
  return first === undefined ? [{ message: `the ${wholeOf(part)} is not valid` }] : [first, ...others];
}

const wholeOf = (part: string): string => (part === 'body' ? 'body' : 'request');

function faultOf(errors: readonly SchemaError[], part: string): Fault {
  const [error] = errors;
  assert(error !== undefined, 'a field without an error is not a fault');
  const whole = `the ${wholeOf(part)}`;
  const field = fieldOf(error, whole);
  const fault = (words: string): Fault =>
    field.startsWith(whole)
      ? { message: `${field} ${words}` }
      : { message: `${field} ${words}`, parameter: field };
  // the validator reports a wrong choice as an error of each alternative first
  if (error.keyword === 'const') {
    const choices = errors
      .filter(({ keyword }) => keyword === 'const')
      .map(({ params }) => params['allowedValue']);
    return fault(`must be one of ${choices.map(String).join(', ')}`);
  }
  // parameters in a URL are strings: any other type means that it was given more than once
  if (part === 'querystring' && error.keyword === 'type' && isScalar(error.params['type'])) {
    return fault('is given more than once');
  }
  return fault(wordsOf(error));
}

const compiled = new WeakMap<TSchema, Validator>();

/**
 * Checks the body of a request unchanged: Fastify's validator, made for parameters in URLs, would turn a text into a
 * list and a number into a text. Throws `request_invalid`; `field_unknown` with the nearest known name where the
 * schema forbids other fields.
 */
export function checkBody(schema: TSchema, body: unknown): void {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    compiled.set(schema, validator);
  }
  if (validator.Check(body)) return;
  const errors = validator.Errors(body) as readonly SchemaError[];
  const [unknown] = errors
    .filter(({ keyword }) => keyword === 'boolean')
    .map(({ instancePath }) => instancePath.slice(1));
  if (unknown !== undefined && !unknown.includes('/')) {
    const name = unescaped(unknown);
    const parameter = shortened(name);
    const message = `${parameter} is not a known field${nearestWords(name, schema)}`;
    throw new AppError('field_unknown', message, { parameter });
  }
  throw new InvalidRequest(faultsOf(errors, 'body'));
}

/** The field names in a schema of an object. */
function namesIn(schema: unknown): string[] {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> };
  return Object.keys(properties);
}

function nearestWords(name: string, schema: unknown): string {
  const known = namesIn(schema);
  if (known.length === 0) return ': it has none';
  const nearest = nearestWord(name, known);
  return nearest === null ? `: it has ${known.join(', ')}` : `: did you mean ${nearest}?`;
}

/** Refuses unknown query parameters. Throws `parameter_unknown` with the nearest known name. */
export function refuseUnknownParameters(schema: unknown, query: unknown): void {
  const known = new Set(namesIn(schema));
  for (const name of Object.keys(query as object)) {
    if (known.has(name)) continue;
    const parameter = shortened(name);
    const message = `${parameter} is not a parameter of this path${nearestWords(name, schema)}`;
    throw new AppError('parameter_unknown', message, { parameter });
  }
}

/** A name that a client made up, as far as an answer repeats it. */
function shortened(name: string): string {
  return name.length <= shownNameChars ? name : `${name.slice(0, shownNameChars).toWellFormed()}…`;
}
const shownNameChars = 40;

/** A name in a JSON pointer, as it was written (RFC 6901). */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Digits of a whole number: the validator alone would accept Infinity and 0x10. */
export const wholeNumberPattern = '^-?\\d+$';

/**
 * Numbers in a path or a query are whole numbers in digits. Throws `request_invalid`, for lists of errors with what
 * else is wrong in the query. The validator checks their bounds.
 */
export function checkWholeNumbers(request: FastifyRequest): void {
  const { params, querystring } = request.routeOptions.schema ?? {};
  const faults = [
    ...wholeNumberFaults(params, request.params),
    ...wholeNumberFaults(querystring, request.query),
  ];
  const [first, ...more] = faults;
  if (first === undefined) return;
  const named = new Set(faults.map(({ parameter }) => parameter));
  const others = queryFaults(request).filter(({ parameter }) => !named.has(parameter));
  throw new InvalidRequest([first, ...more, ...others]);
}

function wholeNumberFaults(schema: unknown, given: unknown): Fault[] {
  const { properties = {} } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { type?: unknown }>>;
  };
  const values = given as Readonly<Record<string, unknown>>;
  return Object.entries(properties).flatMap(([name, { type }]) => {
    const value = values[name];
    if (type !== 'integer' || typeof value !== 'string') return [];
    if (!wholeNumber.test(value)) return [{ message: `${name} is not a whole number`, parameter: name }];
    // the validator checks no bounds of what becomes infinite
    return Number.isFinite(Number(value))
      ? []
      : [{ message: `${name} has too many digits`, parameter: name }];
  });
}

/** What the validator finds wrong in a query. */
function queryFaults(request: FastifyRequest): readonly Fault[] {
  const validate = request.getValidationFunction('querystring');
  if (validate === undefined || validate(request.query) === true) return [];
  return faultsOf((validate.errors ?? []) as readonly SchemaError[], 'querystring');
}
const wholeNumber = new RegExp(wholeNumberPattern, 'u');

function fieldOf({ instancePath }: SchemaError, whole: string): string {
  const path = instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/gu, '[$1]')
    .replaceAll('/', '.');
  if (path === '') return whole;
  // for a body that is a list
  return /^\d+$/u.test(path) ? `${whole}[${path}]` : path;
}

function isScalar(type: unknown): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

const typeWords: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

type Params = SchemaError['params'];

/** Phrases that follow the name of the field, by the keyword that failed. */
const phrases: Readonly<Record<string, (params: Params) => string>> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => typeWords[String(name)] ?? String(name))
      .join(' or ')}`,
  minimum: ({ limit }) => `must be >= ${String(limit)}`,
  maximum: ({ limit }) => `must be <= ${String(limit)}`,
  maxItems: ({ limit }) => `has more than ${String(limit)} entries`,
  minItems: ({ limit }) => `has fewer than ${String(limit)} entries`,
  maxLength: ({ limit }) => `has more than ${String(limit)} characters`,
  minLength: ({ limit }) => `has fewer than ${String(limit)} characters`,
  pattern: ({ pattern }) =>
    String(pattern).endsWith(wholeNumberPattern)
      ? 'is not a whole number'
      : 'does not have the required form',
  required: (params) => `lacks ${listed(params['requiredProperties'] ?? params['missingProperty'])}`,
  // a field whose schema is `false`
  boolean: () => 'is not a known field',
  additionalProperties: (params) =>
    `has unknown fields: ${listed(params['additionalProperties'] ?? params['additionalProperty'])}`,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues)}`,
};

function wordsOf({ keyword, params, message }: SchemaError): string {
  return phrases[keyword]?.(params) ?? message ?? 'is not valid';
}

function listed(names: unknown): string {
  return [names].flat().map(String).join(', ');
}

/** Parses a query as far as `checkQuery` lets it pass: a repeated parameter becomes a list. */
export function parseQuery(text: string): Record<string, unknown> {
  return parse(text, '&', '=', { maxKeys: limits.queryParameters });
}

/** Throws `request_invalid` for a query of too many parameters, and what `checkQueryEncoding` throws. */
export function checkQuery(url: string): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  let parameters = 1;
  for (let place = url.indexOf('&', start); place !== -1; place = url.indexOf('&', place + 1)) parameters++;
  if (parameters > limits.queryParameters) {
    throw new AppError('request_invalid', `the query has more than ${limits.queryParameters} parameters`);
  }
  checkQueryEncoding(url, start);
}

/** Percent-encoded bytes in a query must be UTF-8 (RFC 3986, 2.1 and 2.5). Throws `request_invalid`. */
function checkQueryEncoding(url: string, start: number): void {
  if (!url.includes('%', start)) return;
  for (const pair of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const name = /^[\w-]{1,40}(?==)/u.exec(pair)?.[0] ?? 'a parameter';
      throw new AppError('request_invalid', `${name} is not percent-encoded UTF-8`, { parameter: name });
    }
  }
}
