import type { MadeOutputSats } from '#kernel/satributes/provenance.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import { takeSteps } from './take-steps.ts';
import type { TraceSource } from './trace-source.ts';
import { Walk } from './walk.ts';

/** Bounds of a walk for which no client waits. */
export interface MadeOutputBounds {
  /**
   * Maximum number of transactions and lists of fees. For each of them the node reads a block, which takes a few hours
   * in all.
   */
  readonly steps: number;
  /**
   * Maximum number of parts into which a walk divides the sats of an output. This number of parts needs 24 MB of memory
   * during the walk, and 2 MB in one database row.
   */
  readonly ranges: number;
}

export const madeOutputBounds: MadeOutputBounds = { steps: 1_000_000, ranges: 200_000 };

/**
 * Follows the sats of an output back to the subsidies that mined them, even if the output is spent. Sends one request
 * at a time, so that other users of the node do not wait. Throws the codes of NodeRpc, and the signal's reason.
 */
export async function traceMadeOutput(
  source: TraceSource,
  wanted: MadeOutput,
  signal: AbortSignal,
  bounds: MadeOutputBounds = madeOutputBounds,
): Promise<MadeOutputSats> {
  const missing = (reason: string): MadeOutputSats => ({ kind: 'missing', reason });
  const output = await source.madeOutput(wanted);
  if ('missing' in output) return missing(output.missing);
  const walk = new Walk(output);
  for (let steps = walk.next(); steps.length > 0; steps = walk.next()) {
    signal.throwIfAborted();
    if (walk.steps >= bounds.steps)
      return missing(`its sats went through more than ${bounds.steps} transactions`);
    if (walk.segments > bounds.ranges) return missing(`it has more than ${bounds.ranges} ranges of sats`);
    const lacking = await takeSteps(source, walk, steps.slice(0, 1));
    if (lacking !== null) return missing(lacking.missing);
  }
  // all results are from this block or earlier blocks, so this check is valid for all of them
  if (!(await source.isOnChain(output.height, output.blockHash)))
    return missing('meanwhile the chain was reorganised');
  return { kind: 'found', blockHash: output.blockHash, ranges: walk.ranges() };
}
