import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the tables of the mempool. */
export const mempoolErrors = {
  mempool_not_followed: {
    meaning:
      'Pending transactions were requested, but this service does not follow the mempool of the node now.',
    action:
      'Try again. `/mempool` says what delays the service. If there is no node at all, the code is `no_node`.',
    retry: 'soon',
  },
  mempool_waits_for_index: {
    meaning: 'The service follows the mempool only once the chain is indexed, and nothing is indexed yet.',
    action: 'No action is needed, because the service starts to follow the mempool when the index exists.',
    retry: 'soon',
  },
  mempool_tables_lost: {
    meaning:
      'The tables of pending transactions are empty after a crash of Postgres, or an earlier indexing process still wrote to them.',
    action: 'No action is needed, because the tables are filled again from the node.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
