import type { ErrorCode } from './error-codes.ts';

/**
 * An operating failure, which means that something outside the code is wrong. A broken invariant is an assertion
 * instead, and an expected outcome is a return value. docs/errors.md has the meaning of each code, and the remedy.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AppError';
    this.code = code;
    this.details = details;
  }
}
