import pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { advisoryLocks } from './advisory-lock.ts';
import { connectClient } from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';
import { storedPassword } from './scram.ts';
import { withTransaction } from './transaction.ts';

/**
 * A right of the role that answers requests (ADR 29). This role reads all of `chain`, and has only these rights in
 * `service`. A statement of a request or of `/metrics` needs each right.
 */
interface ServiceRight {
  readonly table: string;
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  /** Columns to which the right applies. If absent, it applies to all columns. */
  readonly columns?: readonly string[];
}

const serviceRights: readonly ServiceRight[] = [
  // to check whether the database is of this version
  { table: 'migrations', privilege: 'SELECT' },
  // to count the use of a key, and to refuse the feeds of a revoked key; only a function reads the rest of a key
  // (`serviceFunctions`)
  { table: 'keys', privilege: 'SELECT', columns: ['id', 'last_used_at', 'revoked_at'] },
  // the role cannot make a key, or change the scope, rate or price of a key, and a revoked key stays revoked
  { table: 'keys', privilege: 'UPDATE', columns: ['last_used_at'] },
  { table: 'key_usage', privilege: 'SELECT' },
  { table: 'key_usage', privilege: 'INSERT' },
  { table: 'key_usage', privilege: 'UPDATE', columns: ['requests', 'refused'] },
  { table: 'rate_limits', privilege: 'SELECT' },
  { table: 'rate_limits', privilege: 'INSERT' },
  { table: 'rate_limits', privilege: 'UPDATE' },
  { table: 'rate_limits', privilege: 'DELETE' },
  // special sats that can be ordered
  { table: 'inventory_outputs', privilege: 'SELECT' },
  // special sats that orders have reserved; the reservations are counted by their owner
  { table: 'reserved_outputs', privilege: 'SELECT' },
  { table: 'reserved_outputs', privilege: 'INSERT' },
  // new orders of shops, the runes that these orders request, and payments to these orders; no states and no credits
  { table: 'assets', privilege: 'SELECT' },
  { table: 'assets', privilege: 'INSERT', columns: ['etching', 'rune'] },
  { table: 'token_runes', privilege: 'SELECT' },
  { table: 'token_runes', privilege: 'INSERT' },
  { table: 'token_orders', privilege: 'SELECT' },
  { table: 'token_orders', privilege: 'INSERT' },
  { table: 'token_charges', privilege: 'SELECT' },
  { table: 'token_charges', privilege: 'INSERT' },
  { table: 'token_order_fees', privilege: 'SELECT' },
  { table: 'token_order_fees', privilege: 'INSERT' },
  // payments for tests, on test networks
  { table: 'test_payments', privilege: 'SELECT' },
  { table: 'test_payments', privilege: 'INSERT' },
  { table: 'token_credits', privilege: 'SELECT' },
  { table: 'token_credit_runes', privilege: 'SELECT' },
  { table: 'token_balances', privilege: 'SELECT' },
  // new withdrawals, which reserve parts of balances, with the coins that would pay and the allowed destinations; no
  // states
  { table: 'token_balances', privilege: 'INSERT', columns: ['account', 'asset'] },
  { table: 'token_balances', privilege: 'UPDATE', columns: ['reserved'] },
  { table: 'withdrawals', privilege: 'SELECT' },
  {
    table: 'withdrawals',
    privilege: 'INSERT',
    columns: 'id account asset amount script address fee postage payer fee_rate webhook_url secret_key'.split(
      ' ',
    ),
  },
  // the request to cancel a withdrawal
  { table: 'withdrawals', privilege: 'UPDATE', columns: ['cancel_asked_at'] },
  { table: 'withdrawal_addresses', privilege: 'SELECT' },
  { table: 'wallet_coins', privilege: 'SELECT' },
  { table: 'wallet_spends', privilege: 'SELECT' },
  { table: 'token_reserves', privilege: 'SELECT' },
  { table: 'token_reserve_pages', privilege: 'SELECT' },
  { table: 'token_reserve_accounts', privilege: 'SELECT' },
  // collections for sale: a new order takes free items, which are counted
  { table: 'mint_collections', privilege: 'SELECT' },
  { table: 'mint_collections', privilege: 'UPDATE', columns: ['taken', 'unpaid'] },
  { table: 'mint_files', privilege: 'SELECT' },
  { table: 'mint_phases', privilege: 'SELECT' },
  { table: 'mint_allowances', privilege: 'SELECT' },
  { table: 'mint_items', privilege: 'SELECT' },
  { table: 'mint_items', privilege: 'UPDATE', columns: ['order_id', 'order_place'] },
  { table: 'mint_orders', privilege: 'SELECT' },
  { table: 'mint_orders', privilege: 'INSERT' },
  { table: 'mint_orders', privilege: 'UPDATE', columns: ['standing', 'held_until', 'client'] },
  // new orders, each with keys of the wallet (a trigger prevents lower indexes) and a watched script, and the request
  // to cancel an order; no table has a seed
  { table: 'wallet', privilege: 'SELECT' },
  { table: 'wallet_branches', privilege: 'SELECT' },
  { table: 'wallet_branches', privilege: 'UPDATE', columns: ['next_index'] },
  { table: 'orders', privilege: 'SELECT' },
  { table: 'orders', privilege: 'INSERT' },
  { table: 'orders', privilege: 'UPDATE', columns: ['cancel_asked_at', 'look_at'] },
  // the node's policy, because no order may be made that the node would refuse
  { table: 'node_policy', privilege: 'SELECT' },
  // number of transactions that wait for a miner
  { table: 'miner_packages', privilege: 'SELECT' },
  { table: 'etchings', privilege: 'SELECT' },
  { table: 'ordered_mints', privilege: 'SELECT' },
  // a referral code is registered once, and keeps its address
  { table: 'referrals', privilege: 'SELECT' },
  { table: 'referrals', privilege: 'INSERT' },
  // the answers to creations, each of which is stored once
  { table: 'idempotency_keys', privilege: 'SELECT' },
  { table: 'idempotency_keys', privilege: 'INSERT' },
  { table: 'idempotency_keys', privilege: 'UPDATE' },
  { table: 'idempotency_keys', privilege: 'DELETE' },
  { table: 'order_files', privilege: 'SELECT' },
  { table: 'order_files', privilege: 'INSERT' },
  { table: 'order_leaves', privilege: 'INSERT' },
  { table: 'uploaded_files', privilege: 'SELECT' },
  { table: 'uploaded_files', privilege: 'INSERT' },
  { table: 'order_parents', privilege: 'SELECT' },
  { table: 'order_parents', privilege: 'INSERT' },
  { table: 'wallet_transactions', privilege: 'SELECT' },
  { table: 'payments_seen', privilege: 'SELECT' },
  { table: 'watched_scripts', privilege: 'INSERT' },
  { table: 'watched_scripts', privilege: 'SELECT' },
  { table: 'watched_scripts', privilege: 'UPDATE', columns: ['since_height', 'picked_up'] },
  // messages for receivers, without URLs, because URLs contain the receivers' tokens; also the keys that sign messages
  {
    table: 'webhooks',
    privilege: 'SELECT',
    columns: 'subject sequence id host body created_at state tries tried_at status error'.split(' '),
  },
  {
    table: 'webhook_subjects',
    privilege: 'SELECT',
    columns: ['subject', 'head_sequence', 'due_at', 'taken_by'],
  },
  // customers can have messages sent again, but neither text nor receiver changes
  { table: 'webhooks', privilege: 'UPDATE', columns: ['state', 'tries'] },
  {
    table: 'webhook_subjects',
    privilege: 'UPDATE',
    columns: ['head_sequence', 'host', 'gone_url', 'due_at'],
  },
  { table: 'webhook_keys', privilege: 'SELECT' },
  // new watches, which their key can delete with their findings; findings are only read
  { table: 'watches', privilege: 'SELECT' },
  {
    table: 'watches',
    privilege: 'INSERT',
    columns: [
      'id',
      'key_id',
      'kind',
      'condition',
      'webhook_url',
      'secret_key',
      'since',
      'ended_at',
      'end_reason',
    ],
  },
  { table: 'watches', privilege: 'DELETE' },
  { table: 'watch_findings', privilege: 'SELECT' },
  { table: 'watches_offset', privilege: 'SELECT' },
  // the collections of the market
  { table: 'market_collections', privilege: 'SELECT' },
  { table: 'market_items', privilege: 'SELECT' },
  { table: 'market_traits', privilege: 'SELECT' },
  // new collections for sale, which wait for the operator, and new phases; no states and no approved files
  {
    table: 'mint_collections',
    privilege: 'INSERT',
    columns:
      'id name total_count price creator_address creator_script alt_prices shown key_hash client'.split(' '),
  },
  {
    table: 'mint_files',
    privilege: 'INSERT',
    columns: ['collection', 'place', 'name', 'url', 'told_bytes'],
  },
  { table: 'mint_rune_prices', privilege: 'SELECT' },
  { table: 'mint_rune_prices', privilege: 'INSERT' },
  { table: 'mint_phases', privilege: 'INSERT' },
  { table: 'mint_phases', privilege: 'UPDATE' },
  { table: 'mint_phases', privilege: 'DELETE' },
  { table: 'mint_allowances', privilege: 'INSERT' },
  { table: 'mint_allowances', privilege: 'DELETE' },
  // figures for /metrics
  { table: 'payments_offset', privilege: 'SELECT' },
  { table: 'orders_audit', privilege: 'SELECT' },
  { table: 'payment_holds', privilege: 'SELECT' },
  { table: 'payouts', privilege: 'SELECT', columns: ['state', 'asked_at', 'stuck'] },
  { table: 'wallet_coins_fill', privilege: 'SELECT' },
];

