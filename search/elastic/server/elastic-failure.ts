import { errors } from '@elastic/elasticsearch';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** The fields of an Elasticsearch error that are read. */
export interface ElasticReason {
  readonly type?: string;
  readonly reason?: string;
}

/** The call's name in messages. It contains no sent data and no credentials. */
export interface ElasticCall {
  readonly method: string;
  readonly path: string;
  /** Address without user and password. */
  readonly url: string;
}

/** Maximum length of a reason in messages. Reasons may repeat sent data, and longer texts say no more. */
const reasonMaxLength = 300;

/** Matches Node's messages about certificates and handshakes, because the client keeps only the text. */
const aboutTls = /certificate|altnames|EPROTO|SSL routines|secure TLS connection/u;

/**
 * The AppError for the error of a call. The original error is not its `cause`, because it may contain the request and
 * its headers.
 */
export function failureOfElasticCall(error: unknown, call: ElasticCall): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.ResponseError) {
    return failureOfStatus(error.statusCode ?? 0, reasonOf(error.body), call);
  }
  const where = `Elasticsearch at ${call.url}`;
  const details = { method: call.method, path: call.path };
  if (error instanceof errors.TimeoutError) {
    return new AppError('search_engine_slow', `${where} did not answer ${call.path} in time.`, details);
  }
  if (error instanceof errors.ConnectionError && aboutTls.test(error.message)) {
    return new AppError(
      'search_engine_tls',
      `${where} answers, but the connection by TLS failed: ${error.message}`,
      details,
    );
  }
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError) {
    return new AppError('search_engine_unreachable', `${where} does not answer: ${error.message}`, details);
  }
  if (error instanceof errors.ProductNotSupportedError) {
    return new AppError('search_engine_rejected', `The server at ${call.url} is not Elasticsearch.`, details);
  }
  return new AppError('search_engine_failed', `${where} gave no valid answer to ${call.path}.`, details);
}

/** The AppError for an answer with an error status, for a whole call or for one item of a bulk. */
export function failureOfStatus(
  status: number,
  { type, reason }: ElasticReason,
  call: ElasticCall,
): AppError {
  const said = [type, reason].filter((part) => part !== undefined).join(': ');
  const shown = said === '' ? `status ${status}` : said.slice(0, reasonMaxLength);
  const details = { method: call.method, path: call.path, status, type: type ?? null };
  if (reason?.includes('too many nested clauses') === true) {
    return new AppError(
      'search_too_broad',
      'There are too many needles for one search, or they are too long.',
      details,
    );
  }
  return new AppError(codeOf(status, type, reason), `Elasticsearch at ${call.url}: ${shown}`, details);
}

const codeByType: Readonly<Record<string, ErrorCode>> = {
  es_rejected_execution_exception: 'search_engine_busy',
  circuit_breaking_exception: 'search_engine_busy',
  index_not_found_exception: 'search_engine_missing',
  search_context_missing_exception: 'search_engine_missing',
};

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'search_engine_refused',
  403: 'search_engine_refused',
  404: 'search_engine_missing',
  408: 'search_engine_slow',
  429: 'search_engine_busy',
  504: 'search_engine_slow',
};

/**
 * Whether the server has no room for a document even if it is sent alone. In the heap, a document takes four times its
 * size, in addition to the request.
 */
function isTooLarge(reason: string): boolean {
  const [, size, most] = /primary_operation_bytes=(\d+), max_primary_bytes=(\d+)/u.exec(reason) ?? [];
  return Number(size) * 1.25 > Number(most);
}

function codeOf(status: number, type = '', reason = ''): ErrorCode {
  // a full disk gives status 429 since version 8; it gives 403 if the block was set by hand or by an older version
  const isBlocked = type === 'cluster_block_exception' && /disk|read-only/u.test(reason);
  if (isBlocked || reason.includes('No space left on device')) return 'search_engine_full';
  if (isTooLarge(reason)) return 'search_engine_rejected';
  const known = codeByType[type] ?? codeByStatus[status];
  return known ?? (status >= 400 && status < 500 ? 'search_engine_rejected' : 'search_engine_failed');
}

/** The error in a body. The body is an object, or a text if a proxy answered. */
export function reasonOf(body: unknown): ElasticReason {
  const error = (body as { error?: unknown } | null | undefined)?.error;
  if (typeof error === 'string') return { reason: error };
  if (typeof error !== 'object' || error === null) return {};
  const { type, reason, root_cause: causes } = error as ElasticReason & { root_cause?: ElasticReason[] };
  // if a search failed on its shards, the cause has the reason
  const cause = type === 'search_phase_execution_exception' ? causes?.[0] : undefined;
  return cause ?? { ...(type === undefined ? {} : { type }), ...(reason === undefined ? {} : { reason }) };
}
