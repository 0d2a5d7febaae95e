import { isKnots } from '#kernel/bitcoin/node-name.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** The node's policy for OP_RETURN outputs of a transaction. */
export interface DataCarrier {
  /** Maximum sum of the lengths of all OP_RETURN scripts, in bytes. */
  readonly bytesMax: number;
  /** Whether a transaction may have more than one OP_RETURN output. */
  readonly relaysSeveral: boolean;
}

/**
 * Limit of Bitcoin Core before version 30, which does not report its limit (policy.h, MAX_OP_RETURN_RELAY), and of
 * Knots.
 */
const usualBytesMax = 83;
/** First version of Bitcoin Core that relays several OP_RETURN outputs. */
const severalFromVersion = 300_000;

/** Reads the policy of a node. Throws the codes of NodeRpc. */
export async function askDataCarrier(node: NodeRpc): Promise<DataCarrier> {
  const mempool = await node.call<unknown>('getmempoolinfo');
  return dataCarrierOf(mempool, await node.call<unknown>('getnetworkinfo'));
}

/**
 * Computes the policy from the replies to `getmempoolinfo` and `getnetworkinfo`. Throws `node_answer_invalid`. Pure.
 */
export function dataCarrierOf(mempool: unknown, network: unknown): DataCarrier {
  const { maxdatacarriersize: told } = fieldsOf(mempool);
  const { version, subversion } = fieldsOf(network);
  return {
    bytesMax: typeof told === 'number' && told >= 0 ? told : usualBytesMax,
    relaysSeveral: typeof version === 'number' && version >= severalFromVersion && !isKnots(subversion),
  };
}

function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer === 'object' && answer !== null) return answer as Readonly<Record<string, unknown>>;
  throw new AppError('node_answer_invalid', 'The node does not report its policy.');
}

const opReturn = 0x6a;

/**
 * Explains in a sentence for people why a node does not relay the OP_RETURN outputs of a transaction. Returns null if
 * the node relays them.
 */
export function whyNotCarried(
  outputs: readonly { readonly script: Uint8Array }[],
  { bytesMax, relaysSeveral }: DataCarrier,
): string | null {
  const scripts = outputs.flatMap(({ script }) => (script[0] === opReturn ? [script] : []));
  const bytes = scripts.reduce((sum, { length }) => sum + length, 0);
  if (bytes > bytesMax)
    return `The node relays OP_RETURN outputs of at most ${bytesMax} bytes, but this burn needs ${bytes} bytes.`;
  if (scripts.length <= 1 || relaysSeveral) return null;
  return 'The node relays only one OP_RETURN output, but this burn needs two.';
}
