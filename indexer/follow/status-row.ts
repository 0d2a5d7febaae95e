import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';

/**
 * How often the row is written without a change, in ms. If a row is much older, readers know that no process maintains
 * it.
 */
const writeEveryMs = 3000;
/** How long the process waits at its end for the last write, in ms, because the database may be gone. */
const lastWriteMs = 2000;

/** Stores the status of the indexing process, replacing the previous one. */
export async function writeFollowerStatus(
  client: pg.Pool | pg.ClientBase,
  { state, source, sourceTip, problem, updatedAt }: FollowerStatus,
): Promise<void> {
  await client.query(
    `INSERT INTO chain.follower_status AS s
       (state, source, source_height, source_hash, problem_code, problem_message, problem_since, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (one) DO UPDATE SET state = excluded.state, source = excluded.source,
       source_height = excluded.source_height, source_hash = excluded.source_hash,
       problem_code = excluded.problem_code, problem_message = excluded.problem_message,
       problem_since = excluded.problem_since, updated_at = excluded.updated_at`,
    [
      state,
      source,
      sourceTip?.height ?? null,
      sourceTip?.hash ?? null,
      problem?.code ?? null,
      problem?.message ?? null,
      problem?.since ?? null,
      updatedAt,
    ],
  );
}

/**
 * Keeps the row up to date: writes every change, and also writes every few seconds. A failed write is repeated with the
 * next write, because an unwritable database is the very problem that the row would report. Only the process with the
 * writer's lock may use it.
 */
export class StatusRow {
  readonly #pool: pg.Pool;
  readonly #onStatus: (status: FollowerStatus) => void;
  #status: Omit<FollowerStatus, 'updatedAt'>;
  #isKept = false;
  #writing: Promise<void> | null = null;
  #isStale = false;
  readonly #timer: NodeJS.Timeout;

  constructor(pool: pg.Pool, source: string, onStatus: (status: FollowerStatus) => void) {
    this.#pool = pool;
    this.#onStatus = onStatus;
    this.#status = { state: 'syncing', source, sourceTip: null, problem: null };
    this.#timer = setInterval(() => this.#write(), writeEveryMs);
    this.#timer.unref();
  }

  /**
   * Sets whether this process has the lock and may write. Without the lock, another process may have it and report its
   * own status.
   */
  keep(isKept: boolean): void {
    this.#isKept = isKept;
  }

  /**
   * Changes the status; omitted fields are unchanged. If the problem is the same as before, the time of its first
   * occurrence is kept.
   */
  set(change: Partial<Pick<FollowerStatus, 'state' | 'sourceTip' | 'problem'>>): void {
    const before = this.#status;
    const problem = change.problem === undefined ? before.problem : sinceWhen(change.problem, before.problem);
    this.#status = { ...before, ...change, problem };
    const isChanged =
      this.#status.state !== before.state ||
      problem?.code !== before.problem?.code ||
      this.#status.sourceTip?.height !== before.sourceTip?.height;
    if (!isChanged) return;
    this.#onStatus({ ...this.#status, updatedAt: new Date() });
    this.#write();
  }

  /** Writes the last status and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.set({ state: 'ended' });
    const written = (async () => {
      while (this.#writing !== null) await this.#writing;
    })();
    await Promise.race([written, sleep(lastWriteMs, undefined, { ref: false })]);
  }

  #write(): void {
    if (!this.#isKept) return;
    this.#isStale = true;
    this.#writing ??= this.#writeStale().finally(() => {
      this.#writing = null;
    });
  }

  async #writeStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        await writeFollowerStatus(this.#pool, { ...this.#status, updatedAt: new Date() });
      } catch {
        return;
      }
    }
  }
}

type Problem = FollowerStatus['problem'];

function sinceWhen(problem: Problem, before: Problem): Problem {
  return problem === null || problem.code !== before?.code ? problem : { ...problem, since: before.since };
}
