import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { tlsFailure } from '#kernel/errors/tls-failure.ts';
import type { Refusal } from './credentials.ts';

/** RPC_IN_WARMUP (Bitcoin Core rpc/protocol.h). */
const inWarmup = -28;
/** The message of `bitcoin-core` for JSON that is neither result nor error. */
const noAnswer = 'An error occurred while processing the RPC call to bitcoind';
/** The message of `bitcoin-core` for an answer without a result. */
const noResult = 'Missing `result` on the RPC call result';

/** A call, for messages. */
export interface Call {
  readonly url: string;
  readonly name: string;
  readonly redact: (text: string) => string;
  /** Why the node refused the credentials. */
  readonly refusal: () => Refusal;
}

/** Whether the node refused user and password. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && error.name === 'RpcError' && codeOf(error) === 401;
}

/**
 * Converts the error of a call to an AppError. Returns an AppError unchanged. The original error does not become its
 * `cause`, because the original error may contain the request.
 */
export function failureOfCall(error: unknown, call: Call): AppError {
  if (error instanceof AppError) return error;
  const reason = call.redact(
    error instanceof Error && error.message !== '' ? error.message : 'no reason given',
  );
  const code = codeOf(error);
  if (error instanceof Error && error.name === 'RpcError' && typeof code === 'number') {
    return failureOfAnswer(code, reason, call);
  }
  if (tlsFailure(error) !== null) {
    return new AppError(
      'node_tls',
      `The node at ${call.url} answers, but the connection by TLS failed: ${call.redact(reason)}`,
      { method: call.name, reason: code },
    );
  }
  if (typeof code === 'string') {
    return new AppError(
      'node_unreachable',
      `The node at ${call.url} does not answer ${call.name}: ${call.redact(reason)}`,
      { method: call.name, reason: code },
    );
  }
  return new AppError(
    'node_answer_invalid',
    `The node at ${call.url} gave no valid answer to ${call.name}.`,
    {
      method: call.name,
    },
  );
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

/** The AppError for a refused call. Positive codes are HTTP statuses, and negative codes come from the node. */
export function failureOfAnswer(code: number, reason: string, call: Call): AppError {
  if (code < 0) return failureOfRpc(code, call.redact(reason), call);
  const details = { method: call.name, status: code };
  const where = `The node at ${call.url}`;
  if (code === 401 || code === 403) {
    const refusal: Refusal =
      code === 401
        ? call.refusal()
        : { code: 'node_refused', why: 'calls from this IP address are not allowed' };
    return new AppError(refusal.code, `${where} denies access, because ${refusal.why}.`, details);
  }
  if (code === 503) return new AppError('node_unreachable', `${where} is overloaded (503).`, details);
  return new AppError('node_answer_invalid', `${where} answers ${call.name} with status ${code}.`, details);
}

function failureOfRpc(rpcCode: number, reason: string, call: Call): AppError {
  const details = { method: call.name, rpcCode };
  let code: ErrorCode = 'node_call_failed';
  if (rpcCode === inWarmup) code = 'node_warming_up';
  if (reason === noAnswer || reason === noResult) code = 'node_answer_invalid';
  return new AppError(
    code,
    `The node at ${call.url} answers ${call.name} with error ${rpcCode}: ${reason}`,
    details,
  );
}
