import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type SatTracer, type TracedSats, traceBounds } from './sat-tracer.ts';
import type { TracedOutpoint } from './trace-source.ts';

/** Outputs that are looked up at the node at once; their walks wait for each other. */
const lookUpsMax = 4;

/** The result of one of many outputs; null: the chain has no such unspent output. */
export type TracedOne = TracedSats | { readonly state: 'unknown'; readonly reason: string } | null;

/**
 * The sats of several outputs, in their order, within the time of one walk; unreached ones are unknown. Throws like
 * `SatTracer.trace`.
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
    return { state: 'unknown', reason: 'the time was over before it was looked at: ask for fewer outputs' };
  });
}
