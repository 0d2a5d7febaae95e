import { parse } from 'node:querystring';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { Fault } from '#http/server/errors/error-forms.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { faultsOf, type SchemaError, wholeNumberPattern } from '#http/server/errors/schema-faults.ts';
import { limits } from '#http/server/limits.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { nearestWord } from '#kernel/text/nearest-word.ts';

const compiled = new WeakMap<TSchema, Validator>();

/**
 * Checks the body of a request without changing the body. Fastify's validator is made for parameters in URLs, and would
 * turn a text into a list and a number into a text. Throws `request_invalid`. Throws `field_unknown` with the nearest
 * known name if the schema forbids other fields.
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

/** A name from a client, shortened for the answer. */
function shortened(name: string): string {
  return name.length <= shownNameChars ? name : `${name.slice(0, shownNameChars).toWellFormed()}…`;
}
const shownNameChars = 40;

/** A name in a JSON pointer, without its escapes (RFC 6901). */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * Checks that numbers in a path or a query are whole numbers in digits. Throws `request_invalid`. In forms that list
 * errors, this error also has the other faults of the query. The validator checks the bounds of the numbers.
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
    // the validator does not check the bounds of a number with so many digits that it becomes infinite
    return Number.isFinite(Number(value))
      ? []
      : [{ message: `${name} has too many digits`, parameter: name }];
  });
}

/** The validator's faults of a query. */
function queryFaults(request: FastifyRequest): readonly Fault[] {
  const validate = request.getValidationFunction('querystring');
  if (validate === undefined || validate(request.query) === true) return [];
  return faultsOf((validate.errors ?? []) as readonly SchemaError[], 'querystring');
}
const wholeNumber = new RegExp(wholeNumberPattern, 'u');

/** Parses a query that `checkQuery` has accepted. A repeated parameter becomes a list. */
export function parseQuery(text: string): Record<string, unknown> {
  return parse(text, '&', '=', { maxKeys: limits.queryParameters });
}

/** Refuses a query with too many parameters, or with bytes that are not UTF-8. Throws `request_invalid`. */
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

/** Checks that percent-encoded bytes in a query are UTF-8 (RFC 3986, 2.1 and 2.5). Throws `request_invalid`. */
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
