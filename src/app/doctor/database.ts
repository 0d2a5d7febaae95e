import type pg from 'pg';
import { indexedNetwork } from '#chain/blocks/index-tip.queries.ts';
import { type Config, hasEmbeddedDatabase } from '#config/config.ts';
import { hasOwner } from '#embedded-postgres/data-dir-lock.ts';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { knownHome } from '#embedded-postgres/server-place.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { type DatabaseDescription, describeDatabase } from '#kernel/pg/describe-database.ts';
import { pendingMigrations } from '#kernel/pg/migrate.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { ensureReaderRights, excessReaderRights } from '#kernel/pg/reader-role.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { isPublicAddress } from '#outgoing/public-address.ts';
import { givenServer, type Server } from '#src/app/database/database.ts';
import { judgeClock } from './clock.ts';
import { advice, broken, coded, type Finding, failed, ok } from './finding.ts';
import type { Examination, UsableDatabase } from './subject.ts';

/** Facts of a database that answers. */
export interface DatabaseFacts
  extends Pick<
    DatabaseDescription,
    'version' | 'collation' | 'hasOldCollation' | 'isReadOnly' | 'isStandby' | 'foreignTables' | 'bytes'
  > {
  readonly address: string;
  readonly isEmbedded: boolean;
  /** Whether a pooler in session mode is between this program and the server. */
  readonly isPooled: boolean;
  /** Whether the connection leaves the private network without TLS. */
  readonly isExposed: boolean;
  readonly pending: readonly string[];
  /** Whether migrations are missing that the writer may not run. */
  readonly cannotMigrate: boolean;
  readonly clockAheadMs: number;
}

/** Result of the examination of the database. */
export interface ExaminedDatabase {
  readonly findings: readonly Finding[];
  /** Null: it cannot be read. */
  readonly usable: UsableDatabase | null;
}

/** How long a statement may take, in ms. Each reads some rows. */
const statementTimeoutMs = 5000;
/** Maximum number of connections: the subjects that read are examined side by side. */
const connectionsMax = 4;

/** Examines the database of the settings. It starts no server. */
export async function examineDatabase(
  examination: Pick<Examination, 'config' | 'lifecycle' | 'now'>,
): Promise<ExaminedDatabase> {
  const { config } = examination;
  try {
    const server = await runningServer(config);
    if ('findings' in server) return server;
    const { isPooled } = await checkServer(server.url);
    const facts = await askDatabase(server, isPooled, examination);
    const findings = [
      ...judgeDatabase(facts, config.role),
      judgeClock({ of: 'postgres', aheadMs: facts.clockAheadMs }),
    ];
    if (facts.pending.length > 0) return { findings, usable: null };
    return {
      findings: [...findings, ...(await readerFindings(server, config))],
      usable: await openUsable(server, facts, examination),
    };
  } catch (error) {
    return { findings: [failed('database.connection', error)], usable: null };
  }
}

