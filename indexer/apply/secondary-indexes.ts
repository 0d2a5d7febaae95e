import { availableParallelism } from 'node:os';
import type pg from 'pg';
import { mayBeCursed } from '#chain/snapshot/cursed-expression.ts';
import { isRareClass, isRareType, typeClass } from '#chain/snapshot/index-expressions.ts';
import type { DerivedTable, SecondaryIndex } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';

/**
 * Indexes of the chain tables besides the primary keys, by name. Derived tables declare their own. The writer creates
 * all of them: a first bulk load is faster if they are built at its end.
 */
const ownIndexes = {
  // finds an inscription by its id, a delegate, and the envelopes of a transaction
  inscriptions_id: { table: 'chain.inscriptions', unique: true, columns: 'txid, index' },
  // finds the inscriptions with a matching content; copies share an entry
  inscriptions_content: { table: 'chain.inscriptions', columns: 'content_id' },
  // for filters of /inscriptions: each takes 20 bytes per row, in key order, so a page is read from its start
  inscriptions_type: {
    table: 'chain.inscriptions',
    columns: 'chain.hash32(content_type), key',
    where: isRareType,
  },
  inscriptions_class: {
    table: 'chain.inscriptions',
    columns: `chain.hash32(${typeClass}), key`,
    where: isRareClass,
  },
  inscriptions_curse: { table: 'chain.inscriptions', columns: `(${mayBeCursed}), key`, where: mayBeCursed },
  details_metaprotocol: {
    table: 'chain.inscription_details',
    columns: 'chain.hash32(metaprotocol), key',
    where: 'metaprotocol IS NOT NULL',
  },
  details_delegate: {
    table: 'chain.inscription_details',
    columns: 'chain.hash32(delegate), key',
    where: 'delegate IS NOT NULL',
  },
  locations_owner: {
    table: 'chain.locations',
    columns: 'chain.hash32(script), key',
    where: 'spent_height IS NULL AND script IS NOT NULL',
  },
  inscriptions_number: { table: 'chain.inscriptions', columns: 'number', where: 'number IS NOT NULL' },
  inscriptions_metadata: {
    table: 'chain.inscriptions',
    columns: 'metadata_id',
    where: 'metadata_id IS NOT NULL',
  },
  // used by the writer's registry and by searches for a hash
  contents_sha256: { table: 'chain.contents', unique: true, columns: 'sha256, variant' },
  contents_decoded: {
    table: 'chain.contents',
    columns: 'decoded_sha256',
    where: 'decoded_sha256 IS NOT NULL',
  },
  metadata_texts_sha256: { table: 'chain.metadata_texts', unique: true, columns: 'sha256' },
  // finds the locations that an input spends: 8 bytes instead of 36; the full outpoint is compared afterwards
  locations_outpoint: {
    table: 'chain.locations',
    columns: 'outpoint_fingerprint',
    where: 'spent_height IS NULL',
  },
  // the moves of a block: undo uses them to find the locations to restore, and later rows
  locations_spent: {
    table: 'chain.locations',
    columns: 'spent_height',
    where: 'spent_height IS NOT NULL',
    isForUndo: true,
  },
  // lost and unbound inscriptions: /output lists them for their two special outpoints
  locations_outside: { table: 'chain.locations', columns: 'place, key', where: 'place <> 0' },
  // properties that an earlier version stored as text; empty after a catch-up pass has made rows of them
  details_properties: {
    table: 'chain.inscription_details',
    columns: 'key',
    where: 'properties_json IS NOT NULL',
  },
  // the children of an inscription
  parents_parent: { table: 'chain.parents', columns: 'parent_key, child_key', isForUndo: true },
  blocks_hash: { table: 'chain.blocks', columns: 'hash' },
} as const satisfies Record<string, SecondaryIndex>;
export type SecondaryIndexName = keyof typeof ownIndexes;

/** Indexes that every search reads. */
export const searchIndexes: readonly SecondaryIndexName[] = [
  'inscriptions_content',
  'inscriptions_metadata',
  'contents_sha256',
  'contents_decoded',
];

/**
 * Memory for the sorts of all concurrent index builds together, in bytes. It is enough for 10,000,000 small keys. The
 * server's setting is used if it is higher.
 */
const buildMemoryBytes = 256 * 1024 * 1024;

/**
 * Maximum number of connections that build indexes at once while no searches are answered. With more, each would have
 * too little memory to sort.
 */
const buildersMax = 4;

/** Maximum number of helper processes for one build, if cores are free. Postgres starts none for tables below 8 MB. */
const helpersMax = 2;

/**
 * Bounds of the statistics target. ANALYZE reads 300 rows for each unit of the target. The server's usual target of 100
 * suits tables of 160 MB and more. A smaller target is enough for smaller tables, and saves time: ANALYZE and builds
 * take most of the end of a short load. At 25 the common values and the spread of a table are right within some per
 * cent.
 */
const statisticsTargets = { least: 25, most: 100, tableBytesPerStep: 1.6 * 1024 * 1024 };

/** Indexes of the chain tables and of the given derived tables, by name. */
export function secondaryIndexes(
  tables: readonly DerivedTable[] = derivedTables,
): Readonly<Record<string, SecondaryIndex>> {
  return Object.assign({}, ownIndexes, ...tables.map(({ indexes }) => indexes)) as Record<
    string,
    SecondaryIndex
  >;
}

/** Names of the indexes without which undo would be too slow. */
export function indexesForUndo(tables: readonly DerivedTable[]): string[] {
  return Object.entries(secondaryIndexes(tables)).flatMap(([name, { isForUndo }]) =>
    isForUndo ? [name] : [],
  );
}

