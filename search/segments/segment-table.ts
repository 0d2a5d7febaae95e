/** A sealed range of ids: a row of chain.search_segments. */
export interface Segment {
  readonly segmentId: number;
  readonly firstId: number;
  /** The id after the last id of the segment. */
  readonly nextId: number;
  readonly textBytes: number;
}

export interface SealBounds {
  /** A new segment begins at each multiple of this number, so a full segment covers exactly this many ids. */
  readonly windowIds: number;
  /** Maximum size of a segment that is sealed again together with others. It limits the memory of the worker. */
  readonly segmentTextBytesMax: number;
}

/** Bounds of segments of texts. */
export interface TextSealBounds extends SealBounds {
  /** Minimum number of texts of a segment that a gram of a passage has (search/segments/passages.ts). */
  readonly frequentMin: number;
}

/** A range to seal as one segment, and the segments in this range that the new segment replaces. */
export interface SealStep {
  readonly firstId: number;
  readonly nextId: number;
  readonly replaced: readonly Segment[];
}

/** The first id that no segment covers. Segments ascend without gaps, starting at 0. */
export function sealedEnd(segments: readonly Segment[]): number {
  return segments.at(-1)?.nextId ?? 0;
}

/** The end of the window that contains an id. */
export function windowEnd(id: number, windowIds: number): number {
  return (Math.floor(id / windowIds) + 1) * windowIds;
}

/**
 * Plans how to seal the ids from the end of the segments up to `nextId`. They are within one window and have
 * `tailBytes` of text. A segment of the window is sealed again together with them if it is less than twice as long as
 * the part after it, or if the window becomes full. So a full window is one segment. In the last window each segment is
 * at least twice as long as the next, which gives at most 16 segments, and every text is sealed at most about 16 times.
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
