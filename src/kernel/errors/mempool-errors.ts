import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the tables of the mempool. */
export const mempoolErrors = {
  mempool_not_followed: {
    meaning: 'Pending transactions were requested, but the mempool of the node is not followed now.',
    action: 'Try again; `/mempool` says what delays it. Without any node the code is `no_node`.',
    retry: 'soon',
  },
  mempool_waits_for_index: {
    meaning: 'The mempool is followed only once the chain is indexed, and there is no index yet.',
    action: 'Nothing: it starts with the index.',
    retry: 'soon',
  },
  mempool_tables_lost: {
    meaning:
      'A crash of Postgres emptied the tables of pending transactions, or an earlier indexing process still wrote to them.',
    action: 'Nothing: they are filled again from the node.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
