import type pg from 'pg';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { readLastAudit } from '#orders/audit/audit.store.ts';

/** The first page: the work that waits for a person. */
export async function overviewSheet(pool: pg.Pool): Promise<ConsoleSheet> {
  const audit = await readLastAudit(pool);
  return {
    title: 'Overview',
    parts: [
      {
        kind: 'facts',
        facts: [
          ['Last audit', audit === null ? 'none yet' : `${audit.differing} of ${audit.orders} orders differ`],
        ],
      },
    ],
  };
}
