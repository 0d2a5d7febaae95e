import type { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

/** A problem of a part of this process. */
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
  /**
   * Reports that a part does less than usual until the operator acts. The process stays ready, because its answers are
   * correct. Otherwise the same as `report`.
   */
  reportDegraded(part: string, error: AppError | null): void;
  /** The current problems, in the order in which they occurred. While there is one, the process is not ready. */
  problems(): readonly Problem[];
  /** Parts that do less than usual, in the order in which that began. */
  degraded(): readonly Problem[];
}

export function createHealth(now: () => Date = () => new Date()): Health {
  const problems = reportsOf(now);
  const degraded = reportsOf(now);
  return {
    report: problems.report,
    reportDegraded: degraded.report,
    problems: problems.list,
    degraded: degraded.list,
  };
}

/** Reports of parts, with the newest one of each part. */
function reportsOf(now: () => Date): {
  readonly report: Health['report'];
  readonly list: Health['problems'];
} {
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
    list: () => [...byPart.values()].toSorted((a, b) => a.since.getTime() - b.since.getTime()),
  };
}