/** Functions that run with other rights than the role. */
const serviceFunctions: readonly { readonly name: string; readonly types: string }[] = [
  // finds a valid key by its hash, with its account and its terms; a client without the key learns nothing about it
  { name: 'keys_by_hash', types: 'bytea[]' },
  // the addresses to which an account withdraws; a new address is valid a day later, and the last address stays
  { name: 'list_withdrawal_address', types: 'text, bytea, text' },
  { name: 'delete_withdrawal_address', types: 'text, bytea' },
];

/** Statements that grant all rights to a role. They can be repeated. */
function grantsFor(role: string): readonly string[] {
  const to = `TO ${pg.escapeIdentifier(role)}`;
  return [
    `GRANT USAGE ON SCHEMA chain, service ${to}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA chain ${to}`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chain ${to}`,
    // for tables of later migrations
    `ALTER DEFAULT PRIVILEGES IN SCHEMA chain GRANT SELECT ON TABLES ${to}`,
    ...serviceRights.map(({ table, privilege, columns }) => {
      const of = columns === undefined ? '' : ` (${columns.join(', ')})`;
      return `GRANT ${privilege}${of} ON service.${table} ${to}`;
    }),
    ...serviceFunctions.map(({ name, types }) => `GRANT EXECUTE ON FUNCTION service.${name}(${types}) ${to}`),
  ];
}

const rightsParameters = [
  serviceRights.map(({ table }) => table),
  serviceRights.map(({ privilege }) => privilege),
  serviceRights.map(({ columns }) => columns?.join(',') ?? ''),
];
const missingParameters = [...rightsParameters, serviceFunctions.map(({ name }) => name)];

/**
 * SQL that finds missing rights, from catalogs that every role can read. Tables of a later migration are not missing
 * yet.
 */
const missingSql = `
  SELECT 'schema ' || nspname AS missing FROM pg_namespace
   WHERE nspname IN ('chain', 'service') AND NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL
  SELECT 'SELECT on ' || relname FROM pg_class
   WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'chain')
     AND relkind IN ('r', 'p', 'v', 'm') AND NOT has_table_privilege(oid, 'SELECT')
  UNION ALL
  SELECT 'EXECUTE on ' || proname FROM pg_proc
   WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'chain') AND NOT has_function_privilege(oid, 'EXECUTE')
  UNION ALL
  SELECT 'EXECUTE on ' || name FROM unnest($4::text[]) AS needed (name)
    JOIN pg_proc ON proname = name AND pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'service')
   WHERE NOT has_function_privilege(pg_proc.oid, 'EXECUTE')
  UNION ALL
  SELECT privilege || ' on ' || relname
    FROM unnest($1::text[], $2::text[], $3::text[]) AS needed (name, privilege, columns)
    JOIN pg_class ON relname = name AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'service')
   WHERE CASE columns WHEN '' THEN NOT has_table_privilege(pg_class.oid, privilege)
     ELSE EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = ANY(string_to_array(columns, ','))
                   AND NOT has_column_privilege(pg_class.oid, attnum, privilege)) END`;

/**
 * Makes sure that the reader role has the rights that answers need. If the URL of the writer role, which owns the
 * tables and differs from the reader, is given, grants missing rights. Also creates the reader if it does not exist,
 * and the writer may create roles. Returns the name of the reader if it was created. Throws `database_reader_rights` if
 * rights are still missing, and `config_invalid` if both URLs lead to different databases.
 */
export async function ensureReaderRights(
  writerUrl: string | null,
  readerUrl: string,
): Promise<string | null> {
  let made: string | null = null;
  const reader = await connectClient(readerUrl, applicationName).catch(async (error: unknown) => {
    if (writerUrl === null || !(error instanceof AppError) || error.code !== 'postgres_refused') throw error;
    made = await makeReader(writerUrl, readerUrl);
    if (made === null) throw error;
    return connectClient(readerUrl, applicationName);
  });
  try {
    const role = await roleOf(reader);
    if (writerUrl !== null) await giveRights(writerUrl, readerUrl, reader, role);
    const missing = await missingRights(reader);
    if (missing.length === 0) return made;
    const message = `The role ${role} at ${shownAddress(readerUrl)} lacks rights that answers need (${missing.join(', ')}). The owner of the tables grants these rights with:\n${grantsFor(role).join(';\n')};`;
    throw new AppError('database_reader_rights', message, { role, missing });
  } catch (error) {
    throw postgresFailure(error);
  } finally {
    await reader.end();
  }
}

const applicationName = 'satscribe roles';

/** Creates the role that the reader's URL names. `null` if the role exists, or if the writer may not create it. */
async function makeReader(writerUrl: string, readerUrl: string): Promise<string | null> {
  const { username, password } = new URL(readerUrl);
  const role = decodeURIComponent(username);
  if (role === '' || password === '') return null;
  const writer = await connectClient(writerUrl, applicationName);
  try {
    return await withTransaction(writer, async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.readerRights]);
      const { rowCount } = await tx.query(
        `SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreaterole)
            AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`,
        [role],
      );
      if (rowCount === 0) return null;
      const name = pg.escapeIdentifier(role);
      const stored = pg.escapeLiteral(storedPassword(decodeURIComponent(password)));
      await tx.query(`CREATE ROLE ${name} LOGIN PASSWORD ${stored}`);
      const { rows } = await tx.query<{ database: string }>('SELECT current_database() AS database');
      for (const { database } of rows)
        await tx.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(database)} TO ${name}`);
      return role;
    });
  } finally {
    await writer.end();
  }
}

