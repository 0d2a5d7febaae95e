import assert from 'node:assert/strict';
import { Settings } from 'typebox/system';
import { type Fault, faultsMax } from './error-forms.ts';

// the default is 8, but this service lists more errors
Settings.Set({ maxErrors: faultsMax });

/** The parts of a validator's error that this file uses. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Pattern of a whole number in digits. The validator alone would accept Infinity and 0x10. */
export const wholeNumberPattern = '^-?\\d+$';

/**
 * The faults of parameters or a body, in words of this service instead of the validator's words. There is one fault per
 * field, in the order of the schema, and at most `faultsMax`. `part` is `querystring`, `params` (of the path) or
 * `body`.
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
  // for a wrong choice, the validator first reports one error per alternative
  if (error.keyword === 'const') {
    const choices = errors
      .filter(({ keyword }) => keyword === 'const')
      .map(({ params }) => params['allowedValue']);
    return fault(`must be one of ${choices.map(String).join(', ')}`);
  }
  // parameters in a URL are strings, so another type means that the parameter occurs more than once
  if (part === 'querystring' && error.keyword === 'type' && isScalar(error.params['type'])) {
    return fault('is given more than once');
  }
  return fault(wordsOf(error));
}

function fieldOf({ instancePath }: SchemaError, whole: string): string {
  const path = instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/gu, '[$1]')
    .replaceAll('/', '.');
  if (path === '') return whole;
  // if the body is a list, the path begins with an index
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

/** Phrases that follow the name of a field. The failed keyword selects the phrase. */
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
  // the schema of the field is `false`, so the field is unknown
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
