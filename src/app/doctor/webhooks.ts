import { type Config, hasEmbeddedDatabase } from '#config/config.ts';
import { knownHome } from '#embedded-postgres/server-place.ts';
import { answersRequests } from '#http/server/operations.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { openWebhookKeys } from '#src/app/ordering/webhooks.ts';
import { readPublicKeys } from '#webhooks/key.store.ts';
import { shownPublicKey } from '#webhooks/webhook-keys.ts';
import {
  type FailingReceiver,
  readFailingReceivers,
  readWaiting,
  type WaitingWebhooks,
} from '#webhooks/webhooks.queries.ts';
import { shownTime } from './clock.ts';
import { advice, coded, type Finding, ok } from './finding.ts';
import { processesOrders } from './roles.ts';
import type { Subject } from './subject.ts';

/** Facts of the secret of the service. */
export interface SecretFacts {
  /** Public keys of the secrets of this process. An error: a secret cannot be read. */
  readonly own: readonly string[] | AppError;
  /** The current key, which receivers know. Null: no message was signed yet, or it is unknown. */
  readonly known: string | null;
  /** Whether there is a database that was not read, so that its key is unknown. */
  readonly isUnread?: boolean;
}

/** Facts of the messages. */
export interface QueueFacts {
  readonly waiting: Pick<WaitingWebhooks, 'count' | 'oldestSeconds'>;
  readonly failing: readonly FailingReceiver[];
}

/** Minimum age in seconds of a waiting message that is reported. Messages are sent within seconds. */
const oldSeconds = 3600;

/** The secret of the service, and messages to receivers. */
export const webhooksSubject: Subject = {
  group: 'webhooks',
  name: 'webhooks',
  examine: async ({ config, database }) => {
    const { role } = config;
    if (!processesOrders(role) && !answersRequests(role)) return [];
    const found = await database;
    const pool = found?.pool ?? null;
    const keys = pool === null ? [] : await readPublicKeys(pool);
    const known = keys.find(({ isCurrent }) => isCurrent)?.key ?? null;
    // a process that only answers makes no secret
    const own = await openWebhookKeys({ ...config, role: 'api' }).then(
      ({ publicKeys }) => publicKeys.map(shownPublicKey),
      (error: unknown) => {
        if (error instanceof AppError) return error;
        throw error;
      },
    );
    const isUnread = pool === null && hasEmbeddedDatabase(config) && (await hasDatabase(config.dataDir));
    const findings = judgeSecret({ own, known, isUnread });
    if (pool === null || !processesOrders(role)) return findings;
    const [waiting, failing] = await Promise.all([readWaiting(pool), readFailingReceivers(pool)]);
    return [...findings, ...judgeQueue({ waiting, failing })];
  },
};

/** Whether the folder has a database. */
const hasDatabase = (dataDir: Config['dataDir']): Promise<boolean> =>
  knownHome(dataDir).then(
    (home) => home !== null,
    () => false,
  );

/** Judges the secret of the service. Pure. */
export function judgeSecret({ own, known, isUnread = false }: SecretFacts): Finding[] {
  if (own instanceof AppError) {
    if (own.code === 'service_secret_missing' && known === null)
      return [
        isUnread
          ? advice(
              'webhooks.secret',
              `${own.message} A service that starts without one makes a new one.`,
              'If a service has run with this database, restore the file from its backup before the next start. Otherwise nothing is to be done.',
            )
          : ok('webhooks.secret', `${own.message} The service makes one.`),
      ];
    return [coded('webhooks.secret', own)];
  }
  if (known === null) return [ok('webhooks.secret', 'The secret of the service can be read.')];
  if (own.includes(known))
    return [ok('webhooks.secret', 'The secret of the service has the key that receivers know.')];
  const message = `Receivers know the key ${known}, which comes from another secret than that of SERVICE_SECRET_FILE.`;
  return [coded('webhooks.secret', { code: 'service_secret_differs', message })];
}

/** Judges the messages. Pure. */
export function judgeQueue({ waiting, failing }: QueueFacts): Finding[] {
  const findings = failing.map(({ host, count }) =>
    advice(
      'webhooks.receiver',
      `The receiver ${host} does not accept ${count} messages.`,
      'Tell its owner. satscribe webhooks list shows the answers, and satscribe webhooks replay sends messages again.',
    ),
  );
  const { count, oldestSeconds } = waiting;
  if (oldestSeconds !== null && oldestSeconds >= oldSeconds)
    findings.push(
      advice(
        'webhooks.queue',
        `${count} messages wait to be sent, the oldest for ${shownTime(oldestSeconds * 1000)}.`,
        'satscribe webhooks list --state waiting shows the reason.',
      ),
    );
  return findings.length > 0 ? findings : [ok('webhooks.queue', `${count} messages wait to be sent.`)];
}