async function giveRights(
  writerUrl: string,
  readerUrl: string,
  reader: pg.ClientBase,
  role: string,
): Promise<void> {
  const writer = await connectClient(writerUrl, applicationName);
  try {
    const [one, other] = await Promise.all([identityOf(writer), identityOf(reader)]);
    if (one !== other) {
      const message = `DATABASE_READER_URL (${shownAddress(readerUrl)}) names another database than DATABASE_URL (${shownAddress(writerUrl)}). A standby is not possible as DATABASE_READER_URL, because answers also write the use of keys.`;
      throw new AppError('config_invalid', message);
    }
    await withTransaction(writer, async (tx) => {
      // if two processes grant rights at once, Postgres would refuse one of them
      await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.readerRights]);
      if ((await missingRights(reader)).length === 0) return;
      for (const grant of grantsFor(role)) await tx.query(grant);
    });
  } catch (error) {
    // the writer does not own the tables, so an administrator must grant the rights, and the caller names them
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error;
  } finally {
    await writer.end();
  }
}

const insufficientPrivilege = '42501';

async function missingRights(reader: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await reader.query<{ missing: string }>(missingSql, missingParameters);
  return rows.map(({ missing }) => missing);
}

async function roleOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ role: string }>('SELECT current_user::text AS role');
  return rows[0]?.role ?? '';
}

