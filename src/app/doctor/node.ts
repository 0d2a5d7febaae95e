import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import type { NodeFacts, NodeFeature } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { firstHeightOf, nodeSettings } from '#src/app/sources/node.ts';
import { judgeClock } from './clock.ts';
import { advice, broken, coded, type Finding, ok } from './finding.ts';
import { judgePolicy, type NodeReply, policyOf } from './policy.ts';
import type { Examination, Subject, UsableDatabase } from './subject.ts';

/** Facts of a node that answers. */
export interface CheckedNode {
  readonly url: string;
  readonly facts: NodeFacts;
  /** Name and version that the node tells its peers, for example `/Satoshi:30.2.0/`. */
  readonly userAgent: string;
  readonly blocks: number;
  readonly headers: number;
  readonly peers: number;
  readonly isNetworkActive: boolean;
  /** Median difference of the node's clock from the clocks of its peers, in seconds. */
  readonly peersAheadSeconds: number;
}

/** Requirements of the index. */
export interface NodeNeeds {
  /** Null: any network. */
  readonly network: NetworkName | null;
  /** The lowest height whose block is not indexed yet. */
  readonly nextHeight: Height;
}

/** The node of the settings, its policy and its clock. */
export const nodeSubject: Subject = {
  group: 'node',
  name: 'the node',
  examine: async (examination) => {
    const { config, database, signal } = examination;
    if (config.role === 'search-sync' || config.blocksDir !== undefined) return [];
    // the network is judged together with the other facts
    const settings = { ...nodeSettings(config, null), network: undefined };
    const node = await connectNode(settings, { signal });
    try {
      const [[chain, network, mempool], aheadMs] = await Promise.all([
        askNode(node, signal),
        askClock(node, examination),
      ]);
      const needs = await needsOf(config, node.facts.network, await database);
      const takesOrders = config.role === 'orders' || config.walletSeedFile !== undefined;
      return [
        ...judgeNode(checkedNode(node, chain, network), needs),
        ...judgePolicy(policyOf(mempool, network), takesOrders),
        ...(aheadMs === null ? [] : [judgeClock({ of: 'node', aheadMs })]),
      ];
    } finally {
      // its end is not awaited: the process ends soon
      void node.close().catch(() => undefined);
    }
  },
};

async function needsOf(
  config: CommandContext['config'],
  found: NetworkName,
  database: UsableDatabase | null,
): Promise<NodeNeeds> {
  const network = database?.network ?? config.network ?? null;
  const tip = database === null ? null : await indexedTip(database.pool);
  const nextHeight = tip === null ? firstHeightOf(networks[network ?? found], config) : asHeight(tip + 1);
  return { network, nextHeight };
}

/** The replies to `getblockchaininfo`, `getnetworkinfo` and `getmempoolinfo`. */
async function askNode(
  { rpc }: BitcoinNode,
  signal: AbortSignal,
): Promise<readonly [chain: NodeReply, network: NodeReply, mempool: NodeReply]> {
  const methods = ['getblockchaininfo', 'getnetworkinfo', 'getmempoolinfo'];
  const calls = methods.map((method) => ({ method, parameters: [] }));
  const [chain = {}, network = {}, mempool = {}] = await rpc.batch<NodeReply>(calls, { signal });
  return [chain, network, mempool];
}

function checkedNode({ rpc, facts }: BitcoinNode, chain: NodeReply, network: NodeReply): CheckedNode {
  const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return {
    url: rpc.url,
    facts,
    userAgent: typeof network['subversion'] === 'string' ? network['subversion'] : '',
    blocks: numberOf(chain['blocks']),
    headers: numberOf(chain['headers']),
    peers: numberOf(network['connections']),
    isNetworkActive: network['networkactive'] !== false,
    peersAheadSeconds: numberOf(network['timeoffset']),
  };
}

/** Time of the node's clock minus the time of this machine, in ms. Null: the node does not tell its time. */
async function askClock({ rpc }: BitcoinNode, { now, signal }: Examination): Promise<number | null> {
  const before = now();
  const { timemillis } = await rpc.call<{ readonly timemillis?: unknown }>('getnettotals', [], { signal });
  const middle = (before + now()) / 2;
  return typeof timemillis === 'number' ? timemillis - middle : null;
}

