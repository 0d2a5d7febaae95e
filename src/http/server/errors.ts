import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '#http/pages/send-page.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { retryAfterSeconds } from '#kernel/retry.ts';
import { errorPage } from '#web/error.page.ts';
import { prefersHtml } from './accept.ts';
import { varyBy } from './vary.ts';

/** HTTP status of the failures that a client may be told of; every other code is a 500 and says nothing to the client. */
const statusByCode: Readonly<Partial<Record<ErrorCode, number>>> = {
  request_invalid: 400,
  key_missing: 401,
  key_refused: 401,
  key_ambiguous: 401,
  key_scope: 403,
  rate_limited: 429,
  search_text_invalid: 400,
  search_too_broad: 400,
  not_found: 404,
  no_node: 404,
  method_not_allowed: 405,
  cursor_stale: 410,
  address_too_large: 422,
  not_acceptable: 406,
  url_too_long: 414,
  // it may answer again at any moment
  node_unreachable: 503,
  node_warming_up: 503,
  postgres_lost: 503,
  postgres_unreachable: 503,
  postgres_exhausted: 503,
  postgres_conflict: 503,
  postgres_read_only: 503,
  disk_full: 503,
  // the same again would take as long
  postgres_timeout: 504,
  events_not_ready: 503,
  derived_table_behind: 503,
  too_many_streams: 503,
  search_busy: 503,
  mempool_not_followed: 503,
  search_engine_unreachable: 503,
  search_engine_refused: 503,
  search_engine_busy: 503,
  search_engine_full: 503,
  search_engine_slow: 503,
  search_engine_missing: 503,
  search_engine_behind: 503,
  search_engine_rejected: 503,
  search_engine_failed: 503,
  access_unavailable: 503,
  overloaded: 503,
};

interface Failure {
  readonly status: number;
  /** What the client is told. */
  readonly message: string;
  /** The header Retry-After, in seconds; null: the same request will fail again. */
  readonly retryAfter?: number | null;
  /** Status on the paths of searches where it is another one. */
  readonly searchStatus?: number;
}

/** How a path answers errors (docs/http.md, "Errors"). */
type ErrorForm = 'search' | 'json' | 'text' | 'page';

function errorForm(request: FastifyRequest): ErrorForm {
  const path = request.url.split('?', 1)[0] ?? '';
  if (/^\/(?:search|indexer)(?:\/|$)/u.test(path)) return 'search';
  if (/^\/(?:content|preview)(?:\/|$)/u.test(path)) return 'text';
  return prefersHtml(request.headers.accept) ? 'page' : 'json';
}

/** Statuses that mean what they say also on the paths of searches. */
const plainStatuses: ReadonlySet<number> = new Set([401, 403, 405, 410, 429]);

/** What is refused because of what others ask is no failure: the measurements of requests count it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const { code } = error;
  // that a search server does not answer is told once where it begins
  return (
    code === 'search_busy' ||
    code === 'too_many_streams' ||
    code === 'derived_table_behind' ||
    code === 'overloaded' ||
    code.startsWith('search_engine_')
  );
}

/** What a client is told of a failure of ours: where it is and what it said is for the log. */
function toldOf({ code, message }: AppError): string {
  if (code.startsWith('node_')) return 'the node does not answer';
  if (code === 'postgres_timeout') return 'the answer takes the database too long: ask for less at once';
  if (code.startsWith('postgres_') || code === 'disk_full') return 'the database does not answer';
  if (code === 'search_engine_behind')
    return 'searches are not up to date with the chain yet: try again in a few seconds';
  return code.startsWith('search_engine_')
    ? 'searches cannot be answered now: try again in a few seconds'
    : message;
}

const internal: Failure = { status: 500, message: 'internal error' };

function operatingFailureOf(error: AppError): Failure {
  const status = statusByCode[error.code];
  if (status === undefined) return internal;
  const retryAfter = status === 503 ? retryAfterSeconds(error.code) : null;
  const failure = { status, message: toldOf(error), retryAfter };
  // the interface has 500 for whatever goes wrong here; what took too long is to be told from what is broken
  return error.code.startsWith('postgres_') && error.code !== 'postgres_timeout'
    ? { ...failure, searchStatus: 500 }
    : failure;
}

function failureOf(error: unknown): Failure {
  if (error instanceof AppError) return operatingFailureOf(error);
  if (!(error instanceof Error)) return internal;
  const { validation, statusCode, code } = error as FastifyError;
  if (validation !== undefined) return { status: 400, message: error.message };
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return internal;
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') {
    return { status: 400, message: 'the body is not JSON' };
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return { status: statusCode, message: 'the body must be sent with content-type: application/json' };
  }
  return { status: statusCode, message: error.message };
}

/** Answers any error in the form of its path. What nobody expected is logged in full and answered without a word. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = failureOf(postgresFailure(error));
  // whoever went away had what ran for it cut
  if (failure.status >= 500 && !isRefusal(error) && !request.raw.socket.destroyed) {
    request.log.error({ err: error, method: request.method, url: request.url }, 'request failed');
  }
  return sendFailure(failure, request, reply);
}

function sendFailure(failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, retryAfter } = failure;
  reply.header('cache-control', 'no-store').removeHeader('etag');
  if (typeof retryAfter === 'number') reply.header('retry-after', retryAfter);
  const body = status < 500 ? { status: 'error', error: message } : { status: 'error', reason: message };
  switch (errorForm(request)) {
    case 'search':
      // what the client did wrong is a normal answer on the paths of searches (interface, section 7); another method is
      // no question of theirs, and who may not ask, or not so often, must be able to tell by the status
      return reply
        .code(status < 500 && !plainStatuses.has(status) ? 200 : (failure.searchStatus ?? status))
        .send(body);
    case 'json':
      varyBy(reply, 'Accept');
      return reply.code(status).send(body);
    case 'text':
      return reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
    case 'page': {
      const title = STATUS_CODES[status] ?? 'Error';
      return sendPage(reply.code(status), errorPage({ status, title, message }));
    }
  }
}

/** Answers paths that lead nowhere. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const method = request.method === 'GET' || request.method === 'HEAD' ? '' : `${request.method} `;
  return sendFailure({ status: 404, message: `there is no ${method}${pathOf(request)}` }, request, reply);
}

/** A path short enough to be shown. */
function pathOf(request: FastifyRequest): string {
  const path = request.url.split('?', 1)[0] ?? '';
  return path.length <= 100 ? path : `${path.slice(0, 100)}…`;
}

// What Node's parser refuses before there is a request, with the words for it.
const clientErrors: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the URL and headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request took too long' },
};

/**
 * Answers what Node's HTTP parser refuses (431, 413, 408, 400), in the form of our other errors; by default it
 * would close the connection with an empty answer.
 */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = clientErrors[error.code ?? ''] ?? {
    status: 400,
    message: 'this is not an HTTP request',
  };
  const body = JSON.stringify({ status: 'error', error: message });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Access-Control-Allow-Origin: *',
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
