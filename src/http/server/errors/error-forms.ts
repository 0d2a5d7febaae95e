import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** One fault of a request. */
export interface Fault {
  readonly message: string;
  /** The parameter or field with the fault. Absent if the fault has none. */
  readonly parameter?: string;
  /** The part of the URL with the parameter. Absent if the parameter is in the query. */
  readonly place?: 'path';
}

/** An error before it gets the form of its path. */
export interface Failure {
  /** The HTTP status that fits the error. */
  readonly status: number;
  readonly code: ErrorCode;
  /**
   * Messages for the client, at least one. A form with a list shows all faults. Any other form shows only the first
   * fault.
   */
  readonly faults: readonly [Fault, ...Fault[]];
  /** Link to the part of the reference that documents the path, relative to our origin. */
  readonly docs: string;
}

/**
 * Who must act on an error.
 * - `fault`: the client requested something impossible, or something that this service does not have.
 * - `unknown`: the client requested something that does not exist.
 * - `access`: the client may not send this request at all, not so often, or not in this way.
 * - `busy`: the same request will be answered later.
 * - `failure`: something is wrong in this service.
 */
export type FailureKind = 'fault' | 'unknown' | 'access' | 'busy' | 'failure';

export function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403 || status === 405 || status === 429) return 'access';
  if (status === 404) return 'unknown';
  if (status === 501) return 'fault';
  if (status === 503) return 'busy';
  return status >= 500 ? 'failure' : 'fault';
}

/** The body of an error, and the schema of the body for the API document. */
interface Shape {
  readonly schema: TSchema;
  readonly body: (failure: Failure) => object | string;
}

/** How a group of paths answers errors (docs/http.md, "Errors"). */
export interface ErrorForm extends Readonly<Record<FailureKind, Shape>> {
  readonly mediaType: 'application/json' | 'text/plain';
  /** Whether clients that accept HTML get errors as a page. */
  readonly hasPages: boolean;
  /** Whether the answer lists all faults of a request instead of only the first. */
  readonly hasLists: boolean;
  /**
   * Whether client faults and unknown things are answered with HTTP status 200 (interface, section 7). The body then
   * contains the error.
   */
  readonly inBody: boolean;
  /** Whether unknown query parameters and unknown fields of a body are refused. */
  readonly refusesUnknown: boolean;
}

/** The maximum number of faults in one answer. */
export const faultsMax = 50;

const message = Type.String({ description: 'a message for people' });
const status = Type.Literal('error');
const code = Type.String({ description: 'one of the codes in docs/errors.md' });

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
    code,
    parameter: Type.Optional(Type.String()),
    docs: Type.String({ description: 'the document that describes this path' }),
  }),
  body: ({ faults: [fault], code: named, docs }) => ({
    status: 'error',
    error: fault.message,
    code: named,
    ...(fault.parameter === undefined ? {} : { parameter: fault.parameter }),
    docs,
  }),
};
const codedReason: Shape = {
  schema: Type.Object({ status, reason: message, code }),
  body: (failure) => ({ status: 'error', reason: failure.faults[0].message, code: failure.code }),
};
const list: Shape = {
  schema: Type.Object({
    error: Type.Array(Type.Object({ msg: message }), { minItems: 1, maxItems: faultsMax }),
  }),
  body: ({ faults }) => ({ error: faults.map((fault) => ({ msg: fault.message })) }),
};
const textShape: Shape = {
  schema: Type.String({ description: 'a message for people' }),
  body: ({ faults: [fault] }) => `${fault.message}\n`,
};
/** The form of the endpoints that build PSBTs. */
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
const noFunds = Type.Object({
  success: Type.Literal(false),
  message,
  error: Type.Optional(
    Type.Array(Type.Object({ msg: message }), { description: 'what is available, and what is missing' }),
  ),
});
/**
 * The answer if funds are missing. Clients know the first message (client-compat 2.3). The second message has the
 * numbers.
 */
