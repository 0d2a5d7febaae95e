import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type SatTracer, type TracedSats, traceBounds } from './sat-tracer.ts';
import type { TracedOutpoint } from './trace-source.ts';

/**
 * Maximum number of outputs of one request that are looked up at the node at the same time. The walks of these outputs
 * wait for each other.
 */
const lookUpsMax = 4;

/** The result for one of several outputs. Null if the chain has no such unspent output. */
export type TracedOne = TracedSats | { readonly state: 'unknown'; readonly reason: string } | null;

/**
 * Finds the sats of several outputs, in the order of the outputs, within the time of one walk. The sats of outputs that
 * are not reached in time are unknown. Throws the errors of `SatTracer.trace`.
 */
export async function traceOutputs(
  tracer: SatTracer,
  outpoints: readonly TracedOutpoint[],
  asker?: Asker,
): Promise<TracedOne[]> {
  const until = performance.now() + traceBounds.timeMs;
  return inLanes(outpoints, lookUpsMax, async (outpoint): Promise<TracedOne> => {
    asker?.signal.throwIfAborted();
    if (performance.now() < until) return tracer.trace(outpoint, asker, until);
    return {
      state: 'unknown',
      reason: 'the time was over before the output was traced; request fewer outputs',
    };
  });
}
