/** A sealed range of ids: a row of chain.search_segments. */
export interface Segment {
  readonly segmentId: number;
  readonly firstId: number;
  /** The id after the last one. */
  readonly nextId: number;
  readonly textBytes: number;
}

export interface SealBounds {
  /** Multiple at which a new segment begins, so a full one covers exactly this many ids. */
  readonly windowIds: number;
  /** Segments above this size are not sealed together again: it bounds the memory of the worker. */
  readonly segmentTextBytesMax: number;
}

/** A range to seal as one segment, and the segments inside it that the new one replaces. */
export interface SealStep {
  readonly firstId: number;
  readonly nextId: number;
  readonly replaced: readonly Segment[];
}

/** The first id that no segment covers. Segments ascend and follow each other from 0. */
export function sealedEnd(segments: readonly Segment[]): number {
  return segments.at(-1)?.nextId ?? 0;
}

/** The end of the window of an id. */
export function windowEnd(id: number, windowIds: number): number {
  return (Math.floor(id / windowIds) + 1) * windowIds;
}

/**
 * Plans how to seal the ids from the end of the segments up to `nextId` (within one window, `tailBytes` of text). They
 * are sealed together with the segments of the window that are less than twice as long as the part after them, or with
 * all of them if the window becomes full. So a full window is one segment, and in the last window each segment is at
 * least twice as long as the next: at most 16 segments, and every text is sealed at most about as often.
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
