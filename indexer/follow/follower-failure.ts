import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { Backoff } from '#kernel/retry.ts';

/**
 * What may pass by itself. `always`: for as long as it takes. `few`: an answer that was wrong may be right the next
 * time; one that stays wrong changes when somebody mends the node, or another of its peers has the block. `mended`: somebody
 * has to do something at the node.
 */
type Hope = 'always' | 'few' | 'mended';

const hopeOfNode: Readonly<Partial<Record<ErrorCode, Hope>>> = {
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
  node_pruned: 'mended',
};
/** Of all that Postgres says (kernel/pg/postgres-failure.ts) only `postgres_refused` and `postgres_damaged` need a person first. */
const hopeOfDatabase: Readonly<Partial<Record<ErrorCode, Hope>>> = {
  postgres_lost: 'always',
  postgres_unreachable: 'always',
  postgres_exhausted: 'always',
  postgres_conflict: 'always',
  postgres_read_only: 'always',
  postgres_timeout: 'always',
  disk_full: 'always',
};
const triesMax = 5;

/** The first is short: most interruptions are. The longest is what a person waits for without a thought. */
const firstDelayMs = 200;
const longestDelayMs = 10_000;
/** What somebody has to mend is asked for so often: it costs a few requests, and whoever has mended it sees it go on. */
const mendedEveryMs = 60_000;

/** Whether the connections to the database are of no more use after it. */
export function isOfDatabase({ code }: AppError): boolean {
  return code === 'tip_changed' || hopeOfDatabase[code] !== undefined;
}

export interface PatienceOptions {
  /** The source is a node. */
  readonly isLive: boolean;
  /** How long failures that may pass are waited for, one after the other. */
  readonly budgetMs: number;
  /** Wait for people too: a service that goes on serving what it has. Of a node alone; a folder is read anew at a start. */
  readonly waitsForPeople: boolean;
  /** In place of the usual minute, for tests. */
  readonly mendedEveryMs?: number | undefined;
}

/** Decides how often and how long a failure is waited for. Whatever works again begins the count anew. */
export class Patience {
  private readonly options: PatienceOptions;
  private readonly backoff = new Backoff({ firstPauseMs: firstDelayMs, pauseMaxMs: longestDelayMs });
  private failures = 0;
  private startedAt = 0;

  constructor(options: PatienceOptions) {
    this.options = options;
  }

  /** Something went well. */
  reset(): void {
    this.failures = 0;
    this.backoff.reset();
  }

  /** How long to wait before the next attempt; null: it cannot help, or it took too long already. */
  delayAfter(error: unknown): number | null {
    if (!(error instanceof AppError)) return null;
    const { isLive, budgetMs } = this.options;
    const hope = hopeOfDatabase[error.code] ?? (isLive ? hopeOfNode[error.code] : undefined);
    if (hope === undefined) return null;
    const now = performance.now();
    if (this.failures === 0) this.startedAt = now;
    this.failures++;
    if (hope === 'mended' || (hope === 'few' && this.failures > triesMax)) return this.delayForPeople();
    // room on a disk is made by people, in their time
    const isSpent = hope === 'always' && error.code !== 'disk_full' && now - this.startedAt >= budgetMs;
    return isSpent ? null : this.backoff.next();
  }

  private delayForPeople(): number | null {
    const { isLive, waitsForPeople, mendedEveryMs: everyMs = mendedEveryMs } = this.options;
    return isLive && waitsForPeople ? everyMs : null;
  }
}
