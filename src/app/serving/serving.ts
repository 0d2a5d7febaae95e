import { setTimeout as sleep } from 'node:timers/promises';
import { existingHome } from '#embedded-postgres/server-place.ts';
import { readStanding, type Standing } from '#http/operations/chain-lag.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import {
  awaitDatabase,
  type Database,
  isAnythingIndexed,
  networkOf,
  openDatabase,
} from '#src/app/database/database.ts';
import { holdServiceLock } from '#src/app/database/service-lock.ts';
import { indexBlocks } from '#src/app/indexing/index-blocks.ts';
import { startUndecidedSweeps } from '#src/app/ordering/collections.ts';
import { requirePayoutDepth } from '#src/app/ordering/network-settings.ts';
import { startAudits, startFileSweeps, startOrders } from '#src/app/ordering/orders.ts';
import { startPayments } from '#src/app/ordering/payments.ts';
import { startTokenOrders } from '#src/app/ordering/token-payments.ts';
import { startReserves } from '#src/app/ordering/token-reserves.ts';
import { startWatches } from '#src/app/ordering/watches.ts';
import { startWebhooks } from '#src/app/ordering/webhooks.ts';
import { announceWaiting, keepEnded, statusWriter } from '#src/app/reports/announce.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { openOperations } from '#src/app/reports/operations.ts';
import { checkDescriptor } from '#src/app/sats/inventory.ts';
import { openSatributes, startProvenance } from '#src/app/sats/satributes.ts';
import { startSearchSync } from '#src/app/searching/search.ts';
import { linkNode, type NodeLink } from '#src/app/sources/node.ts';
import { openBlocks } from '#src/app/sources/source.ts';
import type { Additions } from './additions.ts';
import { type HttpParts, type Listening, serveHttp } from './http.ts';
import { serveWhileWaiting } from './waiting.ts';

/**
 * How long `ready` may be delayed, in ms. Scripts that start the service may wait for `ready`. After a restart, only a
 * few blocks must be indexed first. A first sync takes hours, so `ready` is sent after this time; /health/ready reports
 * the rest.
 */
const readyWaitMs = 15_000;

/**
 * Errors after which the index is still valid and is served. New blocks are indexed only after an operator fixes the
 * cause.
 */
const servesOnAfter: readonly ErrorCode[] = [
  'block_unavailable',
  'block_truncated',
  'block_oversized',
  'block_corrupt',
  'block_not_linked',
  'spent_outputs_mismatch',
  'node_refused',
  'node_tls',
  'node_pruned',
  'node_call_failed',
];

const noAdditions: Additions = { prepare: () => Promise.resolve(), demo: null };

/** Indexes a folder of blocks and serves the index. Returns the service's URL once the folder is indexed. */
export async function serveFolder(
  context: CommandContext,
  dir: string,
  tip: string | undefined,
  { prepare, demo }: Additions = noAdditions,
): Promise<{ address: string }> {
  const { config, lifecycle } = context;
  const source = await openBlocks(context, dir, tip);
  if (config.network !== undefined) checkNetwork(source.name, source.network, config.network);
  const database = config.role === 'api' ? await awaitDatabase(context) : await openDatabase(context, 'own');
  if (config.role !== 'api') await holdServiceLock(context, database);
  await prepare(database);
  const operations = openOperations(context, database);
  const { network } = source;
  const satributes = await openSatributes(context, database, network);
  const parts: HttpParts = {
    database,
    owner: database,
    network,
    satributes,
    operations,
    blocks: source,
    node: null,
    demo,
  };
  // start this first, so that requests are answered while blocks are indexed
  const { address } = await serveHttp(context, parts);
  if (config.role === 'all') {
    startSearchSync(context, database, network, operations);
    startWebhooks(context, database, operations);
  }
  if (config.role !== 'api') {
    startPayments(context, database, source, null);
    startWatches(context, database, networks[network]);
    const index = async (): Promise<void> => {
      await indexBlocks(context, database, { source, node: null, operations });
    };
    await servingOn(context, database, index);
    // start no new work after the process began to stop
    if (!lifecycle.signal.aborted) {
      const pool = statusWriter(context, database);
      void lifecycle.run('status', () => keepEnded(context, pool));
    }
  }
  return { address };
}

