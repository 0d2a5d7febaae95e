import type pg from 'pg';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { replayWebhooks } from '#webhooks/outbox.ts';
import { recordAction } from './actions.store.ts';

/** Maximum number of characters of a subject that is recorded. */
const subjectMax = 200;

/**
 * Sends all messages of a subject again, as `satscribe webhooks replay` does. Returns the result in words. Throws
 * `webhooks_unknown`.
 */
export async function sendAgain(pool: pg.Pool, session: ConsoleSession, subject: string): Promise<string> {
  return withTransaction(pool, async (tx) => {
    const sent = subject === '' || subject.length > subjectMax ? 0 : await replayWebhooks(tx, subject, 1);
    if (sent === 0)
      throw new AppError(
        'webhooks_unknown',
        `There is no message of "${subject}" with a URL, so nothing is sent again. Open the list of webhooks and choose one.`,
      );
    const result = `${sent} ${sent === 1 ? 'message' : 'messages'} will be sent again.`;
    await recordAction(tx, session, { action: 'webhooks-replay', target: subject, parameters: {}, result });
    return result;
  });
}
