import { contentLengthsOf } from '#search/segments/column-queries.ts';
import { type Segment, sealedEnd } from '#search/segments/segment-table.ts';
import { int32s } from '#search/text/int32s.ts';
import type { Matching } from './search-context.ts';

/** Maximum number of unsealed contents read at once. */
const tailContents = 65_536;

/** Lengths of contents by id, for one search. Lengths of sealed segments are kept in the search's cache. */
export class ContentLengths {
  readonly #matching: Matching;
  readonly #segments: readonly Segment[];
  #parts: { readonly firstId: number; readonly lengths: Int32Array }[] | null = null;

  constructor(matching: Matching, segments: readonly Segment[]) {
    this.#matching = matching;
    this.#segments = segments;
  }

  /** Returns a function from an id to its length. It is fast if ids mostly ascend. -1 (no content) has length 0. */
  async lookUp(): Promise<(contentId: number) => number> {
    this.#parts ??= await this.#read();
    const parts = this.#parts;
    let at = 0;
    return (id) => {
      if (id < 0) return 0;
      const part = parts[at];
      if (part === undefined || id < part.firstId || id >= part.firstId + part.lengths.length) {
        at = lastBelow(parts, id);
      }
      const found = parts[at];
      const length = found?.lengths[id - found.firstId];
      if (length === undefined) throw new Error(`content ${id} has no length`);
      return length;
    };
  }

  async #read(): Promise<{ firstId: number; lengths: Int32Array }[]> {
    const { client, cache } = this.#matching;
    const parts: { firstId: number; lengths: Int32Array }[] = [];
    for (const { segmentId, firstId } of this.#segments) {
      let lengths = cache.get(`l${segmentId}`) as Int32Array | undefined;
      if (lengths === undefined) {
        const { rows } = await client.query<{ lengths: Buffer }>(
          'SELECT lengths FROM chain.search_lengths WHERE segment_id = $1',
          [segmentId],
        );
        if (rows[0] === undefined) throw new Error(`segment ${segmentId} has no lengths`);
        lengths = int32s(rows[0].lengths);
        cache.set(`l${segmentId}`, lengths, lengths.byteLength + 200);
      }
      parts.push({ firstId, lengths });
    }
    for (let firstId = sealedEnd(this.#segments); ; firstId += tailContents) {
      const { rows } = await client.query<{ lengths: Buffer }>(contentLengthsOf('$1', '$2'), [
        firstId,
        firstId + tailContents,
      ]);
      const lengths = int32s(rows[0]?.lengths ?? null);
      if (lengths.length > 0) parts.push({ firstId, lengths });
      if (lengths.length < tailContents) return parts;
    }
  }
}

function lastBelow(parts: readonly { readonly firstId: number }[], id: number): number {
  let from = 0;
  let to = parts.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((parts[middle] as { firstId: number }).firstId <= id) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
