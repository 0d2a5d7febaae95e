import { isKnots } from '#kernel/bitcoin/node-name.ts';
import type { CallOptions, NodeAdvice, NodeFacts, NodeRpc, ZmqTopic } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import type { BulkReads } from './bulk-reads.ts';
import { askChainInfo, type ChainInfo, fieldsOf, invalidAnswer } from './node-answers.ts';
import type { NodeSettings } from './node-settings.ts';
import { zmqTopics } from './zmq-frames.ts';

/** Our names of networks, by the names that bitcoind uses (`chain` in `getblockchaininfo`). */
const networkByChain: Readonly<Record<string, NetworkName>> = {
  main: 'mainnet',
  test: 'testnet3',
  testnet4: 'testnet4',
  signet: 'signet',
  regtest: 'regtest',
};

/** Maximum number of bytes of a small answer, such as `chaininfo.json`. A longer answer does not come from a node. */
const smallAnswerBytesMax = 1024 * 1024;
const spentOfTipBytesMax = 256 * 1024 * 1024;

const advices = {
  rest: (url: string): NodeAdvice => ({
    feature: 'rest',
    message: `The node has no REST at ${shownAddress(url)}, so blocks are read by RPC, which is several times slower.`,
    action: 'Put rest=1 into bitcoin.conf, and restart the node.',
  }),
  spentTxOuts: {
    feature: 'spenttxouts',
    message:
      'The node has no /rest/spenttxouts, so spent outputs are read by RPC, which is several times slower.',
    action: 'Use Bitcoin Core 30 or newer, or Knots 29 or newer.',
  },
  sequence: {
    feature: 'sequence',
    message: 'The node has no ZMQ topic sequence, so the node is polled every few seconds.',
    action: 'Put zmqpubsequence=tcp://127.0.0.1:28332 into bitcoin.conf, and restart the node.',
  },
  rawtx: {
    feature: 'rawtx',
    message: 'The node has no ZMQ topic rawtx, so transactions of the mempool are fetched one by one.',
    action: 'Put zmqpubrawtx=tcp://127.0.0.1:28332 into bitcoin.conf, and restart the node.',
  },
  txIndex: {
    feature: 'txindex',
    message:
      'The node has no transaction index, so transactions without indexed inscriptions are unknown once they leave the mempool.',
    action: 'Put txindex=1 into bitcoin.conf, and restart the node.',
  },
  txIndexBehind: {
    feature: 'txindex',
    message:
      'The transaction index of the node is still being built. Until it is complete, transactions without indexed inscriptions may be unknown.',
    action: 'Wait until the node has built the index in the background.',
  },
  reveals: {
    feature: 'revealing',
    message:
      'This node is Bitcoin Knots, whose mempool accepts no reveal of an inscription, with any setting. Inscriptions are still indexed once they are in a block.',
    action: 'To send inscriptions, use Bitcoin Core.',
  },
  pruned: (height: Height): NodeAdvice => ({
    feature: 'unpruned',
    message: `The node prunes its blocks and has only those from height ${height} on, so no block below that height can be indexed or verified.`,
    action:
      'Put prune=0 into bitcoin.conf, and restart the node, which then downloads the missing blocks again.',
  }),
} as const satisfies Record<string, NodeAdvice | ((of: never) => NodeAdvice)>;

/**
 * Discovers a node's properties and features. Throws like NodeRpc, and also `network_mismatch`.
 *
 * @param how.listens if false, there is no advice about ZMQ
 */
export async function discoverFacts(
  settings: NodeSettings,
  rpc: NodeRpc,
  bulk: BulkReads,
  { signal, listens = true }: { readonly signal?: AbortSignal; readonly listens?: boolean } = {},
): Promise<NodeFacts> {
  const options = signal === undefined ? {} : { signal };
  const chain = await askChainInfo(rpc, signal);
  const network = checkedNetwork(chain, settings, rpc);
  const hasRest = await restIsThere(bulk, chain, signal);
  const hasSpentTxOuts = hasRest && (await spentTxOutsAreThere(bulk, chain, signal));
  const txIndex = await askTxIndex(rpc, options);
  const zmq = await askZmq(rpc, settings, options);
  const facts = {
    network,
    ...(await askName(rpc, options)),
    isInitialBlockDownload: chain.isInitialBlockDownload,
    pruneHeight: chain.pruneHeight,
    hasRest,
    spentOutputs: hasSpentTxOuts ? ('rest' as const) : ('rpc' as const),
    hasTxIndex: txIndex === 'whole',
    zmq,
  };
  const advice = [
    ...readingAdvice(facts, settings.restUrl ?? rpc.url),
    ...(listens ? newsAdvice(facts) : []),
    ...policyAdvice(facts, txIndex),
  ];
  return { ...facts, advice };
}

/** Advice for the operator if blocks are read more slowly than necessary. */
function readingAdvice(
  { hasRest, spentOutputs }: Pick<NodeFacts, 'hasRest' | 'spentOutputs'>,
  restUrl: string,
): NodeAdvice[] {
  if (!hasRest) return [advices.rest(restUrl)];
  return spentOutputs === 'rpc' ? [advices.spentTxOuts] : [];
}

/** Advice for the operator if news of the node arrives later than necessary. */
function newsAdvice({ zmq }: Pick<NodeFacts, 'zmq'>): NodeAdvice[] {
  const advice: NodeAdvice[] = [];
  if (!zmq.has('sequence')) advice.push(advices.sequence);
  if (!zmq.has('rawtx')) advice.push(advices.rawtx);
  return advice;
}

