import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** One thing that is wrong with a request. */
export interface Fault {
  readonly message: string;
  /** The parameter or field that is meant, where it is one. */
  readonly parameter?: string;
}

/** What went wrong, before a path gives it its form. */
export interface Failure {
  /** HTTP status that says what it is. */
  readonly status: number;
  readonly code: ErrorCode;
  /** What the client is told: the first fault, or all of them where the form has a list. Never empty. */
  readonly faults: readonly [Fault, ...Fault[]];
  /** Where the path is described, below our origin. */
  readonly docs: string;
}

/**
 * Who must do what about a failure. `fault`: the client asked for what cannot be; `unknown`: for what is not there; `access`: it may
 * not, or not so often, or not in this way; `busy`: the same request is answered later; `failure`: something is wrong here.
 */
export type FailureKind = 'fault' | 'unknown' | 'access' | 'busy' | 'failure';

export function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403 || status === 405 || status === 429) return 'access';
  if (status === 404) return 'unknown';
  if (status === 503) return 'busy';
  return status >= 500 ? 'failure' : 'fault';
}

/** The body of an error: what it says, and its schema for the document. */
interface Shape {
  readonly schema: TSchema;
  readonly body: (failure: Failure) => object | string;
}

/** How a group of paths answers errors (docs/http.md, "Errors"). */
export interface ErrorForm extends Readonly<Record<FailureKind, Shape>> {
  readonly mediaType: 'application/json' | 'text/plain';
  /** Who asks for HTML by name gets a page. */
  readonly hasPages: boolean;
  /** All that is wrong with a request is told, not the first fault alone. */
  readonly hasLists: boolean;
  /** What the client did wrong, and what is not known, has HTTP status 200 and says so in its body (interface, section 7). */
  readonly inBody: boolean;
  /** An unknown query parameter or field of a body is refused. */
  readonly refusesUnknown: boolean;
}

/** Faults in one answer. */
export const faultsMax = 50;

const message = Type.String({ description: 'a sentence for people' });
const status = Type.Literal('error');

const error: Shape = {
  schema: Type.Object({ status, error: message }),
  body: ({ faults: [fault] }) => ({ status: 'error', error: fault.message }),
};
const reason: Shape = {
  schema: Type.Object({ status, reason: message }),
  body: ({ faults: [fault] }) => ({ status: 'error', reason: fault.message }),
};
const codedError: Shape = {
  schema: Type.Object({
    status,
    error: message,
    code: Type.String({ description: 'docs/errors.md has them all' }),
    parameter: Type.Optional(Type.String()),
    docs: Type.String({ description: 'where this path is described' }),
  }),
  body: ({ faults: [fault], code, docs }) => ({
    status: 'error',
    error: fault.message,
    code,
    ...(fault.parameter === undefined ? {} : { parameter: fault.parameter }),
    docs,
  }),
};
const codedReason: Shape = {
  schema: Type.Object({ status, reason: message, code: Type.String() }),
  body: ({ faults: [fault], code }) => ({ status: 'error', reason: fault.message, code }),
};
const list: Shape = {
  schema: Type.Object({
    error: Type.Array(Type.Object({ msg: message }), { minItems: 1, maxItems: faultsMax }),
  }),
  body: ({ faults }) => ({ error: faults.map((fault) => ({ msg: fault.message })) }),
};
const textShape: Shape = {
  schema: Type.String({ description: 'a sentence for people' }),
  body: ({ faults: [fault] }) => `${fault.message}\n`,
};
/** Of the programs that build PSBTs. */
const builder: Shape = {
  schema: Type.Object({
    success: Type.Literal(false),
    status: Type.Integer(),
    message,
    stack: Type.Object({}),
  }),
  body: (failure) => ({
    success: false,
    status: failure.status,
    message: failure.faults[0].message,
    stack: {},
  }),
};
const noFunds = Type.Object({ success: Type.Literal(false), message });
const tokenFault: Shape = {
  schema: Type.Union([list.schema, noFunds]),
  body: (failure) =>
    failure.code === 'token_balance_missing'
      ? { success: false, message: failure.faults[0].message }
      : list.body(failure),
};
const parameters: Shape = {
  schema: Type.Object({
    errors: Type.Array(Type.Object({ msg: message, param: Type.String(), location: Type.Literal('query') }), {
      minItems: 1,
      maxItems: faultsMax,
    }),
  }),
  body: ({ faults }) => ({
    errors: faults.map((fault) => ({ msg: fault.message, param: fault.parameter ?? '', location: 'query' })),
  }),
};

const json = {
  mediaType: 'application/json',
  hasPages: false,
  hasLists: false,
  inBody: false,
  refusesUnknown: false,
} as const;
const refused = { access: error, busy: reason };

const told: ErrorForm = { ...json, ...refused, fault: error, unknown: error, failure: reason };
const toldInBody: ErrorForm = { ...told, inBody: true };
const listed: ErrorForm = { ...told, fault: list, unknown: list, hasLists: true };

/** The forms of all paths. A route names its own; nothing looks at a URL. */
export const errorForms = {
  /** The interface's searches. */
  search: toldInBody,
  /** ord's paths, and our pages. */
  plain: { ...told, hasPages: true },
  /** Contents: what shows them reads text. */
  text: {
    ...json,
    mediaType: 'text/plain',
    fault: textShape,
    unknown: textShape,
    access: textShape,
    busy: textShape,
    failure: textShape,
  },
  /** What is ours alone. */
  own: {
    ...json,
    hasPages: true,
    refusesUnknown: true,
    fault: codedError,
    unknown: codedError,
    access: codedError,
    busy: codedReason,
    failure: codedReason,
  },
  /** GET `/order`, `/price`, `/referrals`. */
  orderRead: toldInBody,
  /** What creates or changes orders, collections and referrals. */
  orderWrite: listed,
  /** POST `/textorder`. */
  textOrder: { ...listed, failure: error },
  /** Collections, inventory, scanner, extractor, `/mempool/api`, `/fxrate`. */
  serviceRead: told,
  /** What builds PSBTs, that of token payments too. */
  psbt: { ...told, fault: builder, unknown: builder, failure: builder },
  /** Token payments otherwise. */
  tokenpay: { ...listed, fault: tokenFault, failure: list },
  /** GET `/marketplace/data/…`. */
  marketplace: { ...told, fault: parameters, unknown: parameters, hasLists: true },
} as const satisfies Readonly<Record<string, ErrorForm>>;

export type ErrorFormName = keyof typeof errorForms;

/** Statuses that mean what they say also where faults are told in the body. */
const plainStatuses: ReadonlySet<number> = new Set([401, 403, 405, 410, 429]);

/** The HTTP status with which a form answers a failure. */
export function statusIn(form: ErrorForm, { status: given, code }: Pick<Failure, 'status' | 'code'>): number {
  if (!form.inBody) return given;
  if (given < 500) return plainStatuses.has(given) ? given : 200;
  // the interface has 500 for whatever goes wrong here; what took too long is to be told from what is broken
  return code.startsWith('postgres_') && code !== 'postgres_timeout' ? 500 : given;
}
