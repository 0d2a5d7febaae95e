import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of webhooks, and of the secret from which the keys of webhooks are derived. */
export const webhookErrors = {
  service_secret_missing: {
    meaning: 'The file with the present or the earlier secret of the service does not exist.',
    action:
      'Correct SERVICE_SECRET_FILE or SERVICE_SECRET_OLD_FILE. If receivers already have a key, restore the file from a backup before the next start of the service: it would create a new secret, and send nothing. If the secret is lost, start the service and run `satscribe webhooks rekey` (docs/webhooks.md, "The secret").',
    retry: 'never',
  },
  service_secret_invalid: {
    meaning:
      'The file with the secret of the service cannot be read or created, does not have 32 bytes, is a link, belongs to another user, or is accessible to other users.',
    action:
      'Correct what the message names: the mode must be 0600 (chmod 600), and the owner the account that runs this program. If the content is damaged, restore the file from a backup (docs/webhooks.md, "The secret").',
    retry: 'never',
  },
  service_secret_differs: {
    meaning:
      'Receivers of webhooks have a key that comes from another secret: of another process, or one that was lost or changed. They would refuse webhooks that this process signs, so it sends none.',
    action:
      'Give all processes the same file, or set SERVICE_SECRET_OLD_FILE to the old file. If the old secret is lost, run `satscribe webhooks rekey`. Receivers must then take the new key from /webhooks/keys (docs/webhooks.md, "The secret").',
    retry: 'minute',
  },
  webhooks_unknown: {
    meaning:
      'In the last 30 days there was no message about this subject (for example `order ID`) from this sequence number on, or no such message had a URL.',
    action: '`satscribe webhooks list` shows all messages.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