/** Advice about missing features and policies of the node. */
function policyAdvice(
  { reveals, pruneHeight }: Pick<NodeFacts, 'reveals' | 'pruneHeight'>,
  txIndex: 'whole' | 'behind' | 'none',
): NodeAdvice[] {
  const advice: NodeAdvice[] = [];
  if (txIndex === 'none') advice.push(advices.txIndex);
  if (txIndex === 'behind') advice.push(advices.txIndexBehind);
  if (reveals === 'refused') advice.push(advices.reveals);
  if (pruneHeight !== null) advice.push(advices.pruned(pruneHeight));
  return advice;
}

function checkedNetwork(chain: ChainInfo, settings: NodeSettings, rpc: NodeRpc): NetworkName {
  const network = Object.hasOwn(networkByChain, chain.chain) ? networkByChain[chain.chain] : undefined;
  if (network === undefined) throw invalidAnswer(rpc, 'getblockchaininfo');
  if (settings.network !== undefined && settings.network !== network) {
    throw new AppError(
      'network_mismatch',
      `The node at ${rpc.url} is on ${network}, but ${settings.network} is configured.`,
      { found: network, expected: settings.network },
    );
  }
  return network;
}

/**
 * Whether REST answers and belongs to the same node as RPC. The chains must be the same, and the heights nearly the
 * same.
 */
async function restIsThere(bulk: BulkReads, chain: ChainInfo, signal?: AbortSignal): Promise<boolean> {
  const answer = await tryRest(bulk, '/rest/chaininfo.json', smallAnswerBytesMax, signal);
  if (answer === null) return false;
  try {
    const info: unknown = JSON.parse(Buffer.from(answer).toString('utf8'));
    return fieldsOf(info)['chain'] === chain.chain;
  } catch {
    return false;
  }
}

async function spentTxOutsAreThere(
  bulk: BulkReads,
  chain: ChainInfo,
  signal?: AbortSignal,
): Promise<boolean> {
  const path = `/rest/spenttxouts/${chain.bestblockhash}.bin`;
  return (await tryRest(bulk, path, spentOfTipBytesMax, signal)) !== null;
}

/** Requests a path over REST. Returns null if the status is not 200. */
async function tryRest(
  bulk: BulkReads,
  path: string,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    const { status, bytes } = await bulk.rest(path, { bytesMax, signal });
    return status === 200 ? bytes : null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/**
 * Finds out by the node's name whether the node relays reveals. Sending an invented reveal would not show that, because
 * nodes first refuse unknown inputs. Knots accepts no conditional in a tapscript, whatever its options are.
 */
async function askName(rpc: NodeRpc, options: CallOptions): Promise<Pick<NodeFacts, 'version' | 'reveals'>> {
  const { version, subversion } = fieldsOf(await rpc.call<unknown>('getnetworkinfo', [], options));
  if (typeof version !== 'number') throw invalidAnswer(rpc, 'getnetworkinfo');
  return { version, reveals: isKnots(subversion) ? 'refused' : 'untested' };
}

async function askTxIndex(rpc: NodeRpc, options: CallOptions): Promise<'whole' | 'behind' | 'none'> {
  const index = fieldsOf(await ifKnown(rpc, 'getindexinfo', options))['txindex'];
  if (index === undefined) return 'none';
  return fieldsOf(index)['synced'] === true ? 'whole' : 'behind';
}

/** ZMQ endpoints by topic, with the hosts under which this process reaches them. */
async function askZmq(
  rpc: NodeRpc,
  settings: NodeSettings,
  options: CallOptions,
): Promise<ReadonlyMap<ZmqTopic, string>> {
  const answer = await ifKnown(rpc, 'getzmqnotifications', options);
  const published: readonly unknown[] = Array.isArray(answer) ? answer : [];
  const endpoints = new Map<ZmqTopic, string>();
  for (const topic of zmqTopics) {
    const entry = published.map(fieldsOf).find(({ type }) => type === `pub${topic}`);
    const address = entry?.['address'];
    if (typeof address !== 'string') continue;
    const endpoint = settings.zmq ?? reachableEndpoint(address, rpc.url);
    if (endpoint !== null) endpoints.set(topic, endpoint);
  }
  return endpoints;
}

/**
 * The endpoint on which a node listens, as this process reaches it. If the node listens on all its addresses, the host
 * is the host of its RPC URL.
 */
export function reachableEndpoint(address: string, rpcUrl: string): string | null {
  if (address.startsWith('ipc://')) return address;
  const match = /^tcp:\/\/(.+):(\d{1,5})$/u.exec(address);
  if (match === null) return null;
  const [, host = '', port = ''] = match;
  const isAny = host === '*' || host === '0.0.0.0' || host === '[::]' || host === '::';
  return `tcp://${isAny ? new URL(rpcUrl).hostname : host}:${port}`;
}

/**
 * Calls a method. Returns null if the node does not know the method. The node is then older, or was built without it.
 */
async function ifKnown(rpc: NodeRpc, method: string, options: CallOptions): Promise<unknown> {
  try {
    return await rpc.call<unknown>(method, [], options);
  } catch (error) {
    // RPC_METHOD_NOT_FOUND; some servers answer with only the HTTP status
    const isUnknown =
      error instanceof AppError && (error.details['rpcCode'] === -32601 || error.details['status'] === 404);
    if (isUnknown) return null;
    throw error;
  }
}
