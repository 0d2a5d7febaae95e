import pg from 'pg';

/** A table of schema `service`. */
export interface ServiceTable {
  readonly name: string;
  /** Columns without generated ones, in their order. */
  readonly columns: readonly string[];
  /** Bytes on the server's disk. */
  readonly bytes: number;
}

/** The table of migrations is written by the migrations themselves. */
const history = 'migrations';

const tablesSql = `
  SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
         pg_table_size(c.oid) AS bytes
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   WHERE c.relnamespace = to_regnamespace('service') AND c.relkind IN ('r', 'p') AND c.relname <> '${history}'
   GROUP BY c.oid ORDER BY c.relname`;

/** All tables of schema `service`, except the history of its migrations. Empty if the schema does not exist. */
export async function serviceTables(client: pg.ClientBase): Promise<readonly ServiceTable[]> {
  const { rows } = await client.query<ServiceTable>(tablesSql);
  return rows;
}

/** The name of a table or sequence of schema `service` in a statement. */
export const inService = (name: string): string => `service.${pg.escapeIdentifier(name)}`;

/** The rows of a table as text, in a statement. */
export const copiedColumns = ({ name, columns }: Pick<ServiceTable, 'name' | 'columns'>): string =>
  `${inService(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`;

/** Lets no other connection change the tables (`ACCESS EXCLUSIVE`) or their columns (`ACCESS SHARE`). */
export async function lockTables(
  tx: pg.ClientBase,
  names: readonly string[],
  mode: 'ACCESS SHARE' | 'ACCESS EXCLUSIVE',
): Promise<void> {
  const all = [history, ...names].map(inService).join(', ');
  await tx.query(`LOCK TABLE ${all} IN ${mode} MODE`);
}

/** The next value of a sequence. */
export interface SequenceValue {
  readonly name: string;
  readonly last: string;
  readonly isCalled: boolean;
}

const sequencesSql = `
  SELECT c.relname::text AS name FROM pg_class AS c
   WHERE c.relnamespace = to_regnamespace('service') AND c.relkind = 'S'
     AND NOT EXISTS (SELECT FROM pg_depend AS d
                      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
                        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = 'service.${history}'::regclass)
   ORDER BY c.relname`;

/** Values of all sequences, at this moment: a sequence does not belong to a snapshot. */
export async function sequenceValues(client: pg.ClientBase): Promise<readonly SequenceValue[]> {
  const { rows: names } = await client.query<{ name: string }>(sequencesSql);
  const values: SequenceValue[] = [];
  for (const { name } of names) {
    const { rows } = await client.query<{ last: string; isCalled: boolean }>(
      `SELECT last_value::text AS last, is_called AS "isCalled" FROM ${inService(name)}`,
    );
    for (const row of rows) values.push({ name, ...row });
  }
  return values;
}

/** Sets a sequence. */
export async function setSequence(tx: pg.ClientBase, { name, last, isCalled }: SequenceValue): Promise<void> {
  await tx.query('SELECT setval($1::regclass, $2::bigint, $3)', [inService(name), last, isCalled]);
}

/** Statements that remove a rule of the tables for a load, and add it again afterwards. */
export interface LiftedRule {
  readonly remove: string;
  readonly add: string;
}

const foreignKeysSql = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS remove,
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS add
    FROM pg_constraint WHERE contype = 'f' AND connamespace = to_regnamespace('service') ORDER BY conrelid, conname`;

/**
 * Triggers that count, derive or refuse rows: the rows of a dump are already counted and derived. `end_release` stays:
 * a restored release must hand out no index (ADR 67).
 */
const triggersSql = `
  SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname) AS remove,
         format('ALTER TABLE %s ENABLE %s TRIGGER %I', tgrelid::regclass,
                CASE tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, tgname) AS add
    FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
   WHERE c.relnamespace = to_regnamespace('service') AND NOT tgisinternal AND tgenabled <> 'D' AND tgname <> 'end_release'
   ORDER BY tgrelid, tgname`;

/** The foreign keys and triggers that a load of all rows works without. */
export async function rulesToLift(client: pg.ClientBase): Promise<readonly LiftedRule[]> {
  const rules: LiftedRule[] = [];
  for (const sql of [triggersSql, foreignKeysSql]) {
    const { rows } = await client.query<LiftedRule>(sql);
    rules.push(...rows);
  }
  return rules;
}

/**
 * Tables that a service without customers fills by itself, or that migrations fill. Their rows are replaced. Rows of
 * any other table are the rows of a service in use.
 */
const filledByItself: ReadonlySet<string> = new Set([
  'assets',
  'instance',
  'node_policy',
  'orders_audit',
  'orders_offset',
  'payment_blocks',
  'payments_offset',
  'rate_limits',
  'token_orders_offset',
  'wallet_coins_fill',
  'webhook_keys',
]);

/** Tables with rows of a service in use, and the numbers of their rows. Empty if the service is empty. */
export async function usedTables(
  client: pg.ClientBase,
): Promise<readonly { readonly name: string; readonly rows: number }[]> {
  const names = (await serviceTables(client))
    .map(({ name }) => name)
    .filter((name) => !filledByItself.has(name));
  if (names.length === 0) return [];
  const counts = names.map(
    (name) => `SELECT ${pg.escapeLiteral(name)} AS name, count(*) AS rows FROM ${inService(name)}`,
  );
  const { rows } = await client.query<{ name: string; rows: number }>(
    `SELECT name, rows FROM (${counts.join(' UNION ALL ')}) AS counted WHERE rows > 0 ORDER BY name`,
  );
  return rows;
}

/** Whether the role may drop schema `service` and create it again. */
export async function mayRecreateService(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT has_database_privilege(current_database(), 'CREATE')
        AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'service' AND NOT pg_has_role(nspowner, 'USAGE')) AS may`,
  );
  return rows[0]?.may === true;
}

/** Drops schema `service` with everything in it. */
export async function dropService(client: pg.ClientBase): Promise<void> {
  await client.query('DROP SCHEMA IF EXISTS service CASCADE');
}
