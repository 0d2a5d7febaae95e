import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NodeStanding, standingOf } from './node-standing.ts';

/**
 * How often the node is queried, in ms. Fees change constantly, but decisions that depend on fees do not change within
 * half a minute.
 */
const askEveryMs = 30_000;

/**
 * Tolerance for differences of the computed start time of the node, in ms. The node's uptime is in whole seconds, and
 * its replies take some time.
 */
const startTolerance = 1500;

/**
 * Whether the node answers. `restarted` is returned once after each start of the node, and once after each period
 * without an answer.
 */
export type NodePresence = 'there' | 'restarted' | 'away';

/**
 * Reads the policy and the fee estimate of the node, between the steps of orders and never inside their database
 * transactions. Notices a restart of the node, because a restarted node may have lost its mempool.
 */
export class NodeWatch {
  readonly #node: NodeRpc;
  readonly #withinBlocks: number;
  #standing: NodeStanding | null = null;
  #askedAt = -Infinity;
  /**
   * The node's uptime in whole seconds at the last reply, and the node's start time by our clock. null if the node did
   * not answer.
   */
  #lastLook: { readonly uptime: number; readonly startedAt: number } | null = null;

  /** @param withinBlocks target of the fee estimate, in blocks */
  constructor(node: NodeRpc, withinBlocks: number) {
    this.#node = node;
    this.#withinBlocks = withinBlocks;
  }

  /** The state at the last reply, or null if the node does not answer. */
  get standing(): NodeStanding | null {
    return this.#standing;
  }

  /**
   * Queries the node. Does not throw errors of the node.
   *
   * @param hasNews whether there is a new block, which changes fees
   */
  async look(hasNews: boolean): Promise<NodePresence> {
    try {
      const now = performance.now();
      const uptime = await this.#node.call<number>('uptime');
      const startedAt = now - uptime * 1000;
      const last = this.#lastLook;
      // the uptimes are compared, too, because the start times are within the tolerance if the node restarts after an
      // uptime of two seconds
      const isSame = last !== null && uptime >= last.uptime && startedAt - last.startedAt < startTolerance;
      this.#lastLook = { uptime, startedAt };
      if (!isSame || hasNews || performance.now() - this.#askedAt > askEveryMs) await this.#ask();
      return isSame ? 'there' : 'restarted';
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#standing = null;
      this.#lastLook = null;
      return 'away';
    }
  }

  async #ask(): Promise<void> {
    const mempool = await this.#node.call<unknown>('getmempoolinfo');
    const estimated = await this.#node.call<unknown>('estimatesmartfee', [this.#withinBlocks]);
    this.#standing = standingOf(mempool, estimated);
    this.#askedAt = performance.now();
  }
}