/** Follows the node of the settings and serves the index. The index is served even while the node is unreachable. */
export async function serveNode(
  context: CommandContext,
  { prepare, demo }: Additions = noAdditions,
): Promise<{ address: string }> {
  const { config, health, lifecycle } = context;
  // for a new index, create the database only when there is a node to index from
  const isNew = config.databaseUrl === undefined && (await existingHome(config.dataDir)) === null;
  const early = isNew ? null : await openDatabase(context, 'own');
  const known = early === null ? null : await networkOf(early);
  if (known !== null && config.network !== undefined) checkNetwork('NETWORK', config.network, known);
  const link = linkNode(context, {
    network: known,
    waitsForPeople: known !== null,
    onProblem: (problem) => health.report('node', problem),
  });
  const { network, database, listening } = await databaseToServe(context, link, early, known);
  requirePayoutDepth(config, network);
  await holdServiceLock(context, database);
  await prepare(database);
  const operations = openOperations(context, database);
  const satributes = await openSatributes(context, database, network);
  const blocks = link.blocks(network);
  const parts: HttpParts = {
    database,
    owner: database,
    network,
    satributes,
    operations,
    blocks,
    node: link.rpc,
    demo,
  };
  const { address } = await serveHttp(context, parts, listening);
  if (config.role === 'all') {
    startSearchSync(context, database, network, operations);
    startWebhooks(context, database, operations);
  }
  const follow = async (): Promise<void> => {
    const { node, source } = await announceWaiting(context, statusWriter(context, database), link);
    if (config.role === 'all') await checkDescriptor(context, node.rpc, network);
    startPayments(context, database, source, node);
    startWatches(context, database, networks[network]);
    startProvenance(context, database, satributes, node, blocks);
    if (config.role === 'all') {
      startOrders(context, database, satributes, node.rpc, blocks, operations);
      startTokenOrders(context, database, satributes);
      startReserves(context, database);
      startAudits(context, database, node.rpc);
      startFileSweeps(context, database, operations);
      startUndecidedSweeps(context, database);
    }
    await indexBlocks(context, database, { source, operations, node });
  };
  const following = servingOn(context, database, follow);
  following.catch((error: unknown) => lifecycle.fail(error));
  await Promise.race([caughtUp(operations, readyWaitMs, lifecycle.signal), following]);
  return { address };
}

/** Syncs the chain to Elasticsearch, from a database that another process fills. */
export async function serveSearchSync(context: CommandContext): Promise<{ address: string }> {
  const { parts, listening, database } = await awaitIndexed(context);
  const { network, operations } = parts;
  const { address } = await serveHttp(context, parts, listening);
  startSearchSync(context, database, network, operations);
  return { address };
}

/** Advances orders and sends webhooks, from a database that another process fills. */
export async function serveOrders(context: CommandContext): Promise<{ address: string }> {
  const { parts, listening, database } = await awaitIndexed(context);
  requirePayoutDepth(context.config, parts.network);
  const link = linkNode(context, { network: parts.network, waitsForPeople: true });
  const { address } = await serveHttp(context, { ...parts, node: link.rpc }, listening);
  startWebhooks(context, database, parts.operations);
  startOrders(context, database, parts.satributes, link.rpc, link.blocks(parts.network), parts.operations);
  startTokenOrders(context, database, parts.satributes);
  startReserves(context, database);
  startAudits(context, database, link.rpc);
  startFileSweeps(context, database, parts.operations);
  startUndecidedSweeps(context, database);
  return { address };
}

/** Answers requests from a database that another process fills. */
export async function serveApi(context: CommandContext): Promise<{ address: string }> {
  const { parts, listening } = await awaitIndexed(context);
  // requests that need the node get an error while it is unreachable; requests that need only the index are answered
  const { network } = parts;
  const link = linkNode(context, { network, waitsForPeople: true });
  const checked = link.connected.then(
    ({ node }) => checkDescriptor(context, node.rpc, network),
    () => undefined,
  );
  checked.catch((error: unknown) => context.lifecycle.fail(error));
  return serveHttp(context, { ...parts, blocks: link.blocks(network), node: link.rpc }, listening);
}