const withoutFunds = ({ faults: [fault, ...others] }: Failure): object => ({
  success: false,
  message: fault.message,
  ...(others.length === 0 ? {} : { error: others.map((other) => ({ msg: other.message })) }),
});
const tokenFault: Shape = {
  schema: Type.Union([list.schema, noFunds]),
  body: (failure) => (failure.code === 'token_balance_missing' ? withoutFunds(failure) : list.body(failure)),
};
const parameters = {
  schema: Type.Object({
    errors: Type.Array(
      Type.Object({
        msg: message,
        param: Type.String(),
        location: Type.Union([Type.Literal('query'), Type.Literal('params')], {
          description: 'params: in the path',
        }),
      }),
      { minItems: 1, maxItems: faultsMax },
    ),
  }),
  body: ({ faults }: Failure) => ({
    errors: faults.map((fault) => ({
      msg: fault.message,
      param: fault.parameter ?? '',
      location: fault.place === 'path' ? 'params' : 'query',
    })),
  }),
} satisfies Shape;

/** The form `parameters` with the error code, for errors without a form in the interface. */
const codedParameters: Shape = {
  schema: Type.Object({ ...parameters.schema.properties, code }),
  body: (failure) => ({ errors: parameters.body(failure).errors, code: failure.code }),
};

const json = {
  mediaType: 'application/json',
  hasPages: false,
  hasLists: false,
  inBody: false,
  refusesUnknown: false,
} as const;
const refused = { access: error, busy: reason };
const coded = { access: codedError, busy: codedReason, failure: codedReason };

const told: ErrorForm = { ...json, ...refused, fault: error, unknown: error, failure: reason };
const toldInBody: ErrorForm = { ...told, inBody: true };
const listed: ErrorForm = { ...told, fault: list, unknown: list, hasLists: true };

/** The forms of all paths. Each route names its form. The form does not depend on the route's URL. */
export const errorForms = {
  /** The form for the interface's searches. */
  search: toldInBody,
  /** The form for ord's paths and for our pages. */
  plain: { ...told, hasPages: true },
  /** The form for contents. Their errors are texts, because the frame or client that shows a content reads text. */
  text: {
    ...json,
    mediaType: 'text/plain',
    fault: textShape,
    unknown: textShape,
    access: textShape,
    busy: textShape,
    failure: textShape,
  },
  /** The form for paths that only this service has. */
  own: {
    ...json,
    hasPages: true,
    refusesUnknown: true,
    ...coded,
    fault: codedError,
    unknown: codedError,
  },
  /**
   * The form for our pages whose errors programs read too. Links to these pages may have parameters of other sites,
   * which are ignored.
   */
  ownPage: { ...json, hasPages: true, ...coded, fault: codedError, unknown: codedError },
  /** The form for GET `/order`, `/price`, `/referrals`. */
  orderRead: toldInBody,
  /** The form for endpoints that create or change orders, collections and referrals. */
  orderWrite: listed,
  /** POST `/textorder`. */
  textOrder: { ...listed, failure: error },
  /** The form for collections, inventory, scanner, extractor, `/mempool/api`, `/fxrate`. */
  serviceRead: told,
  /** The form for endpoints that build PSBTs, also for token payments. */
  psbt: { ...told, fault: builder, unknown: builder, failure: builder },
  /** The form for all other endpoints of token payments. */
  tokenpay: { ...listed, fault: tokenFault, failure: list },
  /** The form for GET `/marketplace/data/collections/activity`. The interface only has a form for faults. */
  marketplace: { ...json, ...coded, fault: parameters, unknown: codedParameters, hasLists: true },
  /** The form for this service's own paths below `/marketplace/data`. */
  market: {
    ...json,
    ...coded,
    fault: codedParameters,
    unknown: codedParameters,
    hasLists: true,
    refusesUnknown: true,
  },
} as const satisfies Readonly<Record<string, ErrorForm>>;

export type ErrorFormName = keyof typeof errorForms;

/** Statuses that stay the same even in forms that answer other faults with status 200. */
const plainStatuses: ReadonlySet<number> = new Set([401, 403, 405, 410, 429]);

/** The HTTP status of a failure in a form. */
export function statusIn(form: ErrorForm, { status: given, code }: Pick<Failure, 'status' | 'code'>): number {
  // HTTP requires this status on every path, because proxies read the status
  if (!form.inBody || code === 'header_repeated') return given;
  if (given < 500) return plainStatuses.has(given) ? given : 200;
  // the interface answers 500 to every failure of the database; a timeout keeps its status, so that it differs from
  // faults of this service
  return code.startsWith('postgres_') && code !== 'postgres_timeout' ? 500 : given;
}
