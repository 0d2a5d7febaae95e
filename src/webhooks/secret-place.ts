import type { WebhookKeys } from './webhook-keys.ts';

/**
 * The last field of a message whose receiver expects the shared secret in the body (client-compat 3.14). The stored
 * body has this placeholder, so that no table contains the secret. The secret replaces the placeholder when the message
 * is sent.
 */
export const secretPlace = { webhookSecretToken: 'filled in when it is sent' } as const;

/** The end of a stored body with the placeholder. Texts of strangers are earlier in the body, and are escaped. */
const storedEnd = Buffer.from(`${JSON.stringify(secretPlace).slice(1)}`);

/**
 * The body to send, with the secret instead of the placeholder.
 *
 * @returns null if this process does not know the named secret
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
