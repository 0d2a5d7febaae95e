import type { WebhookKeys } from './webhook-keys.ts';

/**
 * The last field of a message whose receiver expects the shared secret in its body (client-compat 3.14). What is stored
 * has a place for it, so that the secret is in no table; it is filled in when the message is sent.
 */
export const secretPlace = { webhookSecretToken: 'filled in when it is sent' } as const;

/** The stored body ends with it. Texts of strangers are before it, and escaped. */
const storedEnd = Buffer.from(`${JSON.stringify(secretPlace).slice(1)}`);

/**
 * A stored body as it is sent.
 *
 * @returns null: the secret that it names is not known here
 */
export function filledBody(
  stored: Buffer,
  secretOf: string | null,
  keys: Pick<WebhookKeys, 'lastingSecret'>,
): Buffer | null {
  if (secretOf === null || !stored.subarray(-storedEnd.length).equals(storedEnd)) return stored;
  const secret = keys.lastingSecret(secretOf);
  if (secret === null) return null;
  const end = JSON.stringify({ webhookSecretToken: secret.toString('hex') }).slice(1);
  return Buffer.concat([stored.subarray(0, -storedEnd.length), Buffer.from(end)]);
}
