import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { callsAtOnce } from '#http/ord/sources/node-calls.ts';
import {
  type NodeMempoolEntry,
  nodeMempoolEntry,
  nodeOutput,
  nodeSpenders,
  nodeTransaction,
} from '#http/ord/sources/node-questions.ts';
import type { RawOutput, RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { toldOrNull } from './chain-sources.ts';
import type { ReadTransaction } from './read-transaction.ts';

/** The node's facts about a transaction. Without a node, all fields are null or empty. */
export interface NodeFacts {
  /** `null` if the transaction is not in the node's mempool. */
  readonly entry: NodeMempoolEntry | null;
  /** Transactions of the mempool that spend the shown outputs. `null` if unknown. */
  readonly spenders: readonly (string | null)[] | null;
  /**
   * Whether shown outputs are unspent in the chain, by position. Only outputs that the index does not know are
   * included. `null` if unknown.
   */
  readonly unspent: ReadonlyMap<number, boolean | null>;
  /** Outputs that an unconfirmed transaction spends, by shown input. `null` if unknown. */
  readonly spent: readonly (RawOutput | null)[] | null;
}

/** Data that a page requests from the node, in at most some hundred small calls. */
interface NodeQuestion {
  readonly read: ReadTransaction;
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly Outpoint[];
  /** Positions of outputs for which the index does not know whether they are spent. */
  readonly untold: readonly number[];
}

export async function nodeFacts(node: NodeRpc | null, question: NodeQuestion): Promise<NodeFacts> {
  const { read, inputs, outputs, untold } = question;
  if (node === null) return { entry: null, spenders: null, unspent: new Map(), spent: null };
  const isPending = read.block === null && read.transaction !== null;
  const entry = isPending ? await toldOrNull(nodeMempoolEntry(node, read.txid)) : null;
  const spenders = await toldOrNull(nodeSpenders(node, outputs));
  const asked = isPending ? [] : untold;
  const states = await inLanes(asked, callsAtOnce, async (place) => {
    const outpoint = outputs[place];
    const answer = outpoint === undefined ? null : await toldOrFailed(nodeOutput(node, outpoint, false));
    return [place, answer === null ? null : answer.found !== null] as const;
  });
  return {
    entry,
    spenders,
    unspent: new Map(states),
    spent: isPending ? await spentByPending(node, inputs) : null,
  };
}

/** The result of a lookup that may find nothing. `null` if the node cannot answer. */
async function toldOrFailed<Found>(look: Promise<Found>): Promise<{ readonly found: Found } | null> {
  return toldOrNull(look.then((found) => ({ found })));
}

/**
 * The outputs that the inputs spend. They come from the chain, or from other transactions in the mempool. Each of these
 * transactions is read once.
 */
async function spentByPending(node: NodeRpc, inputs: readonly Outpoint[]): Promise<(RawOutput | null)[]> {
  const parents = new Map<string, Promise<RawTransaction | null>>();
  const parentOf = ({ txid }: Outpoint): Promise<RawTransaction | null> => {
    const name = displayHash(txid);
    const read =
      parents.get(name) ??
      toldOrNull(nodeTransaction(node, txid)).then((found) => found?.transaction ?? null);
    parents.set(name, read);
    return read;
  };
  return inLanes(inputs, callsAtOnce, async (outpoint) => {
    const unspent = await toldOrNull(nodeOutput(node, outpoint, false));
    if (unspent !== null) return { value: unspent.value, script: unspent.script };
    return (await parentOf(outpoint))?.outputs[outpoint.vout] ?? null;
  });
}
