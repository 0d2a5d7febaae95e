import type { Config } from '#config/config.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type {
  BlockRef,
  BlockSource,
  BufferPool,
  Island,
  SourceBlock,
} from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { BatchRpc, CallOptions, RpcBatchCall } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { type NetworkName, type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Retry } from '#kernel/retry.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { type AwayReports, NodeAway } from '#node/node-away.ts';
import type { NodeAuth, NodeSettings } from '#node/node-settings.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/**
 * Delays between attempts to reach the node, in ms. A node that is just starting is tried again soon. The delays grow,
 * so that a node that is down for the night costs little.
 */
const firstDelayMs = 250;
const longestDelayMs = 10_000;
/**
 * How long to wait before the first message, in ms. A person at a terminal accepts a few silent seconds; a node nearby
 * answers within milliseconds.
 */
const silentMs = 3000;

export interface ConnectedNode {
  readonly node: BitcoinNode;
  readonly source: LiveBlockSource;
}

/** The connection to the node of the settings. The node is tried until it answers. */
export interface NodeLink {
  readonly url: string;
  /**
   * Settles when the node answers. Rejects on errors that waiting cannot fix, such as a wrong password or another
   * network.
   */
  readonly connected: Promise<ConnectedNode>;
  /** The reason why the node cannot be used. `null` if it was found, or was not tried yet. */
  readonly problem: () => AppError | null;
  /** The time since which the node cannot be used. */
  readonly problemSince: () => Date;
  /** The node's RPC. Throws `problem` until the node is found. */
  readonly rpc: BatchRpc;
  /**
   * Returns the source of blocks by hash, for responses with transactions. Its reads fail like `rpc` until the node is
   * found.
   */
  blocks(network: NetworkName): BlockSource;
}

export interface NodeLinkOptions {
  /** The only accepted network. If it is `null`, any network is accepted. */
  readonly network: NetworkName | null;
  /**
   * Whether to try again once a minute after the node refuses the cookie, because the process can serve meanwhile. If
   * absent, a refused cookie is an error.
   */
  readonly waitsForPeople?: boolean;
  /** Whether to use ZMQ, and to log advice about it. True if absent. */
  readonly listens?: boolean;
  /** Called after each failed attempt with its error, and with `null` when the node is found. */
  readonly onProblem?: (problem: AppError | null) => void;
}

/** The URL and the credentials of the node, from the settings. */
export function nodeSettings(config: Config, network: NetworkName | null): NodeSettings {
  return {
    rpcUrl: config.bitcoinRpcUrl,
    restUrl: config.bitcoinRestUrl,
    auth: nodeAuth(config),
    zmq: config.bitcoinZmq,
    network: network ?? config.network,
  };
}

function nodeAuth({ bitcoinCookieFile, bitcoinRpcUser, bitcoinRpcPassword }: Config): NodeAuth {
  if (bitcoinCookieFile !== undefined) return { kind: 'cookie', file: bitcoinCookieFile };
  if (bitcoinRpcUser !== undefined && bitcoinRpcPassword !== undefined) {
    return { kind: 'password', user: bitcoinRpcUser, password: bitcoinRpcPassword };
  }
  return { kind: 'none' };
}

/** Tries to reach the node until it answers, an error occurs that waiting cannot fix, or the lifecycle ends. */
export function linkNode(context: CommandContext, options: NodeLinkOptions): NodeLink {
  const { config, lifecycle, logger } = context;
  const log = logger.child({ part: 'node' });
  const settings = nodeSettings(config, options.network);
  let found: ConnectedNode | null = null;
  let problem: AppError | null = null;
  const since = new Date();
  const report = (error: AppError | null): void => {
    problem = error;
    options.onProblem?.(error);
  };
  const connected = lifecycle.run('node connection', async (signal) => {
    const node = await lookFor(settings, options, signal, log, report);
    const source = openNodeSource(node, { firstHeight: firstHeightOf(networks[node.facts.network], config) });
    found = { node, source };
    lifecycle.add('node', () => source.close());
    report(null);
    logFacts(log, node);
    return found;
  });
  // mark the rejection as handled, because `connected` may have no listener
  connected.catch(() => undefined);
  const reached = (): ConnectedNode => {
    if (found !== null) return found;
    throw (
      problem ??
      new AppError('node_unreachable', `Still looking for the node at ${shownAddress(config.bitcoinRpcUrl)}.`)
    );
  };
  const url = shownAddress(config.bitcoinRpcUrl);
  return {
    url,
    connected,
    problem: () => problem,
    problemSince: () => since,
    rpc: {
      url,
      call: async <Result>(method: string, parameters?: readonly unknown[], callOptions?: CallOptions) =>
        reached().node.rpc.call<Result>(method, parameters, callOptions),
      batch: async <Result>(calls: readonly RpcBatchCall[], callOptions?: CallOptions) =>
        reached().node.rpc.batch<Result>(calls, callOptions),
    },
    blocks: (network) => blocksOf(url, network, reached),
  };
}

