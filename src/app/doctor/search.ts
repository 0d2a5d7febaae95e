import type { Config } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { readAlias } from '#search/elastic/server/search-index.ts';
import { readSearchStanding, type SearchStanding } from '#search/sync/index-lag.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { openElastic } from '#src/app/searching/search.ts';
import { advice, broken, coded, type Finding, type Level, ok } from './finding.ts';
import type { Subject, UsableDatabase } from './subject.ts';

/** Facts of the index in Elasticsearch. */
export type IndexFacts = Pick<SearchStanding, 'marker' | 'problem' | 'lagBlocks'> & {
  /** Identity of our database. Null: no block is indexed. */
  readonly database: string | null;
};

/** A node of Elasticsearch that has less room than a watermark allows. */
export interface FullNode {
  readonly name: string;
  readonly usedPercent: number;
}

/** How long Elasticsearch may take, in ms. It answers such calls in milliseconds. */
const timeoutMs = 5000;
/** Oldest supported version. */
const oldestMajor = 9;
/** Used percentage of a disk from which Elasticsearch places no more shards on it (its default low watermark). */
const lowPercent = 85;
/** Used percentage from which Elasticsearch writes nothing (its default flood stage). */
const floodPercent = 95;

/** The Elasticsearch of the settings. */
export const searchSubject: Subject = {
  group: 'search',
  name: 'Elasticsearch',
  examine: async (examination) => {
    const { config } = examination;
    if (config.role === 'indexer' || config.role === 'orders') return [];
    const elastic = openElastic(examination, timeoutMs);
    if (elastic === null) return [];
    const findings = judgeServers(elastic.url, await versionsOf(elastic));
    findings.push(...judgeRoom(await fullestNodes(elastic)));
    const database = await examination.database;
    if (database?.network != null)
      findings.push(...judgeIndex(await askIndex(elastic, config, database, database.network), config));
    return findings;
  },
};

async function askIndex(
  elastic: ElasticClient,
  { elasticsearchIndexPrefix }: Config,
  { pool }: UsableDatabase,
  network: NonNullable<UsableDatabase['network']>,
): Promise<IndexFacts> {
  const alias = readAlias(elasticsearchIndexPrefix, network);
  const standing = await readSearchStanding(elastic, alias, pool);
  return { ...standing, database: await readDatabaseIdentity(pool) };
}

/** Versions of the nodes. Empty if this account may not see the nodes. */
async function versionsOf(elastic: ElasticClient): Promise<string[]> {
  const { nodes = {} } = await elastic
    .request<{ readonly nodes?: Readonly<Record<string, { readonly version: string }>> }>({
      method: 'GET',
      path: '/_nodes/http',
      query: { filter_path: 'nodes.*.version' },
    })
    .catch(withoutRight({ nodes: {} }));
  return [...new Set(Object.values(nodes).map(({ version }) => version))].toSorted();
}

interface AllocationRow {
  readonly node?: string;
  readonly 'disk.percent'?: string | null;
}

/** Nodes above the low watermark. Empty if this account may not see the nodes. */
async function fullestNodes(elastic: ElasticClient): Promise<FullNode[]> {
  const rows = await elastic
    .request<readonly AllocationRow[]>({ method: 'GET', path: '/_cat/allocation', query: { format: 'json' } })
    .catch(withoutRight([]));
  return rows
    .map(({ node, ...row }) => ({ name: node ?? '', usedPercent: Number(row['disk.percent'] ?? 0) }))
    .filter(({ usedPercent }) => usedPercent >= lowPercent);
}

/** A value in place of an answer that needs rights on the whole cluster, which the service itself does not need. */
const withoutRight =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (error instanceof AppError && error.details['status'] === 403) return value;
    throw error;
  };

/** Judges the versions of the servers. Pure. */
export function judgeServers(url: string, versions: readonly string[]): Finding[] {
  const old = versions.find((version) => Number.parseInt(version, 10) < oldestMajor);
  if (old === undefined)
    return [
      ok('search.server', `Elasticsearch ${versions.join(' and ')} answers at ${url}.`.replace('  ', ' ')),
    ];
  return [
    broken(
      'search.server',
      `Elasticsearch at ${url} has version ${old}, and ${oldestMajor} or newer is needed.`,
      `Update Elasticsearch to version ${oldestMajor}.`,
    ),
  ];
}

/** Judges the disks of the servers. Pure. */
export function judgeRoom(nodes: readonly FullNode[]): Finding[] {
  return nodes.map(({ name, usedPercent }) => {
    const where = `The disk of the Elasticsearch node ${name} is ${usedPercent} % full`;
    const action = 'Make room on it: Elasticsearch then continues by itself.';
    return usedPercent >= floodPercent
      ? broken('search.disk', `${where}: it writes nothing from ${floodPercent} % on.`, action)
      : advice('search.disk', `${where}: it places no more shards there from ${lowPercent} % on.`, action);
  });
}

/** Judges the index. `advice` if Postgres answers searches meanwhile. Pure. */
export function judgeIndex(
  { marker, problem, lagBlocks, database }: IndexFacts,
  { searchFallback, searchLagBlocks }: Pick<Config, 'searchFallback' | 'searchLagBlocks'>,
): Finding[] {
  const level: Exclude<Level, 'ok'> = searchFallback === 'postgres' ? 'advice' : 'broken';
  const meanwhile =
    searchFallback === 'postgres'
      ? 'Meanwhile Postgres answers searches.'
      : 'Meanwhile searches are refused.';
  const found = (
    code: 'search_engine_missing' | 'search_engine_behind' | 'search_engine_foreign',
    what: string,
  ) => [coded('search.index', { code, message: `${what} ${meanwhile}` }, level)];
  if (problem !== null && problem.code !== 'search_engine_missing')
    return [coded('search.index', problem, level)];
  if (marker === null) return found('search_engine_missing', 'Elasticsearch has no index of this chain yet.');
  if (marker.database !== database)
    return found('search_engine_foreign', 'The index of Elasticsearch belongs to another database.');
  if (marker.state !== 'complete')
    return found('search_engine_behind', `The index of Elasticsearch is incomplete (${marker.state}).`);
  const blocks = lagBlocks ?? 0;
  if (blocks > searchLagBlocks)
    return found('search_engine_behind', `The index of Elasticsearch is ${blocks} blocks behind.`);
  return [ok('search.index', `The index of Elasticsearch is complete, and ${blocks} blocks behind.`)];
}
