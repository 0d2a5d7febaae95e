import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of searches and of the search server. */
export const searchErrors = {
  search_text_invalid: {
    meaning: 'A text search has no needle, too many needles, or a needle that is too long.',
    action: 'Send 1 to 32 needles of 1 to 1,000 characters each (docs/search.md, "Needles").',
    retry: 'never',
  },
  search_too_broad: {
    meaning:
      'The search would read more texts than one search may read. If Postgres answers, too many texts could have its words, fuzzy words or metadata terms. If only Elasticsearch answers, it has many needles of hundreds of characters each.',
    action:
      'Search for a longer or rarer word, or add words. If the needles are long, send fewer or shorter ones.',
    retry: 'never',
  },
  search_busy: {
    meaning:
      'As many searches, or requests about many inscriptions, are running and waiting as the server accepts.',
    action: 'Try again after the number of seconds in Retry-After.',
    retry: 'soon',
  },
  search_engine_unreachable: {
    meaning: 'No Elasticsearch answers at the address.',
    action:
      'Start the server, or correct ELASTICSEARCH_URL. Meanwhile SEARCH_FALLBACK decides what answers searches. The search sync then continues where it stopped.',
    retry: 'soon',
  },
  search_engine_tls: {
    meaning:
      'The server at the address of Elasticsearch does not use TLS, or its certificate is not trusted.',
    action:
      'Set ELASTICSEARCH_CA_FILE to the file of the authority that signed the certificate (http_ca.crt of the server). Or correct ELASTICSEARCH_URL: use https if the server has TLS, and http otherwise. Meanwhile SEARCH_FALLBACK decides what answers searches.',
    retry: 'minute',
  },
  search_engine_refused: {
    meaning: 'Elasticsearch denies access or permissions.',
    action:
      'Correct ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD. The account needs all rights on the indices of ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'minute',
  },
  search_engine_busy: {
    meaning: 'Elasticsearch is overloaded (status 429).',
    action:
      'No action is needed, because requests are retried more slowly. If the failure persists, give Elasticsearch more memory or nodes.',
    retry: 'soon',
  },
  search_engine_full: {
    meaning: 'Elasticsearch does not write, because its disk is full or an index is read-only.',
    action:
      'Free space on its disks. Elasticsearch then unblocks its indices by itself, and writing continues.',
    retry: 'soon',
  },
  search_engine_slow: {
    meaning: 'Elasticsearch did not answer in time.',
    action:
      'Check the load of Elasticsearch. If searches often take this long, it needs more cores, memory or nodes.',
    retry: 'soon',
  },
  search_engine_missing: {
    meaning: 'Elasticsearch does not have the index, or the requested snapshot of the index.',
    action:
      'No action is needed if the search sync runs, because it rebuilds the index. Otherwise run `satscribe search reindex`.',
    retry: 'replan',
  },
  search_engine_behind: {
    meaning:
      'Elasticsearch is not at the tip of the indexed chain, because its index is still being filled, or blocks are being taken back.',
    action: 'No action is needed, because the search sync catches up. /status shows the progress.',
    retry: 'replan',
  },
  search_engine_moved: {
    meaning: 'This process was writing an Elasticsearch index, and another process wrote to the same index.',
    action: 'No action is needed, because this process reads the state of the index again.',
    retry: 'replan',
  },
  search_engine_foreign: {
    meaning: 'An Elasticsearch index has documents that do not come from this database, or lacks documents.',
    action:
      'No action is needed, because the search sync builds another index. If several databases share an Elasticsearch, each database needs its own ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'replan',
  },
  search_engine_rejected: {
    meaning: 'Elasticsearch rejects a request, or the server is not an Elasticsearch.',
    action: 'Read the reason in the message. The server must be Elasticsearch 9.',
    retry: 'minute',
  },
  search_engine_failed: {
    meaning: 'Elasticsearch failed to answer a request, or answered only a part of it.',
    action:
      'Read the reason in the message, and the log of Elasticsearch. The state of its cluster should be green or yellow.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