/** Waits until another process has begun to index, and returns its database and network. */
async function awaitIndexed(
  context: CommandContext,
): Promise<{ parts: HttpParts; listening: Listening | undefined; database: Database }> {
  const { config } = context;
  const database = await awaitDatabase(context);
  const operations = openOperations(context, database);
  let network = await networkOf(database);
  let listening: Listening | undefined;
  if (network === null) {
    const waited = await serveWhileWaiting(context, () => awaitNetwork(context, database));
    network = waited.value;
    listening = waited;
  }
  if (config.network !== undefined) checkNetwork('NETWORK', config.network, network);
  const satributes = await openSatributes(context, database, network);
  return {
    parts: { database, owner: database, network, satributes, operations, blocks: null, node: null },
    listening,
    database,
  };
}

/**
 * Runs work. If it fails and blocks are indexed, the process continues to serve, and /health/ready reports the error.
 */
async function servingOn(
  context: CommandContext,
  database: Database,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { config, health, lifecycle, logger } = context;
    if (lifecycle.signal.aborted) return;
    const isKnown = error instanceof AppError && servesOnAfter.includes(error.code);
    // without its work, a process that only indexes is useless, so it ends and its supervisor restarts it
    if (!isKnown || config.role === 'indexer' || !(await isAnythingIndexed(database))) throw error;
    health.report('indexing', error);
    logger.error(
      { code: error.code, err: error },
      'indexing has stopped; the service still answers from the indexed blocks',
    );
  }
}

/**
 * Returns the database with its network, or the node's network if the database has none yet. While the process waits
 * for the node, and while it creates an embedded database, requests on the port are answered with the reason.
 */
async function databaseToServe(
  context: CommandContext,
  link: NodeLink,
  early: Database | null,
  known: NetworkName | null,
): Promise<{ network: NetworkName; database: Database; listening: Listening | undefined }> {
  if (known !== null && early !== null) return { network: known, database: early, listening: undefined };
  const listening = await serveWhileWaiting(context, async () => {
    const { node } = await link.connected;
    return { network: node.facts.network, database: early ?? (await openDatabase(context, 'own')) };
  });
  return { ...listening.value, listening };
}

async function awaitNetwork(context: CommandContext, database: Database): Promise<NetworkName> {
  const { health, lifecycle, logger } = context;
  logger.info('no block is indexed yet; waiting for the process that indexes');
  health.report('database', new AppError('nothing_indexed', 'No block is indexed yet.'));
  for (;;) {
    const network = await networkOf(database);
    if (network !== null) {
      health.report('database', null);
      return network;
    }
    await lifecycle.pause(lookEveryMs);
  }
}

/** How often the status is read, in ms. The wait depends on a node that must answer first, so seconds do not matter. */
const lookEveryMs = 1000;

function checkNetwork(what: string, given: NetworkName, expected: NetworkName): void {
  if (given === expected) return;
  throw new AppError('network_mismatch', `${what} is on ${given}, but this service serves ${expected}.`, {
    given,
    expected,
  });
}

const tipLookEveryMs = 100;

/**
 * Waits until the index is at the tip of its source, but at most `waitMs`. Stops early if a problem stops the indexing.
 * Reports from before the start of this process are ignored.
 */
async function caughtUp(
  { health, pool, startedAt }: OperationsParts,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && !signal.aborted) {
    if (health.problems().length > 0) return false;
    const standing = await readStanding(pool, null).catch(() => null);
    const ageSeconds = (Date.now() - startedAt.getTime()) / 1000;
    if (standing !== null && (standing.ageSeconds ?? ageSeconds) < ageSeconds) {
      if (standing.status?.problem != null) return false;
      if (isAtTip(standing)) return true;
    }
    await sleep(tipLookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function isAtTip({ tip, status }: Standing): boolean {
  const sourceTip = status?.sourceTip ?? null;
  if (sourceTip === null || tip === null) return false;
  return Buffer.compare(tip.hash, sourceTip.hash) === 0;
}
