import type pg from 'pg';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { type LastAudit, readLastAudit, writeLastAudit } from './audit.store.ts';
import { type AuditParts, auditOrders } from './audit-orders.ts';

export interface KeepAuditingOptions {
  /** URL of the database, for the role that owns its tables. */
  readonly url: string;
  readonly node: BatchRpc;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Runs further audits after the audit of orders: collections, and entries that other modules keep in the ledger. */
  readonly beside: (parts: AuditParts) => Promise<readonly { readonly kind: string }[]>;
  /**
   * Receives the result of each audit, and at the start the result of the last audit. Receives null when this process
   * stops auditing. Another process may then audit.
   */
  readonly onAudit: (audit: Pick<LastAudit, 'orders' | 'differing'> | null) => void;
  /**
   * For tests: the time from the end of one audit to the next, and the maximum number of checks of an order that
   * differs.
   */
  readonly pace?: { readonly everyMs: number; readonly looks: number };
}

/** Pause between two audits, in ms. People read the results less often than that, and an audit takes far less time. */
const usualEveryMs = 600_000;
/**
 * Maximum number of checks of an order that differs. They take three minutes in all, so that orders can finish their
 * step. A difference makes the service not ready, and no one waits for this audit.
 */
const usualLooks = 12;
/**
 * How long an audit pauses after each page, as a multiple of the time for the page. With 4, an audit uses at most a
 * fifth of a core, of Postgres and of the node.
 */
const restsFor = 4;

/**
 * Audits all orders repeatedly, until the signal is aborted. One process per database does this work; a second process
 * waits to replace it. Needs the memory of one page of orders.
 */
export async function keepAuditing(options: KeepAuditingOptions): Promise<void> {
  const { url, signal, log, onAudit } = options;
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe audit',
      lock: 'audit',
      what: 'audits',
      signal,
      log,
      hasCookieFile: true,
    },
    async (client) => {
      try {
        await auditAgain(client, options);
      } finally {
        onAudit(null);
      }
    },
  );
}

async function auditAgain(client: pg.Client, options: KeepAuditingOptions): Promise<void> {
  const { signal, onAudit, pace } = options;
  const everyMs = pace?.everyMs ?? usualEveryMs;
  const last = await readLastAudit(client);
  if (last !== null) {
    onAudit(last);
    await pause(Math.max(0, everyMs - last.ageSeconds * 1000), signal);
  }
  while (!signal.aborted) {
    await auditOnce(client, options);
    await pause(everyMs, signal);
  }
}

async function auditOnce(
  client: pg.Client,
  { node, signal, log, onAudit, beside, pace }: KeepAuditingOptions,
): Promise<void> {
  const startedAt = performance.now();
  try {
    const parts: AuditParts = {
      database: client,
      node,
      signal,
      looks: pace?.looks ?? usualLooks,
      rest: (workedMs) => pause(workedMs * restsFor, signal),
    };
    const { orders, differences, funds, ...audit } = await auditOrders(parts);
    const others = await beside(parts);
    // the operator's funds count as one more order, and all other audits together as another
    const differing = audit.differing + (funds.length === 0 ? 0 : 1) + (others.length === 0 ? 0 : 1);
    const seconds = (performance.now() - startedAt) / 1000;
    await writeLastAudit(client, { seconds, orders, differing });
    onAudit({ orders, differing });
    if (differing === 0) return;
    // the log contains no ids, because an order id gives access to the order
    const kinds = Map.groupBy([...differences, ...funds, ...others], ({ kind }) => kind);
    const counts = Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length]));
    log.error(
      { orders, differing, counts },
      'orders differ from the chain; run satscribe audit to see the differences',
    );
  } catch (error) {
    // the failure is visible, because the age of the last audit grows
    if (!(error instanceof AppError) || error.code !== 'audit_impossible') throw error;
    log.warn({ err: error }, 'orders could not be audited; the audit is tried again later');
  }
}
