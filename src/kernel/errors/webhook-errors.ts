import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of webhooks, and of the secret from which the keys of webhooks are derived. */
export const webhookErrors = {
  service_secret_missing: {
    meaning: 'There is no file with the secret of the service, or with the one before it.',
    action:
      'Correct SERVICE_SECRET_FILE or SERVICE_SECRET_OLD_FILE; a service makes the first one by itself if it is missing.',
    retry: 'never',
  },
  service_secret_invalid: {
    meaning:
      'The file with the secret of the service cannot be read or made, is not of 32 bytes, is a link or of another user, or others than its owner may use it.',
    action:
      'Restore it from a backup, with mode 0600 and the account of this program as its owner (docs/webhooks.md, "The secret").',
    retry: 'never',
  },
  service_secret_differs: {
    meaning:
      'Receivers of webhooks know a key of another secret: that of another process, or one that was lost or changed. They would refuse what this process signs, so it sends nothing.',
    action:
      'Give all processes the same file, or name the old one with SERVICE_SECRET_OLD_FILE. Where it is lost: `satscribe webhooks rekey`, and receivers take the new key from /webhooks/keys (docs/webhooks.md, "The secret").',
    retry: 'minute',
  },
  webhooks_unknown: {
    meaning: 'No message about this was due in the last 30 days, or none of them had a URL.',
    action: 'Look at `satscribe webhooks list`.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