/**
 * Runs a command's work with the node of the settings. The node must be of the given network. Throws `node_unreachable`
 * at once.
 */
export async function withNodeOf(
  context: CommandContext,
  network: NetworkName,
  work: (node: BatchRpc, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const link = await linkedNode(context, network);
  await context.lifecycle.run('work with the node', (signal) => work(link.rpc, signal));
}

/**
 * Connects a command to the node of the settings, without ZMQ. Throws `node_unreachable` at once, but waits for a node
 * that is starting.
 */
export async function linkedNode(context: CommandContext, network: NetworkName): Promise<NodeLink> {
  const missed = Promise.withResolvers<never>();
  const link = linkNode(context, {
    network,
    listens: false,
    onProblem: (problem) => {
      if (problem !== null && problem.code !== 'node_warming_up') missed.reject(problem);
    },
  });
  await Promise.race([link.connected, missed.promise]);
  return link;
}

async function lookFor(
  settings: NodeSettings,
  { waitsForPeople = false, listens = true }: NodeLinkOptions,
  signal: AbortSignal,
  log: Logger,
  report: (problem: AppError) => void,
): Promise<BitcoinNode> {
  let told: string | null = null;
  const tell = (error: AppError): void => {
    report(error);
    if (error.code === told) return;
    told = error.code;
    const { code, message: reason } = error;
    log.warn({ code, reason, advice: errorCodes[code].action }, 'waiting for the node');
  };
  const retry = new Retry({
    hasCookieFile: settings.auth.kind === 'cookie',
    waitsForPeople,
    firstPauseMs: firstDelayMs,
    pauseMaxMs: longestDelayMs,
  });
  const away = new NodeAway(awayReports(log));
  let isFound = false;
  const onResult = (failure: AppError | null): void => {
    if (isFound) away.result(failure);
  };
  // needed because an address that drops packets fails only after a long time
  const silent = setTimeout(() => {
    const where = shownAddress(settings.rpcUrl);
    tell(new AppError('node_unreachable', `The node at ${where} has not answered yet.`, { url: where }));
  }, silentMs);
  try {
    return await retry.run(async () => {
      try {
        return await connectNode(settings, { signal, listens, onResult });
      } catch (error) {
        clearTimeout(silent);
        if (error instanceof AppError && !signal.aborted) tell(error);
        throw error;
      }
    }, signal);
  } finally {
    isFound = true;
    clearTimeout(silent);
  }
}

/** Logs both reports at the same level, so that a log with the first line also has the second. */
function awayReports(log: Logger): AwayReports {
  return {
    onAway: ({ code, message: reason }) =>
      log.warn(
        { code, reason },
        'the node no longer answers; new blocks have to wait, and the service still answers from its index',
      ),
    onBack: (awaySeconds) => log.warn({ awaySeconds: Math.round(awaySeconds) }, 'the node answers again'),
  };
}

function logFacts(log: Logger, { name, facts }: BitcoinNode): void {
  const { network, version, hasRest, spentOutputs, isInitialBlockDownload, pruneHeight, zmq } = facts;
  log.info(
    { network, version, hasRest, spentOutputs, isInitialBlockDownload, pruneHeight, zmq: [...zmq.keys()] },
    `${name} was found`,
  );
  for (const { message, action } of facts.advice) log.warn(`${message} ${action}`);
}

function blocksOf(url: string, network: NetworkName, reached: () => ConnectedNode): BlockSource {
  return {
    name: `node ${url}`,
    network,
    trusted: true,
    islands: async (): Promise<readonly Island[]> => reached().source.islands(),
    refs: async (from?: Height): Promise<readonly BlockRef[]> => reached().source.refs(from),
    read: async (ref: BlockRef, signal?: AbortSignal, buffers?: BufferPool): Promise<SourceBlock> =>
      reached().source.read(ref, signal, buffers),
    // does nothing, because the follower of the node closes the source
    close: () => Promise.resolve(),
  };
}

/** The first height of blocks that matter. An index of addresses needs every block. */
export function firstHeightOf(
  { firstInscriptionHeight, firstRuneHeight }: NetworkParameters,
  { indexAddresses, indexRunes, indexSats }: Config,
): Height {
  if (indexAddresses || indexSats) return genesisHeight;
  return indexRunes ? asHeight(Math.min(firstInscriptionHeight, firstRuneHeight)) : firstInscriptionHeight;
}
