import type { NodeRpc } from '#kernel/contracts/node.ts';
import { type NodeStanding, refundFeeRate, standingOf } from '#orders/sending/node-standing.ts';
import { shownFeeRate } from '#psbts/planning/fee-rate.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';

/** Target of the fee estimate, in blocks. Used for transactions whose request names no rate. */
const estimateBlocks = 6;
/** Maximum age of the rates, in ms. Estimates change only with blocks, but minimum fees can change within seconds. */
const freshMs = 10_000;

/**
 * The fee rates that the node relays and estimates. The node is queried at most once in ten seconds for all clients.
 */
class NodeFees {
  readonly #node: NodeRpc;
  #standing: Promise<NodeStanding> | null = null;
  #askedAt = 0;

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Returns the current rates. Throws the codes of NodeRpc. */
  standing(): Promise<NodeStanding> {
    const now = performance.now();
    if (this.#standing !== null && now - this.#askedAt < freshMs) return this.#standing;
    this.#askedAt = now;
    const asked = this.#ask();
    this.#standing = asked;
    asked.catch(() => {
      // after a failure, the next call queries the node again
      if (this.#standing === asked) this.#standing = null;
    });
    return asked;
  }

  async #ask(): Promise<NodeStanding> {
    const mempool = await this.#node.call<unknown>('getmempoolinfo');
    const estimated = await this.#node.call<unknown>('estimatesmartfee', [estimateBlocks, 'economical']);
    return standingOf(mempool, estimated);
  }
}

const known = new WeakMap<NodeRpc, NodeFees>();

/** The fee rates of a node, shared by all callers. */
export function nodeFeesOf(node: NodeRpc): NodeFees {
  const fees = known.get(node) ?? new NodeFees(node);
  known.set(node, fees);
  return fees;
}

/**
 * The fee rate of a transaction in sats per 1,000 virtual bytes: the requested rate, or the node's estimate. Refuses if
 * the node would not accept the rate. Pure.
 *
 * @param given requested rate, or null if the request names no rate
 */
export function feeRateFor(
  given: bigint | null,
  standing: NodeStanding,
  field = 'feeRate',
): bigint | PsbtRefusal {
  if (given === null) return refundFeeRate(standing);
  const { mempoolMinFeeRate: least } = standing;
  if (given >= least) return given;
  const [asked, taken] = [given, least].map(shownFeeRate);
  return refusedPsbt(
    `${field} must be at least ${taken} sat/vB now, not ${asked}, because the node accepts nothing below that.`,
    field,
  );
}

/**
 * Warning about a rate below the node's estimate. The node relays such a transaction, but it may wait for a long time.
 * Pure.
 */
export function feeRateWarnings(feeRate: bigint, { estimate }: Pick<NodeStanding, 'estimate'>): string[] {
  if (estimate === null || feeRate >= estimate) return [];
  const [asked, usual] = [feeRate, estimate].map(shownFeeRate);
  return [
    `feeRate: ${asked} sat/vB is below the node's present estimate of ${usual}, so the transaction may wait for days.`,
  ];
}
