import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { encodeSpentOutputs } from './spent-encoding.ts';

/**
 * Kinds of long answers that are not parsed by the serving thread.
 *
 * - `spent-outputs`: the spent outputs of a block, from `getblock <hash> 3`
 * - `mempool`: the ids of a mempool, from `getrawmempool false true`
 * - `hex-batch`: results in hex, from a batch of calls
 */
export type AnswerKind = 'spent-outputs' | 'mempool' | 'hex-batch';

export interface AnswerTask {
  readonly kind: AnswerKind;
  readonly bytes: Uint8Array;
}

/** Txids of a mempool (32 bytes each, internal order), and the mempool sequence number of the next change. */
export interface RawMempool {
  readonly txids: Uint8Array<ArrayBuffer>;
  readonly sequence: number;
}

/**
 * Results of a batch, one after another in `bytes`. For each result, `ends` has the position of its end, and `errors`
 * has the node's error code, or 0 if there is no error.
 */
export interface HexBatch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly errors: Int32Array<ArrayBuffer>;
}

/** Results of a read, in transferable buffers. */
export interface ReadAnswers {
  readonly 'spent-outputs': {
    readonly bytes: Uint8Array;
    readonly heights: Uint32Array<ArrayBuffer>;
  };
  readonly mempool: RawMempool;
  readonly 'hex-batch': HexBatch;
}

/**
 * `refused` has the node's error code, or 0 if the node returned neither a result nor an error. `failed` has the data
 * of an AppError.
 */
export type ReadAnswer<Kind extends AnswerKind = AnswerKind> =
  | { readonly kind: 'read'; readonly value: ReadAnswers[Kind] }
  | { readonly kind: 'refused'; readonly rpcCode: number; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };

const txidBytes = 32;
/** RPC_MISC_ERROR of Bitcoin Core. It is used for an error without a code. */
const unnamedError = -1;

/** Reads an answer. Returns a value for any bytes, and never throws. */
export function readAnswer({ kind, bytes }: AnswerTask): ReadAnswer {
  try {
    const answer = parsed(bytes);
    // a node that is starting or overloaded returns one error for the whole batch
    if (kind === 'hex-batch' && Array.isArray(answer)) return { kind: 'read', value: hexBatch(answer) };
    const refusal = refusalOf(answer);
    if (refusal !== null) return { kind: 'refused', ...refusal };
    const { result } = answer as { result: unknown };
    if (kind === 'hex-batch') throw invalid('a batch of calls');
    return { kind: 'read', value: kind === 'mempool' ? rawMempool(result) : spentOutputs(result) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, details } = error;
    return { kind: 'failed', code, message, details };
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusalOf(answer: unknown): { rpcCode: number; message: string } | null {
  if (typeof answer !== 'object' || answer === null) return { rpcCode: 0, message: '' };
  const { result, error } = answer as { result?: unknown; error?: unknown };
  if (typeof error === 'object' && error !== null) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    return {
      rpcCode: typeof code === 'number' ? code : unnamedError,
      message: typeof message === 'string' ? message : 'no reason given',
    };
  }
  return result === undefined || result === null ? { rpcCode: 0, message: '' } : null;
}

function spentOutputs(block: unknown): ReadAnswers['spent-outputs'] {
  const { bytes, heights } = encodeSpentOutputs(block);
  return { bytes, heights: Uint32Array.from(heights ?? []) };
}

function rawMempool(result: unknown): RawMempool {
  const { txids, mempool_sequence: sequence } = result as { txids?: unknown; mempool_sequence?: unknown };
  if (!Array.isArray(txids) || !Number.isSafeInteger(sequence)) throw invalid('getrawmempool');
  const all = Buffer.from(new ArrayBuffer(txids.length * txidBytes));
  txids.forEach((txid: unknown, index) => {
    const at = index * txidBytes;
    const isId = typeof txid === 'string' && txid.length === 2 * txidBytes;
    if (!isId || all.write(txid, at, 'hex') !== txidBytes) throw invalid('getrawmempool');
    // the node shows ids with their last byte first
    all.subarray(at, at + txidBytes).reverse();
  });
  return { txids: new Uint8Array(all.buffer), sequence: Number(sequence) };
}

function hexBatch(answers: readonly unknown[]): HexBatch {
  const ends = new Uint32Array(answers.length);
  const errors = new Int32Array(answers.length);
  let length = 0;
  const hexes = answers.map((answer, index) => {
    const refusal = refusalOf(answer);
    if (refusal !== null) {
      if (refusal.rpcCode === 0) throw invalid('a batch of calls');
      errors[index] = refusal.rpcCode;
      ends[index] = length;
      return '';
    }
    const { result } = answer as { result: unknown };
    if (typeof result !== 'string' || result.length % 2 !== 0) throw invalid('a batch of calls');
    length += result.length / 2;
    ends[index] = length;
    return result;
  });
  const bytes = Buffer.from(new ArrayBuffer(length));
  let at = 0;
  for (const hex of hexes) {
    if (bytes.write(hex, at, 'hex') !== hex.length / 2) throw invalid('a batch of calls');
    at += hex.length / 2;
  }
  return { bytes: new Uint8Array(bytes.buffer), ends, errors };
}

const invalid = (method: string): AppError =>
  new AppError('node_answer_invalid', `The node answered ${method} in an unknown form.`, { method });
