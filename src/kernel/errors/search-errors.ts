import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of searches and of the search server. */
export const searchErrors = {
  search_text_invalid: {
    meaning: 'The text of a search has no needle, too many, or one that is too long.',
    action: 'Send 1 to 32 needles of 1 to 1,000 characters each; docs/search.md, "Needles".',
    retry: 'never',
  },
  search_too_broad: {
    meaning:
      'The search would have to read more texts than one search may (words, fuzzy and metadata terms that too many texts could have, where Postgres answers), or has many needles of hundreds of characters each, where Elasticsearch answers alone.',
    action: 'Search for a longer or rarer word, or more of them; or for fewer or shorter needles.',
    retry: 'never',
  },
  search_busy: {
    meaning:
      'More searches, or requests about many inscriptions, are running and waiting than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  search_engine_unreachable: {
    meaning: 'No Elasticsearch answers at the address.',
    action:
      'Start the server, or correct ELASTICSEARCH_URL; meanwhile SEARCH_FALLBACK decides what answers searches. The sync resumes where it stopped.',
    retry: 'soon',
  },
  search_engine_tls: {
    meaning:
      'What answers at the address of Elasticsearch does not speak TLS, or its certificate is not trusted.',
    action:
      'Name the file of the authority that signed it with ELASTICSEARCH_CA_FILE (http_ca.crt of the server), or correct ELASTICSEARCH_URL: https where the server has TLS, else http. Meanwhile SEARCH_FALLBACK decides what answers searches.',
    retry: 'minute',
  },
  search_engine_refused: {
    meaning: 'Elasticsearch denies access or permissions.',
    action:
      'Correct ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD; the account needs all rights on indices of ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'minute',
  },
  search_engine_busy: {
    meaning: 'Elasticsearch is overloaded (status 429).',
    action: 'Nothing: requests are retried, more slowly. If it persists, give it more memory or nodes.',
    retry: 'soon',
  },
  search_engine_full: {
    meaning: 'Elasticsearch does not write, because its disk is full or an index is read only.',
    action: 'Make room on its disks: it then unblocks its indices by itself, and writing continues.',
    retry: 'soon',
  },
  search_engine_slow: {
    meaning: 'Elasticsearch did not answer in time.',
    action: 'Check its load; if searches often take this long, it needs more cores, memory or nodes.',
    retry: 'soon',
  },
  search_engine_missing: {
    meaning: 'The index, or the requested snapshot of it, is not in Elasticsearch.',
    action:
      'Nothing if the search sync runs: it rebuilds the index. Otherwise run `satscribe search reindex`.',
    retry: 'replan',
  },
  search_engine_behind: {
    meaning:
      'Elasticsearch is not at the tip of the indexed chain: it is being filled, or blocks are being taken back.',
    action: 'Nothing: the search sync catches up. /status shows how far it is.',
    retry: 'replan',
  },
  search_engine_moved: {
    meaning: 'Another process has written into the Elasticsearch index that this one was writing.',
    action: 'Nothing: the state of the index is read again.',
    retry: 'replan',
  },
  search_engine_foreign: {
    meaning: 'An Elasticsearch index has documents that this database cannot have made, or lacks some.',
    action:
      'Nothing: the search sync builds another index. Databases that share an Elasticsearch each need their own ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'replan',
  },
  search_engine_rejected: {
    meaning: 'Elasticsearch rejects a request, or the server is not an Elasticsearch.',
    action: 'Read its reason in the message; it must be Elasticsearch 9.',
    retry: 'minute',
  },
  search_engine_failed: {
    meaning: 'Elasticsearch failed a request, or answered only a part of it.',
    action:
      'Read its reason in the message, and its log; the state of its cluster should be green or yellow.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