/** Judges a node that answers. Pure. */
export function judgeNode(node: CheckedNode, needs: NodeNeeds): Finding[] {
  const { facts, url, userAgent, blocks } = node;
  if (needs.network !== null && needs.network !== facts.network) {
    const message = `The node at ${url} is on ${facts.network}, and this service serves ${needs.network}.`;
    return [coded('node.network', new AppError('network_mismatch', message))];
  }
  return [
    ok(
      'node.connection',
      `${nameOf(userAgent)} answers at ${url}, on ${facts.network}, with ${blocks} blocks.`,
    ),
    ...syncFindings(node),
    ...prunedFindings(node, needs),
    ...featureFindings(node),
  ];
}

/** `Satoshi:30.2.0` of `/Satoshi:30.2.0/`. */
const nameOf = (userAgent: string): string => {
  const name = userAgent.replaceAll(/^\/|\/$/gu, '');
  return name === '' ? 'A node' : name;
};

function syncFindings({
  facts,
  blocks,
  headers,
  peers,
  isNetworkActive,
  peersAheadSeconds,
}: CheckedNode): Finding[] {
  const findings: Finding[] = [];
  if (facts.isInitialBlockDownload && facts.network === 'regtest')
    findings.push(
      advice(
        'node.sync',
        `The node says that it still downloads the chain, because its last block is old or missing. It has ${blocks} blocks.`,
        'Mine a block: bitcoin-cli -regtest generatetoaddress 1 ADDRESS.',
      ),
    );
  else if (facts.isInitialBlockDownload)
    findings.push(
      advice(
        'node.sync',
        `The node still downloads the chain: it has ${blocks} of ${headers} blocks.`,
        'Wait. The index follows the node meanwhile.',
      ),
    );
  // a chain for tests needs no peers
  if (facts.network !== 'regtest' && (peers === 0 || !isNetworkActive))
    findings.push(
      broken(
        'node.peers',
        isNetworkActive
          ? 'The node has no peers: it gets no new blocks, and sends no transactions.'
          : 'The network of the node is switched off: it gets no new blocks, and sends no transactions.',
        isNetworkActive
          ? 'Check the network of the node, and its settings connect, proxy and onlynet.'
          : 'Switch it on: bitcoin-cli setnetworkactive true.',
      ),
    );
  else if (facts.network !== 'regtest') findings.push(ok('node.peers', `The node has ${peers} peers.`));
  if (Math.abs(peersAheadSeconds) >= peersAheadMaxSeconds)
    findings.push(
      advice(
        'node.clock',
        `The clock of the node differs by ${Math.abs(peersAheadSeconds)} s from the clocks of its peers.`,
        'Let a program such as chrony or systemd-timesyncd set the clock of the node.',
      ),
    );
  return findings;
}

/** Minimum difference from the peers' clocks that is reported, in seconds, as for other clocks. */
const peersAheadMaxSeconds = 70;

function prunedFindings({ facts }: CheckedNode, { nextHeight }: NodeNeeds): Finding[] {
  const { pruneHeight } = facts;
  if (pruneHeight === null) return [ok('node.unpruned', 'The node has all blocks.')];
  const known = facts.advice.find(({ feature }) => feature === 'unpruned');
  if (pruneHeight <= nextHeight)
    return [
      advice(
        'node.unpruned',
        `${known?.message ?? ''} The next block, ${nextHeight}, is not below it.`.trim(),
        'Nothing is to be done now. To verify or undo blocks, put prune=0 into bitcoin.conf, and restart the node.',
      ),
    ];
  const message = `The node has pruned blocks that are needed: the next block is ${nextHeight}, and the node has only blocks from height ${pruneHeight} on.`;
  return [coded('node.unpruned', new AppError('node_pruned', message))];
}

const judgedElsewhere: readonly NodeFeature[] = ['unpruned', 'revealing'];

/** Findings about features of the node. */
function featureFindings({ facts, url }: CheckedNode): Finding[] {
  const missing = facts.advice
    .filter(({ feature }) => !judgedElsewhere.includes(feature))
    .map(({ feature, message, action }) => advice(`node.${feature}`, message, action));
  const lacks = (feature: NodeFeature): boolean => facts.advice.some((one) => one.feature === feature);
  const findings = [...missing];
  if (!lacks('rest') && !lacks('spenttxouts'))
    findings.push(
      ok('node.rest', `REST of the node at ${url} gives blocks, and the outputs that they spend.`),
    );
  if (!lacks('zmq') && !lacks('sequence') && !lacks('rawtx')) {
    const endpoints = [...new Set(facts.zmq.values())].join(', ');
    findings.push(ok('node.zmq', `ZMQ at ${endpoints} accepts connections, with all topics.`));
  }
  if (!lacks('txindex')) findings.push(ok('node.txindex', 'The transaction index of the node is complete.'));
  return findings;
}
