import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain, PastTransaction, PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { CutWalk } from './cut-walk.ts';
import { type BlockWithSpends, pastTransactions } from './past-transactions.ts';
import { takeSteps } from './take-steps.ts';
import type { TraceSource } from './trace-source.ts';

/** Steps at once, as many as a node's trace source asks (node-trace-source.ts). */
const stepsAtOnce = 3;

export interface NodePastParts {
  /** Of the indexed chain, also where the node has left it. */
  readonly source: Pick<TraceSource, 'transaction' | 'feePayers'>;
  /** Throws the codes of `BitcoinNode.block`. */
  readonly readBlock: (ref: BlockRef, signal?: AbortSignal) => Promise<BlockWithSpends>;
  /** Told after each step of a walk: how many were taken, and how many places are still unknown. */
  readonly onStep?: (taken: number) => void;
}

/** The past of the indexed chain from a node. A walk takes a step for each transaction that a pair of sats went through. */
export class NodePast implements PastChain {
  readonly #parts: NodePastParts;

  constructor(parts: NodePastParts) {
    this.#parts = parts;
  }

  async transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]> {
    try {
      return pastTransactions(await this.#parts.readBlock(ref, signal));
    } catch (error) {
      if (!(error instanceof AppError && unreadable.has(error.code))) throw error;
      throw forgotten(error.message);
    }
  }

  async cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]> {
    const { source, onStep } = this.#parts;
    const walk = new CutWalk(places);
    let taken = 0;
    for (let steps = walk.next(); steps.length > 0; steps = walk.next()) {
      signal?.throwIfAborted();
      const some = steps.slice(0, stepsAtOnce);
      const missing = await takeSteps(source, walk, some);
      if (missing !== null) throw forgotten(missing.missing);
      taken += some.length;
      onStep?.(taken);
    }
    return walk.cuts();
  }
}

const unreadable: ReadonlySet<string> = new Set(['block_unavailable', 'node_pruned']);

function forgotten(why: string): AppError {
  return new AppError(
    'sats_forgotten',
    `Which sats a block spent is no longer kept (SATS_KEEP_BLOCKS), and the node does not have what would tell: ${why}`,
  );
}
