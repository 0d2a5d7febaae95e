import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NodeStanding, standingOf } from './node-standing.ts';

/** Fees change with each block and each transaction; nothing that is decided from them changes within half a minute. */
const askEveryMs = 30_000;

/** Milliseconds: its uptime is in whole seconds, and its answers take a while. */
const startTolerance = 1500;

/** Whether the node answers: `restarted` is told once, after each start and each time that it was away. */
export type NodePresence = 'there' | 'restarted' | 'away';

/**
 * What the node's policy allows and what transactions cost, asked between the steps of orders and never within their
 * database transactions; and whether the node was started again, which may have lost its mempool.
 */
export class NodeWatch {
  readonly #node: NodeRpc;
  readonly #withinBlocks: number;
  #standing: NodeStanding | null = null;
  #askedAt = -Infinity;
  /** The last look: whole seconds that it was up, and when it was started, by our clock; null: it did not answer. */
  #lastLook: { readonly uptime: number; readonly startedAt: number } | null = null;

  /** @param withinBlocks what the estimate is for */
  constructor(node: NodeRpc, withinBlocks: number) {
    this.#node = node;
    this.#withinBlocks = withinBlocks;
  }

  /** As it was last asked; null: the node does not answer. */
  get standing(): NodeStanding | null {
    return this.#standing;
  }

  /**
   * Looks at the node. Whatever it does, this does not throw for it.
   *
   * @param hasNews there is a block, with which fees change
   */
  async look(hasNews: boolean): Promise<NodePresence> {
    try {
      const now = performance.now();
      const uptime = await this.#node.call<number>('uptime');
      const startedAt = now - uptime * 1000;
      const last = this.#lastLook;
      // one that was up for two seconds may be back within the tolerance
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
