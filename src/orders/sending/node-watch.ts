import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NodeStanding, standingOf } from './node-standing.ts';

/**
 * How often the node is asked, in ms. Fees change constantly, but decisions that depend on them do not change within
 * half a minute.
 */
const askEveryMs = 30_000;

/**
 * Tolerance for the node's start time in ms, because its uptime is in whole seconds, and its replies take some time.
 */
const startTolerance = 1500;

/**
 * Whether the node answers. `restarted` is returned once after each start, and once after each time without an answer.
 */
export type NodePresence = 'there' | 'restarted' | 'away';

/**
 * Asks the node for its policy and its fee estimate, between the steps of orders and never inside their database
 * transactions. Notices a restart of the node, which may have lost its mempool.
 */
export class NodeWatch {
  readonly #node: NodeRpc;
  readonly #withinBlocks: number;
  #standing: NodeStanding | null = null;
  #askedAt = -Infinity;
  /** The last reply: the node's uptime in whole seconds, and its start time by our clock. null: it did not answer. */
  #lastLook: { readonly uptime: number; readonly startedAt: number } | null = null;

  /** @param withinBlocks target of the estimate, in blocks */
  constructor(node: NodeRpc, withinBlocks: number) {
    this.#node = node;
    this.#withinBlocks = withinBlocks;
  }

  /** The last reply. null: the node does not answer. */
  get standing(): NodeStanding | null {
    return this.#standing;
  }

  /**
   * Asks the node. Does not throw errors of the node.
   *
   * @param hasNews whether there is a new block, which changes fees
   */
  async look(hasNews: boolean): Promise<NodePresence> {
    try {
      const now = performance.now();
      const uptime = await this.#node.call<number>('uptime');
      const startedAt = now - uptime * 1000;
      const last = this.#lastLook;
      // uptime is compared, too, because a node that was up for two seconds may be back within the tolerance
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
