import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { connectionLost } from '#kernel/pg/connection-lost.ts';

/**
 * What may pass by itself. `always`: for as long as it takes. `few`: an answer that was wrong may be right the next
 * time; one that stays wrong will not change by asking.
 */
type Patience = 'always' | 'few';

const patienceWithNode: Readonly<Partial<Record<ErrorCode, Patience>>> = {
  node_unreachable: 'always',
  node_warming_up: 'always',
  node_answer_invalid: 'always',
  // the node went another way while its blocks were read: the next plan knows
  block_unavailable: 'always',
  block_not_linked: 'few',
  block_truncated: 'few',
  block_oversized: 'few',
  block_corrupt: 'few',
  spent_outputs_mismatch: 'few',
  node_call_failed: 'few',
  tip_changed: 'few',
};
const patienceWithDatabase: Readonly<Partial<Record<ErrorCode, Patience>>> = {
  postgres_lost: 'always',
  postgres_unreachable: 'always',
  disk_full: 'always',
};
const triesMax = 5;

/** The first is short: most interruptions are. The longest is what a person waits for without a thought. */
const firstDelayMs = 200;
const longestDelayMs = 10_000;

/** SQLSTATE of a server whose disk is full (PostgreSQL manual, appendix A). */
const diskFull = '53100';

/** What was thrown, as the operating failure that it is; anything else stays what it is. */
export function operatingFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const { code } = error as { code?: unknown };
  if (code === diskFull || code === 'ENOSPC') {
    return new AppError('disk_full', `The disk of the database is full: ${error.message}`, {}, error);
  }
  return connectionLost(error);
}

/** Whether the connections to the database are of no more use after it. */
export function isOfDatabase({ code }: AppError): boolean {
  return code === 'tip_changed' || patienceWithDatabase[code] !== undefined;
}

/** Decides how often and how long a failure is waited for. Whatever works again begins the count anew. */
export class Retry {
  private readonly isLive: boolean;
  private readonly budgetMs: number;
  private failures = 0;
  private startedAt = 0;

  constructor(isLive: boolean, budgetMs: number) {
    this.isLive = isLive;
    this.budgetMs = budgetMs;
  }

  /** Something went well. */
  reset(): void {
    this.failures = 0;
  }

  /** How long to wait before the next attempt; null: it cannot help, or it took too long already. */
  delayAfter(error: unknown): number | null {
    if (!(error instanceof AppError)) return null;
    const patience =
      patienceWithDatabase[error.code] ?? (this.isLive ? patienceWithNode[error.code] : undefined);
    if (patience === undefined) return null;
    const now = performance.now();
    if (this.failures === 0) this.startedAt = now;
    const isSpent =
      patience === 'few'
        ? this.failures >= triesMax
        : // room on a disk is made by people, in their time
          error.code !== 'disk_full' && now - this.startedAt >= this.budgetMs;
    if (isSpent) return null;
    const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(this.failures, 16));
    this.failures++;
    // spread, so that several processes do not come back at the same moment
    return delayMs * (0.5 + Math.random() / 2);
  }
}
