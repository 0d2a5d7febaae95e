import type pg from 'pg';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { readLastAudit } from '#orders/audit/audit.store.ts';

/** The last result of the audits that the service runs by itself. */
export async function auditSheet(pool: pg.Pool): Promise<ConsoleSheet> {
  const last = await readLastAudit(pool);
  return {
    title: 'Audit',
    parts: [
      last === null
        ? {
            kind: 'words',
            words: ['No audit has ended yet. The process with the seed audits every ten minutes.'],
          }
        : {
            kind: 'facts',
            facts: [
              ['Orders', last.orders],
              ['Orders that differ', last.differing],
              ['Ended, minutes ago', Math.round(last.ageSeconds / 60)],
              ['Took, seconds', Math.round(last.seconds)],
            ],
          },
      { kind: 'form', action: '/console/audit/run', button: 'Run an audit now', fields: {} },
    ],
  };
}
