import { move } from 'piscina';
import { runInBackground } from '#kernel/background-thread.ts';
import { postingsRows, readTextRows } from './copy-postings.ts';
import { PostingsBuilder } from './postings-builder.ts';

export interface SealTask {
  /** A binary COPY of (id, folded text), ascending ids. Transferred. */
  readonly copy: Uint8Array<ArrayBuffer>;
  readonly segmentId: number;
  /** The id that offsets count from: the first id of the segment, rounded down to a multiple of 8. */
  readonly baseId: number;
}

// searches have priority
runInBackground();

/** Takes texts, returns the rows of chain.search_postings (a binary COPY, transferred). */
export default function seal({ copy, segmentId, baseId }: SealTask): Uint8Array<ArrayBuffer> {
  const builder = new PostingsBuilder();
  readTextRows(copy, (id, text) => {
    builder.add(id - baseId, text);
  });
  const rows = postingsRows(builder.finish(), segmentId);
  return move(rows) as Uint8Array<ArrayBuffer>;
}