/** Names of the indexes that the database lacks. */
export async function missingIndexes(
  client: pg.ClientBase,
  tables: readonly DerivedTable[] = derivedTables,
): Promise<string[]> {
  const names = Object.keys(secondaryIndexes(tables));
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'chain'::regnamespace AND c.relname = ANY($1) AND i.indisvalid`,
    [names],
  );
  const there = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !there.has(name));
}

export interface IndexBuild {
  /** Names of the indexes; absent: all. */
  readonly wanted?: readonly string[];
  /** Derived tables whose indexes are included. Absent: all. */
  readonly tables?: readonly DerivedTable[];
  /** True if searches are answered meanwhile: one process then builds, and the other cores are left to the searches. */
  readonly isSearched?: boolean;
  /** Pool for more connections, so that several indexes are built at once. Absent: one index after another. */
  readonly pool?: pg.Pool;
}

/**
 * Builds the wanted indexes that are missing, and returns their names. Waits for writers of the table and blocks new
 * ones; readers continue. The writer and a catch-up pass may build the same index at the same time. Must not be called
 * within a transaction.
 */
export async function ensureSecondaryIndexes(
  client: pg.ClientBase,
  { wanted, tables = derivedTables, isSearched = false, pool }: IndexBuild = {},
): Promise<string[]> {
  const known = secondaryIndexes(tables);
  const missing = (await missingIndexes(client, tables)).filter((name) => wanted?.includes(name) ?? true);
  if (missing.length === 0) return missing;
  const cores = availableParallelism();
  const builders = isSearched || pool === undefined ? 1 : Math.min(buildersMax, cores, missing.length);
  const helpers = isSearched ? 0 : Math.min(helpersMax, Math.ceil(cores / builders) - 1);
  const begin = beginBuild(builders, helpers);
  const builds = new Builds(await largestFirst(client, missing, known));
  // if no connection is free, the connections that exist build all indexes
  const others = Array.from({ length: builders - 1 }, () => pool?.connect().catch(() => undefined));
  await allOf([
    builds.run(client, begin),
    ...others.map(async (connecting) => {
      const other = await connecting;
      if (other === undefined) return;
      let failure: Error | undefined;
      try {
        await builds.run(other, begin);
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        other.release(failure);
      }
    }),
  ]);
  return missing;
}

/** SQL that begins a transaction with the settings of a build. */
function beginBuild(builders: number, helpers: number): string {
  return `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_maintenance_workers = ${helpers};
    SELECT set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')),
      ${buildMemoryBytes}) / ${1024 * builders} || 'kB', true)`;
}

interface Build extends SecondaryIndex {
  readonly name: string;
  readonly tableBytes: number;
}

/** Sorts indexes by the size of their tables, largest first: the last builds are short, so no connection waits long. */
async function largestFirst(
  client: pg.ClientBase,
  names: readonly string[],
  known: Readonly<Record<string, SecondaryIndex>>,
): Promise<Build[]> {
  const indexes = names.flatMap((name) => (known[name] === undefined ? [] : [{ ...known[name], name }]));
  const { rows } = await client.query<{ table: string; bytes: number }>(
    'SELECT name AS table, pg_relation_size(name::regclass) AS bytes FROM unnest($1::text[]) AS name',
    [[...new Set(indexes.map(({ table }) => table))]],
  );
  const bytes = new Map(rows.map((row) => [row.table, row.bytes]));
  const builds = indexes.map((index) => ({ ...index, tableBytes: bytes.get(index.table) ?? 0 }));
  return builds.sort((a, b) => b.tableBytes - a.tableBytes);
}

/** Builds of indexes that several connections take from one list. */
class Builds {
  readonly #waiting: Build[];
  /** Number of unbuilt indexes, by table. */
  readonly #left = new Map<string, number>();
  #hasFailed = false;

  constructor(builds: readonly Build[]) {
    this.#waiting = [...builds];
    for (const { table } of builds) this.#left.set(table, (this.#left.get(table) ?? 0) + 1);
  }

  /** Builds until no index is left or a build has failed. */
  async run(client: pg.ClientBase, begin: string): Promise<void> {
    try {
      for (let next = this.#take(); next !== undefined; next = this.#take()) {
        const index = next;
        await withTransaction(client, (tx) => build(tx, index), begin);
        const left = (this.#left.get(index.table) ?? 0) - 1;
        this.#left.set(index.table, left);
        // analyze, because the planner otherwise assumes the old, empty tables
        if (left === 0) await analyze(client, index, begin);
      }
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  #take(): Build | undefined {
    return this.#hasFailed ? undefined : this.#waiting.shift();
  }
}

async function build(
  tx: pg.ClientBase,
  { name, table, method, columns, where, unique }: Build,
): Promise<void> {
  // CREATE INDEX's own lock does not exclude itself, but this lock does: the second process waits, then finds the index
  await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [advisoryLocks.indexBuild, name]);
  await tx.query(
    `CREATE ${unique === true ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${name} ON ${table} USING ${method ?? 'btree'} (${columns})
     ${where === undefined ? '' : `WHERE ${where}`}`,
  );
}

async function analyze(client: pg.ClientBase, { table, tableBytes }: Build, begin: string): Promise<void> {
  const { least, most, tableBytesPerStep } = statisticsTargets;
  const target = Math.round(Math.min(Math.max(least, tableBytes / tableBytesPerStep), most));
  const setting = `SET LOCAL default_statistics_target = ${target}`;
  await withTransaction(client, (tx) => tx.query(`ANALYZE ${table}`), `${begin}; ${setting}`);
}

/** Waits until all promises are settled, then throws the first error. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(works);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
