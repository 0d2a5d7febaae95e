import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of saved searches and other watches. */
export const watchErrors = {
  watches_max: {
    meaning: 'The key already has the maximum number of active watches. The message has the number.',
    action: 'Delete one of these watches first (`DELETE /watches/<id>`), or use another key.',
    retry: 'never',
  },
  watches_off: {
    meaning:
      'This process keeps no watches, or it cannot derive the secrets of webhooks and feeds, because it has no secret of the service.',
    action:
      'Leave webhookUrl out, or ask the operator to set SERVICE_SECRET_FILE in all processes (docs/webhooks.md, "The secret").',
    retry: 'never',
  },
  watch_too_broad: {
    meaning:
      'The search matches too much of what is inscribed: more than 1,000 inscriptions of the last 1,008 blocks, and more than 5 % of them. The message has the numbers.',
    action: 'Add a text, a filter or whole words. Read all new inscriptions with `GET /events` instead.',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;
