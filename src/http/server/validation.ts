import type { FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { AppError } from '#kernel/errors/app-error.ts';

/** What all validators of ours say of an error, as far as it is used. */
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** The first thing that is wrong with parameters, without the words of the validator. `part` is `params` for those of the path. */
export function validationMessage(errors: readonly FastifySchemaValidationError[], part: string): string {
  const [error] = errors;
  if (error === undefined) return 'the request is not valid';
  // values of a choice are errors of each of them first
  const choices = errors
    .filter(({ keyword }) => keyword === 'const')
    .map(({ params }) => params['allowedValue']);
  if (error.keyword === 'const') return `${fieldOf(error)} must be one of ${choices.map(String).join(', ')}`;
  // all parameters of a query are strings in a URL: one that is not was given more than once
  if (part === 'querystring' && error.keyword === 'type' && isScalar(error.params['type']))
    return `${fieldOf(error)} is given more than once`;
  return `${fieldOf(error)} ${wordsOf(error)}`;
}

const compiled = new WeakMap<TSchema, Validator>();

/**
 * Checks the body of a request as it is: Fastify's validator, made for parameters in URLs, would make a list of a text and a text
 * of a number. Throws `request_invalid`.
 */
export function checkBody(schema: TSchema, body: unknown): void {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    compiled.set(schema, validator);
  }
  if (validator.Check(body)) return;
  const [error] = validator.Errors(body) as readonly SchemaError[];
  const message =
    error === undefined ? 'the body is not valid' : `${fieldOf(error, 'the body')} ${wordsOf(error)}`;
  throw new AppError('request_invalid', message);
}

function fieldOf({ instancePath }: SchemaError, whole = 'the request'): string {
  const path = instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/gu, '[$1]')
    .replaceAll('/', '.');
  if (path === '') return whole;
  // of a body that is a list
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
  pattern: () => 'has not the form that it must have',
  required: (params) => `lacks ${listed(params['requiredProperties'] ?? params['missingProperty'])}`,
  // a field whose schema is `false`
  boolean: () => 'is not a field that is known',
  additionalProperties: (params) =>
    `has fields that are not known: ${listed(params['additionalProperties'] ?? params['additionalProperty'])}`,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues)}`,
};

function wordsOf({ keyword, params, message }: SchemaError): string {
  return phrases[keyword]?.(params) ?? message ?? 'is not valid';
}

function listed(names: unknown): string {
  return [names].flat().map(String).join(', ');
}

/** What is percent-encoded in the query of a URL must be UTF-8 (RFC 3986, 2.1 and 2.5). Throws `request_invalid`. */
export function checkQueryEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start === -1 || !url.includes('%', start)) return;
  for (const pair of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const name = /^[\w-]{1,40}(?==)/u.exec(pair)?.[0] ?? 'a parameter';
      throw new AppError('request_invalid', `${name} is not percent-encoded UTF-8`);
    }
  }
}
