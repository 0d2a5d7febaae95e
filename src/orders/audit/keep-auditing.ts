import type pg from 'pg';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { type LastAudit, readLastAudit, writeLastAudit } from './audit.store.ts';
import { type AuditParts, auditOrders } from './audit-orders.ts';

export interface KeepAuditingOptions {
  /** Of the database, of the role that owns its tables. */
  readonly url: string;
  readonly node: BatchRpc;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Audits what another room keeps in the ledger, and collections, after the orders. */
  readonly beside: (parts: AuditParts) => Promise<readonly { readonly kind: string }[]>;
  /** Called with how the last audit ended, at the start too. Null: another process may audit from now on. */
  readonly onAudit: (audit: Pick<LastAudit, 'orders' | 'differing'> | null) => void;
  /** For tests: from the end of one audit to the next, and how often an order that differs is looked at. */
  readonly pace?: { readonly everyMs: number; readonly looks: number };
}

/** Sooner than people look, and far longer than an audit takes. */
const usualEveryMs = 600_000;
/** Nobody waits for it, and its finding makes the service not ready: orders have three minutes to be brought on. */
const usualLooks = 12;
/** An audit rests four times as long as it works: it takes a fifth of a core at most, of Postgres and node too. */
const restsFor = 4;

/**
 * Audits all orders again and again, until the signal is aborted: one process per database does so, another one stands
 * by. Memory: one page of orders.
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
    // the funds of the operator count as one more, and so does what is beside the orders
    const differing = audit.differing + (funds.length === 0 ? 0 : 1) + (others.length === 0 ? 0 : 1);
    const seconds = (performance.now() - startedAt) / 1000;
    await writeLastAudit(client, { seconds, orders, differing });
    onAudit({ orders, differing });
    if (differing === 0) return;
    // no ids: an order id is as good as a key
    const kinds = Map.groupBy([...differences, ...funds, ...others], ({ kind }) => kind);
    const counts = Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length]));
    log.error({ orders, differing, counts }, 'orders differ from the chain: satscribe audit names them');
  } catch (error) {
    // the age of the last one tells of it
    if (!(error instanceof AppError) || error.code !== 'audit_impossible') throw error;
    log.warn({ err: error }, 'orders could not be audited: it is tried again later');
  }
}
