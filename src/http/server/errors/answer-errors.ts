import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { keyFaults } from '#http/server/access/guard-routes.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { retryAfterSeconds } from '#kernel/retry.ts';
import type { Markup } from '#web/html.ts';
import { errorPage } from '#web/pages/error.page.ts';
import { type ErrorForm, errorForms, type Failure, type Fault, kindOf, statusIn } from './error-forms.ts';
import { firstPageOf } from './first-page.ts';
import { InvalidRequest } from './invalid-request.ts';
import { faultsOf } from './schema-faults.ts';
import { searchInstead } from './search-instead.ts';

/**
 * The HTTP statuses of the failures that clients may see. All other codes are answered with 500 and without details.
 */
const statusByCode: Readonly<Partial<Record<ErrorCode, number>>> = {
  request_invalid: 400,
  header_repeated: 400,
  key_missing: 401,
  key_refused: 401,
  key_ambiguous: 401,
  key_scope: 403,
  console_form_foreign: 403,
  console_changed: 409,
  rate_limited: 429,
  too_many_at_once: 429,
  test_payments_spent: 429,
  test_payment_refused: 503,
  search_text_invalid: 400,
  search_too_broad: 400,
  not_found: 404,
  collection_unknown: 404,
  // like no_node, this depends on how the server was started, so a repeated request gets the same answer
  sales_not_indexed: 404,
  runes_not_indexed: 404,
  parameter_unknown: 400,
  field_unknown: 400,
  token_balance_missing: 400,
  tokenpay_withdrawal_refuses: 409,
  tokenpay_address_last: 409,
  tokenpay_addresses_max: 409,
  watches_max: 409,
  watches_off: 503,
  watch_too_broad: 400,
  body_too_large: 413,
  media_type_unsupported: 415,
  no_node: 404,
  utxo_source_missing: 404,
  method_not_allowed: 405,
  cursor_stale: 410,
  file_gone: 410,
  address_too_large: 422,
  not_acceptable: 406,
  url_too_long: 414,
  // the data may be available again at any moment
  node_unreachable: 503,
  node_warming_up: 503,
  node_tls: 503,
  postgres_lost: 503,
  postgres_unreachable: 503,
  postgres_tls: 503,
  postgres_pooled: 503,
  postgres_exhausted: 503,
  postgres_conflict: 503,
  postgres_read_only: 503,
  disk_full: 503,
  file_unusable: 503,
  // the same request would take just as long again
  postgres_timeout: 504,
  events_not_ready: 503,
  derived_table_behind: 503,
  index_missing: 503,
  too_many_streams: 503,
  search_busy: 503,
  contents_busy: 503,
  answers_busy: 503,
  holders_busy: 503,
  sales_busy: 503,
  sats_busy: 503,
  utxo_source_unreachable: 503,
  utxo_source_invalid: 503,
  utxo_scan_busy: 503,
  coins_unproven: 503,
  previous_transaction_missing: 503,
  mempool_not_followed: 503,
  search_engine_unreachable: 503,
  search_engine_tls: 503,
  search_engine_refused: 503,
  search_engine_busy: 503,
  search_engine_full: 503,
  search_engine_slow: 503,
  search_engine_missing: 503,
  search_engine_behind: 503,
  search_engine_rejected: 503,
  search_engine_failed: 503,
  access_unavailable: 503,
  order_refuses: 409,
  inventory_taken: 409,
  inventory_reserved_max: 409,
  collection_items_taken: 409,
  collection_unpaid_max: 409,
  token_check_away: 503,
  token_refused: 401,
  collection_undecided_max: 409,
  idempotency_key_reused: 422,
  idempotency_key_busy: 409,
  orders_off: 503,
  miner_silent: 503,
  fx_rates_missing: 503,
  wallet_indices_unreleased: 503,
  inscription_not_indexed: 503,
  not_offered: 501,
  overloaded: 503,
  bodies_busy: 503,
};

/** Refusals because of the load of other clients. They are not failures, and the request metrics count them. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'search_busy',
  'contents_busy',
  'answers_busy',
  'holders_busy',
  'sales_busy',
  'sats_busy',
  'utxo_scan_busy',
  'coins_unproven',
  'previous_transaction_missing',
  'too_many_streams',
  'derived_table_behind',
  'index_missing',
  'overloaded',
  'bodies_busy',
  'not_offered',
  // these states depend on how the service was started, not on an event
  'mempool_not_followed',
  'orders_off',
  'watches_off',
  'test_payment_refused',
  'fx_rates_missing',
  'wallet_indices_unreleased',
  'inscription_not_indexed',
]);

/** Whether an error is expected. Such an error is not logged as a failure. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  // an unreachable search server is logged once, when its failure begins
  return refusals.has(error.code) || error.code.startsWith('search_engine_');
}

/** Whether an error says that a client has more things open than its share. */
export const isTooMuchAtOnce = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'too_many_at_once';

/**
 * The message that clients get for a failure of this service. Only the log says where the failure happened, and has its
 * details.
 */
