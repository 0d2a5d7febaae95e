import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { version } from '#kernel/process/version.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { deliverWebhooks } from '#webhooks/deliver-webhooks.ts';
import { ensureServiceSecret, readServiceSecret } from '#webhooks/service-secret.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';

/** File of the secret of the service. */
export const secretFileOf = ({ dataDir, serviceSecretFile }: Config): string =>
  serviceSecretFile ?? join(dataDir, 'service-secret');

/**
 * Opens the webhook keys of the settings. A process that only answers requests does not create a secret, because the
 * secret would differ from that of the processes that send webhooks. Throws `service_secret_invalid`. Throws
 * `service_secret_missing` if the old secret is missing, or if there is no secret and none is created.
 */
export async function openWebhookKeys(config: Config): Promise<WebhookKeys> {
  const { role, serviceSecretOldFile } = config;
  const secret = await (role === 'api' ? readServiceSecret : ensureServiceSecret)(secretFileOf(config));
  const old = serviceSecretOldFile === undefined ? null : await readServiceSecret(serviceSecretOldFile);
  return new WebhookKeys(secret, old);
}

/** Sends webhooks for the life of the process. Other processes may send webhooks at the same time. */
export function startWebhooks(
  { config, lifecycle, logger }: CommandContext,
  database: Database,
  { metrics }: OperationsParts,
): void {
  if (lifecycle.signal.aborted) return;
  const log = logger.child({ part: 'webhooks' });
  const http = new OutgoingHttp({ allowPrivate: config.allowPrivateUrls });
  lifecycle.add('requests to receivers', () => http.close());
  let problem: AppError | null = null;
  metrics.read({
    name: 'satscribe_webhooks_problem',
    help: 'Problems that prevent this process from sending webhooks, by error code',
    labels: ['code'],
    values: () => (problem === null ? [] : [{ labels: { code: problem.code }, value: 1 }]),
  });
  const onProblem = (found: AppError | null): void => {
    problem = found;
  };
  lifecycle
    .run('webhooks', (signal) =>
      deliverWebhooks({
        url: database.url,
        http,
        keys: () => openWebhookKeys(config),
        userAgent: `satscribe/${version}`,
        signal,
        log,
        onTry: (outcome) => metrics.countWebhookTry(outcome),
        onProblem,
      }),
    )
    .catch((error: unknown) => {
      // A process that answers requests continues. A process with no other task is useless, so it ends and its
      // supervisor restarts it.
      if (!(error instanceof AppError) || config.role === 'orders') lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'webhooks are no longer sent');
    });
}
