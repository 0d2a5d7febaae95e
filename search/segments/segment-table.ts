/** A sealed range of ids, as chain.search_segments has it. */
export interface Segment {
  readonly segmentId: number;
  readonly firstId: number;
  /** The id after its last one. */
  readonly nextId: number;
  readonly textBytes: number;
}

export interface SealBounds {
  /** Segments begin anew at each multiple of this, so that a full one covers exactly that many ids. */
  readonly windowIds: number;
  /** Segments are not sealed again together above this: it bounds the memory of the worker. */
  readonly segmentTextBytesMax: number;
}

/** A range to be sealed in one segment, and the segments within it that this one replaces. */
export interface SealStep {
  readonly firstId: number;
  readonly nextId: number;
  readonly replaced: readonly Segment[];
}

/** The first id that no segment covers; segments ascend and follow each other from 0. */
export function sealedEnd(segments: readonly Segment[]): number {
  return segments.at(-1)?.nextId ?? 0;
}

/** The end of the window that an id lies in. */
export function windowEnd(id: number, windowIds: number): number {
  return (Math.floor(id / windowIds) + 1) * windowIds;
}

/**
 * How the ids from the end of the segments up to `nextId` (within one window, `tailBytes` of text) are to be sealed:
 * together with those segments of the window that are not twice as long as what follows them, or with all of them
 * where the window is full then. So there is one segment a full window and, as each of the others is twice as long
 * as the next, at most 16 in the last; every text is sealed about as often as that.
 */
export function planSeal(
  segments: readonly Segment[],
  nextId: number,
  tailBytes: number,
  bounds: SealBounds,
): SealStep {
  const tail = sealedEnd(segments);
  const end = windowEnd(tail, bounds.windowIds);
  const windowStart = end - bounds.windowIds;
  let firstId = tail;
  let bytes = tailBytes;
  let keep = segments.length;
  while (keep > 0) {
    const segment = segments[keep - 1] as Segment;
    if (segment.firstId < windowStart || bytes + segment.textBytes > bounds.segmentTextBytesMax) break;
    if (nextId < end && segment.nextId - segment.firstId >= 2 * (nextId - firstId)) break;
    firstId = segment.firstId;
    bytes += segment.textBytes;
    keep--;
  }
  return { firstId, nextId, replaced: segments.slice(keep) };
}