export function toldOf({ code, message }: AppError): string {
  if (code.startsWith('node_')) return 'the node does not answer';
  if (code === 'postgres_timeout') return 'the database takes too long for this answer; request less at once';
  if (code.startsWith('postgres_') || code === 'disk_full') return 'the database does not answer';
  if (code === 'file_unusable') return 'the server cannot use its files now';
  if (code === 'search_engine_behind')
    return 'the search index is not up to date yet; try again in a few seconds';
  return code.startsWith('search_engine_')
    ? 'searches cannot be answered now; try again in a few seconds'
    : message;
}

type Found = Omit<Failure, 'docs'> & {
  /** The header Retry-After, in seconds. Absent if the same request will fail again. */
  readonly retryAfter?: number;
};

const internal: Found = { status: 500, code: 'internal_error', faults: [{ message: 'internal error' }] };

function operatingFailureOf(error: AppError): Found {
  const { code, details } = error;
  const status = statusByCode[code];
  if (status === undefined) return internal;
  const { parameter, place, more, retryAfterSeconds: known } = details;
  const isBusy = status === 503 || code === 'too_many_at_once';
  const retryAfter = typeof known === 'number' ? known : isBusy ? retryAfterSeconds(code) : null;
  if (error instanceof InvalidRequest) return { status, code, faults: error.faults };
  const message = toldOf(error);
  const fault: Fault = {
    message,
    ...(typeof parameter === 'string' ? { parameter } : {}),
    ...(place === 'path' ? { place } : {}),
  };
  const others = typeof more === 'string' ? [{ message: more }] : [];
  return { status, code, faults: [fault, ...others], ...(retryAfter === null ? {} : { retryAfter }) };
}

function failureOf(error: unknown): Found {
  if (error instanceof AppError) return operatingFailureOf(error);
  if (!(error instanceof Error)) return internal;
  const { validation, validationContext, statusCode } = error as FastifyError;
  if (validation !== undefined) {
    return { status: 400, code: 'request_invalid', faults: faultsOf(validation, validationContext ?? '') };
  }
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return internal;
  return { status: statusCode, code: 'request_invalid', faults: [{ message: error.message }] };
}

/** Answers any error in the form of its path. An unexpected error is logged in full and answered without details. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = failureOf(postgresFailure(error));
  // if the client disconnected, its query was cancelled
  if (failure.status >= 500 && !isRefusal(error) && !request.raw.socket.destroyed) {
    request.log.error({ err: error, method: request.method, url: shownUrl(request.url) }, 'request failed');
  }
  return sendFailure(failure, request, reply);
}

function sendFailure(found: Found, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { config, schema } = request.routeOptions;
  const form: ErrorForm = errorForms[config.errors ?? 'plain'];
  const failure: Failure = { ...found, docs: docsOf(schema) };
  const status = statusIn(form, failure);
  reply.code(status).header('cache-control', 'no-store').removeHeader('etag');
  if (found.retryAfter !== undefined) reply.header('retry-after', found.retryAfter);
  if (form.hasPages) {
    if (prefersHtml(request.headers.accept)) {
      return sendPage(reply, errorPageOf(failure, status, request, reply));
    }
    varyBy(reply, 'Accept');
  }
  return reply.type(`${form.mediaType}; charset=utf-8`).send(form[kindOf(found.status)].body(failure));
}

function errorPageOf(failure: Failure, status: number, request: FastifyRequest, reply: FastifyReply): Markup {
  const isGet = request.method === 'GET';
  const isNamed = status === 400 || status === 404;
  return errorPage({
    site: siteOfApp(reply),
    status,
    title: STATUS_CODES[status] ?? 'Error',
    message: failure.faults[0].message,
    keyFor: isGet && keyFaults.has(failure.code) ? request.url : null,
    firstPage: isGet && failure.code === 'cursor_stale' ? firstPageOf(request.url) : null,
    instead: isGet && isNamed ? searchInstead(request.url, request.is404) : null,
  });
}

/**
 * Link to the part of the reference that documents a path. For an unknown path, the link leads to the entire reference.
 */
function docsOf(
  schema: { readonly tags?: readonly string[]; readonly operationId?: string } | undefined,
): string {
  const [tag] = schema?.tags ?? [];
  const operation = schema?.operationId;
  return tag === undefined || operation === undefined ? '/docs/' : `/docs/#/${tag}/${operation}`;
}

/** Answers unknown paths. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const method = request.method === 'GET' || request.method === 'HEAD' ? '' : `${request.method} `;
  const message = `there is no ${method}${pathOf(request)}`;
  return sendFailure({ status: 404, code: 'not_found', faults: [{ message }] }, request, reply);
}

/** A path, shortened for display. */
function pathOf(request: FastifyRequest): string {
  return shortened(request.url.split('?', 1)[0] ?? '', 100);
}

/**
 * A URL, shortened for the log. A URL has up to 32 kB, and if the database fails, every request is logged, so complete
 * URLs could fill the disk. The beginning is enough to identify a search.
 */
const shownUrl = (url: string): string => shortened(url, 500);

const shortened = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars)}…`;
