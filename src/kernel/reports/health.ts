import type { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** A problem that stops a part of this process from working. */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly since: Date;
}

/** The problems of the parts of a process, for `/health/ready`. */
export interface Health {
  /**
   * Reports that a part cannot work because of this error. If the error is null, the part works again. If the code is
   * the same as before, `since` does not change.
   */
  report(part: string, error: AppError | null): void;
  /** The current problems, in the order in which they occurred. */
  problems(): readonly Problem[];
}

export function createHealth(now: () => Date = () => new Date()): Health {
  const byPart = new Map<string, Problem>();
  return {
    report: (part, error) => {
      if (error === null) {
        byPart.delete(part);
        return;
      }
      const since = byPart.get(part)?.code === error.code ? byPart.get(part)?.since : undefined;
      byPart.set(part, { code: error.code, message: error.message, since: since ?? now() });
    },
    problems: () => [...byPart.values()].toSorted((a, b) => a.since.getTime() - b.since.getTime()),
  };
}