/** The server that runs, or the finding that none does. */
async function runningServer(config: Config): Promise<Server | ExaminedDatabase> {
  if (!hasEmbeddedDatabase(config)) return givenServer(config, 'existing');
  const { dataDir } = config;
  if (await hasOwner(dataDir)) {
    const urls = await attachEmbeddedPostgres(dataDir);
    return { ...urls, hasReader: true, isGuest: true };
  }
  const home = await knownHome(dataDir).catch((error: unknown) => {
    // there is no folder yet
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  const message =
    home === null
      ? `There is no database in ${dataDir} yet: the first start makes one.`
      : `The embedded Postgres of ${dataDir} is stopped, as the service is: its content was not checked.`;
  return { findings: [ok('database.connection', message)], usable: null };
}

async function openUsable(
  { url }: Server,
  { bytes, clockAheadMs }: DatabaseFacts,
  { lifecycle }: Pick<Examination, 'lifecycle'>,
): Promise<UsableDatabase> {
  const pool = createPool(url, {
    applicationName: 'satscribe doctor',
    max: connectionsMax,
    statementTimeoutMs,
    readOnly: true,
  });
  lifecycle.add('doctor connections', () => pool.end());
  return { pool, network: await indexedNetwork(pool), bytes, clockAheadMs };
}

async function askDatabase(
  { url }: Server,
  isPooled: boolean,
  { config, now }: Pick<Examination, 'config' | 'now'>,
): Promise<DatabaseFacts> {
  const client = await connectClient(url, 'satscribe doctor');
  try {
    const before = now();
    const described = await describeDatabase(client);
    const middle = (before + now()) / 2;
    const pending = await pendingMigrations(client, url);
    return {
      ...described,
      address: shownAddress(url),
      isEmbedded: hasEmbeddedDatabase(config),
      isPooled,
      isExposed: isExposed(client, described),
      pending,
      cannotMigrate: pending.length > 0 && !described.mayCreate,
      clockAheadMs: described.timeMs - middle,
    };
  } finally {
    await client.end();
  }
}

/** Whether a connection leads to a public address without TLS. */
const isExposed = (client: pg.Client, { serverAddress }: DatabaseDescription): boolean =>
  serverAddress !== null && isPublicAddress(serverAddress) && !isEncrypted(client);

/** Whether a connection has TLS. `pg` does not tell it. */
const isEncrypted = (client: pg.Client): boolean =>
  (client as unknown as { readonly connection: { readonly stream: { readonly encrypted?: boolean } } })
    .connection.stream.encrypted === true;

/** Judges a database that answers. Pure. */
export function judgeDatabase(facts: DatabaseFacts, role: Config['role']): Finding[] {
  const { address, isEmbedded, isPooled, version, collation } = facts;
  const name = isEmbedded ? 'The embedded Postgres' : 'Postgres';
  const through = isPooled ? ', through a pooler in session mode' : '';
  const findings = [
    ok(
      'database.connection',
      `${name} ${version} answers at ${address}${through}, with UTF8 and collation ${collation}.`,
    ),
  ];
  if (facts.isExposed)
    findings.push(
      advice(
        'database.tls',
        `The connection to Postgres at ${address} leaves the private network without TLS.`,
        'Add sslmode=verify-full to DATABASE_URL (docs/install.md, "TLS to Postgres").',
      ),
    );
  if (facts.hasOldCollation)
    findings.push(
      advice(
        'database.collation',
        `The operating system of Postgres sorts texts by other rules of ${collation} than when the database was made: its indexes of texts may be wrong.`,
        'As the owner: REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION.',
      ),
    );
  if (role !== 'api') findings.push(...writerFindings(facts));
  return [...findings, ...migrationFindings(facts)];
}

/** Findings about the role that writes. */
function writerFindings({ isReadOnly, isStandby, foreignTables }: DatabaseFacts): Finding[] {
  const findings: Finding[] = [];
  if (isReadOnly)
    findings.push(
      broken(
        'database.writes',
        isStandby
          ? 'Postgres accepts no writes: it is a standby.'
          : 'Postgres accepts no writes: default_transaction_read_only is on. Hosts set it if the disk of the database is full.',
        isStandby
          ? 'Let DATABASE_URL name the primary, or promote this server.'
          : 'Make room on the disk of the database, then set default_transaction_read_only to off.',
      ),
    );
  const [first] = foreignTables;
  if (first !== undefined)
    findings.push(
      broken(
        'database.owner',
        `The user of DATABASE_URL does not own ${foreignTables.length} tables, for example ${first}: it can neither migrate nor index.`,
        'Let DATABASE_URL name the owner of the tables, or give them to its user: REASSIGN OWNED BY … TO ….',
      ),
    );
  if (findings.length === 0)
    findings.push(
      ok('database.writes', 'The user of the database owns its tables, and Postgres accepts writes.'),
    );
  return findings;
}

function migrationFindings({ pending, cannotMigrate }: DatabaseFacts): Finding[] {
  if (pending.length === 0)
    return [ok('database.migrations', 'The database has all migrations of this version.')];
  const message = `The database lacks ${pending.length} migrations of this version, from ${pending[0]} on.`;
  if (cannotMigrate)
    return [
      broken(
        'database.migrations',
        `${message} Its user may not create schemas in it.`,
        'As an administrator: GRANT CREATE ON DATABASE … TO the user of DATABASE_URL.',
      ),
    ];
  return [coded('database.migrations', { code: 'database_behind', message }, 'advice')];
}

/** Findings about the role that answers requests. */
async function readerFindings({ readerUrl, hasReader }: Server, config: Config): Promise<Finding[]> {
  // the subject `settings` says that there is no such role
  if (!hasReader) return [];
  try {
    // without the address of the writer, nothing is granted
    await ensureReaderRights(null, readerUrl);
    if (hasEmbeddedDatabase(config))
      return [ok('database.reader', 'The role that answers requests has its rights.')];
    await checkServer(readerUrl);
    return judgeReader(await excessReaderRights(readerUrl));
  } catch (error) {
    return [failed('database.reader', error)];
  }
}

/** Maximum number of rights that a message names. More would fill the terminal. */
const shownRightsMax = 5;

/** Judges a role that has all rights that answers need. Pure. */
export function judgeReader({
  role,
  excess,
}: {
  readonly role: string;
  readonly excess: readonly string[];
}): Finding[] {
  if (excess.length === 0)
    return [ok('database.reader', `The role ${role}, which answers requests, has its rights and no others.`)];
  return [
    advice(
      'database.reader',
      `The user of DATABASE_READER_URL, ${role}, may do more than answers need: it ${excess.slice(0, shownRightsMax).join(', ')}.`,
      'Give it only the rights of docs/install.md, "Two roles of the database".',
    ),
  ];
}
