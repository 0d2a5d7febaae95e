import { move, transferableSymbol, valueSymbol } from 'piscina';
import { runInBackground } from '#kernel/background-thread.ts';
import { Laps } from '#kernel/stages/span.ts';
import { postingsRows, readTextRows } from './copy-postings.ts';
import { PostingsBuilder } from './postings-builder.ts';

export interface SealTask {
  /** A binary COPY of (id, folded text), ascending ids. Transferred. */
  readonly copy: Uint8Array<ArrayBuffer>;
  readonly segmentId: number;
  /** The id that offsets count from: the first id of the segment, rounded down to a multiple of 8. */
  readonly baseId: number;
}

export interface SealResult {
  /** Rows of chain.search_postings (a binary COPY). Transferred. */
  readonly rows: Uint8Array<ArrayBuffer>;
  readonly spans: Laps['spans'];
}

// searches have priority
runInBackground();

/** Builds the postings of texts. */
export default function seal({ copy, segmentId, baseId }: SealTask): unknown {
  const laps = new Laps(true);
  const builder = new PostingsBuilder();
  readTextRows(copy, (id, text) => {
    builder.add(id - baseId, text);
  });
  const rows = postingsRows(builder.finish(), segmentId);
  laps.lap('sealing');
  const result: SealResult = { rows, spans: laps.spans };
  return move({ [transferableSymbol]: rows.buffer, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}