/** A text that is equal for two connections to the same database of the same running server. */
async function identityOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `SELECT concat(oid, ' ', pg_postmaster_start_time()) AS identity FROM pg_database WHERE datname = current_database()`,
  );
  return rows[0]?.identity ?? '';
}

/** SQL that finds rights that answers never need, one per line. */
const excessSql = `
  WITH me AS (SELECT * FROM pg_roles WHERE rolname = current_user),
  tables AS (
    SELECT c.oid, n.nspname, c.relname, c.relowner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('chain', 'service') AND c.relkind IN ('r', 'p', 'v', 'm'))
  SELECT 'is a superuser' AS excess FROM me WHERE rolsuper
  UNION ALL
  SELECT excess FROM me, (
    SELECT 'may create roles' AS excess FROM me WHERE rolcreaterole
    UNION ALL SELECT 'may create databases' FROM me WHERE rolcreatedb
    UNION ALL SELECT 'may replicate' FROM me WHERE rolreplication
    UNION ALL
    SELECT 'is a member of ' || rolname FROM pg_roles
     WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data',
                       'pg_maintain', 'pg_signal_backend', 'pg_create_subscription')
       AND pg_has_role(oid, 'MEMBER')
    UNION ALL
    SELECT 'may create in schema ' || nspname FROM pg_namespace
     WHERE nspname !~ '^pg_' AND has_schema_privilege(oid, 'CREATE')
    UNION ALL
    SELECT 'may create schemas in this database' WHERE has_database_privilege(current_database(), 'CREATE')
    UNION ALL
    SELECT 'owns tables of schema ' || nspname FROM tables WHERE pg_has_role(relowner, 'MEMBER') GROUP BY nspname
    UNION ALL
    SELECT format('may %s %s.%s', privilege, nspname, relname)
      FROM tables, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
     WHERE NOT pg_has_role(relowner, 'MEMBER')
       AND (has_table_privilege(oid, privilege)
            OR privilege IN ('INSERT', 'UPDATE') AND EXISTS (
              SELECT FROM pg_attribute WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
                 AND has_column_privilege(tables.oid, attnum, privilege)
                 AND NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[], $3::text[]) AS given (name, of, columns)
                                  WHERE nspname = 'service' AND name = relname AND of = privilege
                                    AND attname = ANY(string_to_array(columns, ',')))))
       AND NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[], $3::text[]) AS given (name, of, columns)
                        WHERE nspname = 'service' AND name = relname AND of = privilege AND columns = '')
  ) AS others WHERE NOT rolsuper`;

/** Rights that a URL's role has but that answers do not need. A fault in a query could use them. */
export async function excessReaderRights(
  readerUrl: string,
): Promise<{ role: string; excess: readonly string[] }> {
  const reader = await connectClient(readerUrl, applicationName);
  try {
    const { rows } = await reader.query<{ excess: string }>(excessSql, rightsParameters);
    return { role: await roleOf(reader), excess: rows.map(({ excess }) => excess) };
  } catch (error) {
    throw postgresFailure(error);
  } finally {
    await reader.end();
  }
}
