import type { NodeRpc } from '#kernel/contracts/node.ts';
import { type NodeStanding, refundFeeRate, standingOf } from '#orders/sending/node-standing.ts';
import { shownFeeRate } from '#psbts/planning/fee-rate.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';

/** Target for a transaction without a rate of its own: mined within this many blocks. */
const estimateBlocks = 6;
/** Age of the rates: estimates change with blocks, and minimum fees within seconds at most. */
const freshMs = 10_000;

/** The fee rates that the node relays and estimates. Asked once in ten seconds, for all clients. */
class NodeFees {
  readonly #node: NodeRpc;
  #standing: Promise<NodeStanding> | null = null;
  #askedAt = 0;

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Throws the codes of NodeRpc. */
  standing(): Promise<NodeStanding> {
    const now = performance.now();
    if (this.#standing !== null && now - this.#askedAt < freshMs) return this.#standing;
    this.#askedAt = now;
    const asked = this.#ask();
    this.#standing = asked;
    asked.catch(() => {
      // the next one asks again
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
 * The rate of a transaction, in sats for 1,000 virtual bytes: the requested one, or the node's estimate. Refused: the
 * node would not take it. Pure.
 *
 * @param given null: the request names no rate
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
    `${field}: the node takes nothing below ${taken} sat/vB now, and ${asked} is less.`,
    field,
  );
}

/** Warning about a rate below the node's estimate: the transaction is relayed, and may wait. Pure. */
export function feeRateWarnings(feeRate: bigint, { estimate }: Pick<NodeStanding, 'estimate'>): string[] {
  if (estimate === null || feeRate >= estimate) return [];
  const [asked, usual] = [feeRate, estimate].map(shownFeeRate);
  return [
    `feeRate: ${asked} sat/vB is below the node's present estimate of ${usual}, so the transaction may wait for days.`,
  ];
}
