import { STATUS_CODES } from 'node:http';
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { RouteGuard } from '#http/server/access/guard.ts';
import { type ErrorForm, kindOf, statusIn } from '#http/server/errors/error-forms.ts';

/** An answer in one or more content types, each with its schema. An answer without content types has no body. */
export interface Answer {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: TSchema }>>;
}

const html = Type.String({ description: 'a page' });
/** Schema of any value, because inscribed JSON or YAML can be any value for a client that parses it. */
const bytes = Type.Unknown();

/**
 * An object that this service makes for an answer. A field that the schema does not name is a fault, and tests find it.
 */
export function strictObject<Fields extends TProperties>(
  fields: Fields,
  description?: string,
): TObject<Fields> {
  return Type.Object(fields, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });
}

/** An answer that is written as JSON text. Tests check the form of the text. */
export function jsonText(schema: TSchema, description: string): Answer {
  return { description, content: { 'application/json': { schema } } };
}

export function page(description: string): Answer {
  return { description, content: { 'text/html': { schema: html } } };
}

/** The answer of a path that people get as a page, and programs as JSON (`Accept: application/json`). */
export function pageOrJson(schema: TSchema, description: string): Answer {
  return { description, content: { 'application/json': { schema }, 'text/html': { schema: html } } };
}

export function plainText(description: string): Answer {
  return { description, content: { 'text/plain': { schema: Type.String() } } };
}

/** An answer of any content type. */
export function anyBytes(description: string): Answer {
  return { description, content: { '*/*': { schema: bytes } } };
}

export function noBody(description: string): TSchema {
  return Type.Unsafe({ type: 'null', description });
}

export const unchanged = noBody('unchanged since the answer whose ETag If-None-Match names');
export const seeOther = noBody('redirects to Location');

/** Statuses of errors that are possible on every path. */
const statusesOfAll = [400, 404, 414, 429, 500, 503, 504];
const statusesOfBodies = [413, 415];
/** Additional statuses by kind of guard. Redirects need no key, so they never refuse one. */
const statusesOfGuards = {
  none: [],
  scope: [401, 403],
  owned: [401, 403],
  page: [401, 403],
  keyed: [401],
  open: [],
} as const;

interface ErrorSources {
  readonly guard: RouteGuard;
  readonly failures?: readonly number[];
  readonly hasBody: boolean;
}

type Answers = Record<number, unknown>;

/** The answers of a route and of its errors. If faults have status 200, this status has both schemas. */
export function errorAnswers(
  form: ErrorForm,
  { guard, failures = [], hasBody }: ErrorSources,
  own: Readonly<Answers>,
): Answers {
  const given = [
    ...statusesOfAll,
    ...(hasBody ? statusesOfBodies : []),
    ...statusesOfGuards[typeof guard === 'function' ? 'scope' : guard.kind],
    ...failures,
  ];
  const answers: Answers = { ...own };
  const failuresOf = [...new Set(given)].map((status) => ({ status, code: 'internal_error' as const }));
  for (const failure of [...failuresOf, { status: 400, code: 'header_repeated' as const }]) {
    const status = statusIn(form, failure);
    const { schema } = form[kindOf(failure.status)];
    answers[status] = beside(answers[status], errorAnswer(form, schema, status), status in own);
  }
  return answers;
}

function errorAnswer({ mediaType, hasPages }: ErrorForm, schema: TSchema, status: number): Answer {
  const content = { [mediaType]: { schema } };
  const description = STATUS_CODES[status] ?? 'Error';
  return { description, content: hasPages ? { ...content, 'text/html': { schema: html } } : content };
}

/** Merges two answers of one status. */
function beside(first: unknown, second: Answer, isOwn: boolean): unknown {
  if (first === undefined) return second;
  const { description, content } = asAnswer(first, isOwn ? 'the answer' : second.description);
  const merged: Record<string, { schema: TSchema }> = { ...content };
  for (const [mediaType, { schema }] of Object.entries(second.content)) {
    const there = merged[mediaType]?.schema;
    merged[mediaType] = {
      schema: there === undefined || there === schema ? schema : eitherOf(there, schema),
    };
  }
  return { description, content: merged };
}

function eitherOf(first: TSchema, second: TSchema): TSchema {
  const { anyOf } = first as { readonly anyOf?: readonly TSchema[] };
  if (anyOf?.includes(second) === true) return first;
  return Type.Union([first, second]);
}

/** The answer of a given value. A schema alone means JSON. */
function asAnswer(given: unknown, description: string): Answer {
  const answer = given as Partial<Answer>;
  if (answer.content !== undefined) return answer as Answer;
  return jsonText(given as TSchema, answer.description ?? description);
}
