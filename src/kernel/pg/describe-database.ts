import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Description of a database, as the role of the connection sees it. */
export interface DatabaseDescription {
  /** Version of the server, for example `18.1`. */
  readonly version: string;
  readonly collation: string;
  /** Whether the operating system sorts texts by other rules than when the database was made. */
  readonly hasOldCollation: boolean;
  /** Whether transactions of the role cannot write. */
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
  /** Tables of this program that the role does not own. */
  readonly foreignTables: readonly string[];
  /** Whether the role may create schemas in the database. */
  readonly mayCreate: boolean;
  readonly bytes: number;
  /** Time of the server's clock in ms since 1970. */
  readonly timeMs: number;
  /** Address of the server. Null: a socket of this machine. */
  readonly serverAddress: string | null;
}

const sql = `
  SELECT current_setting('server_version') AS version, datcollate AS collation,
         coalesce(datcollversion <> pg_database_collation_actual_version(oid), false) AS "hasOldCollation",
         current_setting('transaction_read_only') = 'on' AS "isReadOnly", pg_is_in_recovery() AS "isStandby",
         ARRAY(SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
                WHERE nspname IN ('chain', 'service') AND relkind IN ('r', 'p')
                  AND NOT pg_has_role(relowner, 'MEMBER') ORDER BY 1) AS "foreignTables",
         has_database_privilege(oid, 'CREATE') AS "mayCreate", pg_database_size(oid) AS bytes,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS "timeMs",
         host(inet_server_addr()) AS "serverAddress"
    FROM pg_database WHERE datname = current_database()`;

/** Describes the database of a connection. */
export async function describeDatabase(client: pg.ClientBase): Promise<DatabaseDescription> {
  const { rows } = await client.query<DatabaseDescription>(sql);
  const [row] = rows;
  if (row === undefined) throw new AppError('postgres_refused', 'Postgres does not show its own database.');
  return row;
}
