import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain, PastTransaction, PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Retry } from '#kernel/retry.ts';
import { CutWalk } from './cut-walk.ts';
import { type BlockWithSpends, pastTransactions } from './past-transactions.ts';
import { takeSteps } from './take-steps.ts';
import type { TraceSource } from './trace-source.ts';
import { isUnreadable } from './unreadable.ts';

/**
 * Maximum number of concurrent steps. A node's trace source makes the same number of concurrent calls
 * (node-trace-source.ts).
 */
const stepsAtOnce = 3;

export interface NodePastParts {
  /** Source of the indexed chain. It works even if the node has left this chain. */
  readonly source: Pick<TraceSource, 'transaction' | 'feePayers'>;
  /** Reads a block. Throws the codes of `BitcoinNode.block`. */
  readonly readBlock: (ref: BlockRef, signal?: AbortSignal) => Promise<BlockWithSpends>;
  /** Retries temporary failures. This is needed because a walk may take hours. */
  readonly retry: Pick<Retry, 'run'>;
  /** Called during a walk with the number of steps so far. */
  readonly onStep?: (taken: number) => void;
}

/**
 * Reads the past of the indexed chain from a node. A walk needs one step for each transaction that moved a pair of
 * sats.
 */
export class NodePast implements PastChain {
  readonly #parts: NodePastParts;

  constructor(parts: NodePastParts) {
    this.#parts = parts;
  }

  async transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]> {
    try {
      const { readBlock, retry } = this.#parts;
      return pastTransactions(await retry.run(() => readBlock(ref, signal), signal));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      throw forgotten(error.message);
    }
  }

  async cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]> {
    const { source, retry, onStep } = this.#parts;
    const walk = new CutWalk(places);
    let taken = 0;
    for (let steps = walk.next(); steps.length > 0; steps = walk.next()) {
      const some = steps.slice(0, stepsAtOnce);
      const missing = await retry.run(() => takeSteps(source, walk, some), signal);
      if (missing !== null) throw forgotten(missing.missing);
      taken += some.length;
      onStep?.(taken);
    }
    return walk.cuts();
  }
}

function forgotten(why: string): AppError {
  return new AppError(
    'sats_forgotten',
    `The database no longer has the sats that a block spent (SATS_KEEP_BLOCKS), and the node does not have the data to find them: ${why}`,
  );
}
