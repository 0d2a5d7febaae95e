import type pg from 'pg';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';
import type { ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { recordAction, recordResult } from './actions.store.ts';
import { words } from './operator-action.ts';

/** The result of the audits that `satscribe audit` runs. */
export interface AuditResult {
  readonly orders: number;
  /** The kind of each difference. */
  readonly kinds: readonly string[];
}

export interface AuditRunsParts {
  readonly pool: pg.Pool;
  /** Runs all audits. Null: this process has no node. */
  readonly audit: (() => Promise<AuditResult>) | null;
  readonly log: Logger;
}

/** Audits that operators start. One runs at a time, because it reads the whole ledger. */
export class AuditRuns {
  readonly #parts: AuditRunsParts;
  #startedAt: Date | null = null;
  #running: Promise<void> = Promise.resolve();
  #last: string | null = null;

  constructor(parts: AuditRunsParts) {
    this.#parts = parts;
  }

  /** Starts an audit, unless one runs. Returns the words for the operator. */
  async start(session: ConsoleSession): Promise<string> {
    const { pool, audit } = this.#parts;
    if (audit === null) return 'This process has no node, so it cannot audit. Use satscribe audit.';
    if (this.#startedAt !== null) return 'An audit runs already. Load this page again to see its result.';
    this.#startedAt = new Date();
    try {
      const action = { action: 'audit', target: 'all orders', parameters: {}, result: null };
      const id = await recordAction(pool, session, action);
      this.#running = this.#run(id, audit);
    } catch (error) {
      this.#startedAt = null;
      throw error;
    }
    return 'The audit has begun. Load this page again to see its result.';
  }

  /** Settles when no audit runs. */
  ended(): Promise<void> {
    return this.#running;
  }

  shown(): ConsolePart {
    if (this.#startedAt !== null)
      return words(`An audit has been running since ${this.#startedAt.toISOString()}.`);
    return words(
      ...(this.#last === null
        ? []
        : [`The result of the last audit that an operator started here: ${this.#last}`]),
    );
  }

  async #run(id: number, audit: NonNullable<AuditRunsParts['audit']>): Promise<void> {
    const { pool, log } = this.#parts;
    const result = await audit().then(wordsOf, (error: unknown) => {
      log.warn({ err: error }, 'an audit of the console failed');
      return failedWords(error);
    });
    this.#last = result;
    this.#startedAt = null;
    // the page shows the result even if the record cannot be completed
    await recordResult(pool, id, result).catch((error: unknown) => {
      log.warn({ err: error }, 'the result of an audit of the console was not recorded');
    });
  }
}

function wordsOf({ orders, kinds }: AuditResult): string {
  if (kinds.length === 0) return `${orders} orders were compared, and nothing differs.`;
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${kind} (${all.length})`);
  return `${orders} orders were compared. Differences: ${counts.join(', ')}. satscribe audit lists each of them.`;
}

const failedWords = (error: unknown): string =>
  `The audit failed. ${error instanceof AppError ? error.message : 'The log of this process says why.'} Try again, or use satscribe audit.`;
