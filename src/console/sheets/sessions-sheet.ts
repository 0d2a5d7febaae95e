import type pg from 'pg';
import { activeKeys } from '#accounts/active-key.queries.ts';
import { lastActions } from '#console/actions/actions.store.ts';
import { type ConsoleSession, listSessions } from '#console/sessions/sessions.store.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';

/** Sessions that are alive. */
export async function sessionsSheet(pool: pg.Pool, { id: own }: ConsoleSession): Promise<ConsoleSheet> {
  const sessions = await listSessions(pool);
  const keys = await activeKeys(pool, 'admin', [...new Set(sessions.map(({ keyId }) => keyId))]);
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  return {
    title: 'Sessions',
    parts: [
      {
        kind: 'table',
        label: 'Sessions',
        columns: ['Account', 'Key', 'Signed in from', 'Signed in (UTC)', 'Last request (UTC)', 'This one'],
        // the session of a revoked key is of no use
        rows: sessions.flatMap(({ id, keyId, address, createdAt, usedAt }) => {
          const key = keyOf.get(keyId);
          const mark = id === own ? 'yes' : null;
          return key === undefined ? [] : [[key.account, `${key.prefix}…`, address, createdAt, usedAt, mark]];
        }),
        empty: 'no session',
      },
      { kind: 'form', action: '/console/sessions/end-all', button: 'End all sessions', fields: {} },
      { kind: 'heading', words: 'Recorded actions' },
      {
        kind: 'table',
        label: 'Recorded actions',
        columns: ['Done (UTC)', 'Account', 'Key', 'Action', 'Target', 'Result'],
        rows: (await lastActions(pool)).map(({ doneAt, account, prefix, action, target, result }) => [
          doneAt,
          account,
          `${prefix}…`,
          action,
          target,
          result,
        ]),
        empty: 'No action was recorded.',
      },
    ],
  };
}
