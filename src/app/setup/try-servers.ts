import type { Config } from '#config/config.ts';
import { checkServer } from '#kernel/pg/check-server.ts';
import { settleTls } from '#kernel/pg/connection/settle-tls.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { askChainInfo } from '#node/node-answers.ts';
import { nodeSettings } from '#src/app/sources/node.ts';

/** Properties of a node that was asked once. */
export interface TriedNode {
  readonly network: NetworkName;
  readonly version: number;
  readonly height: number;
  /** Lowest height whose block it has. Null: it has all blocks. */
  readonly pruneHeight: number | null;
  readonly hasRest: boolean;
  readonly zmqTopics: readonly string[];
  /** Missing features, each with the change that adds the feature. */
  readonly advice: readonly string[];
}

/** Asks the node of the settings once. Throws what `connectNode` throws. */
export async function tryNode(config: Config, signal: AbortSignal): Promise<TriedNode> {
  const node = await connectNode(nodeSettings(config, null), { signal });
  try {
    const { blocks } = await askChainInfo(node.rpc, signal);
    const { network, version, pruneHeight, hasRest, zmq, advice: found } = node.facts;
    const advice = found.map(({ message, action }) => `${message} ${action}`);
    return { network, version, height: blocks, pruneHeight, hasRest, zmqTopics: [...zmq.keys()], advice };
  } finally {
    await node.close();
  }
}

/** Asks a Postgres once. Throws what `checkServer` throws. */
export async function tryDatabase(url: string): Promise<void> {
  await checkServer(await settleTls(url));
}

/** The found node in lines for people. */
export function foundNodeLines(node: TriedNode): readonly string[] {
  const { network, version, height, pruneHeight, hasRest, zmqTopics, advice } = node;
  const blocks =
    pruneHeight === null ? 'has all blocks' : `has only the blocks from height ${pruneHeight} on`;
  const rest = hasRest ? 'REST' : 'no REST';
  const zmq = zmqTopics.length === 0 ? 'no ZMQ' : `ZMQ (${zmqTopics.join(', ')})`;
  return [
    `Found: a node of ${network}, version ${shownVersion(version)}, at height ${height}; it ${blocks}; ${rest}, ${zmq}.`,
    ...advice,
  ];
}

/** 300200 is 30.2.0 (Bitcoin Core, clientversion.h). */
function shownVersion(version: number): string {
  return `${Math.floor(version / 10_000)}.${Math.floor(version / 100) % 100}.${version % 100}`;
}
