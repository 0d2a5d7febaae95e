import { move, transferableSymbol, valueSymbol } from 'piscina';
import { runInBackground } from '#kernel/process/background-thread.ts';
import { Laps } from '#kernel/stages/span.ts';
import { postingsRows, readTextRows } from './copy-postings.ts';
import { passagesOf } from './passages-builder.ts';
import { PostingsBuilder } from './postings-builder.ts';

export interface SealTask {
  /** A binary COPY of (id, folded text) with ascending ids. Its buffer is transferred. */
  readonly copy: Uint8Array<ArrayBuffer>;
  readonly segmentId: number;
  /** The id that offsets count from: the first id of the segment, rounded down to a multiple of 8. */
  readonly baseId: number;
  /** The first id that no segment covers. The texts before it have a weight below `weightMax`. */
  readonly tailId: number;
  /** Maximum weight of the texts of a segment with more than one text. */
  readonly weightMax: number;
  /** Minimum number of texts that a gram of a passage has. */
  readonly frequentMin: number;
}

export interface SealResult {
  /** Rows of chain.search_postings as a binary COPY. Their buffer is transferred. */
  readonly rows: Uint8Array<ArrayBuffer>;
  /** The id of the first text that would have made the segment too heavy. Null: the segment has all texts. */
  readonly stoppedAt: number | null;
  readonly weight: number;
  readonly spans: Laps['spans'];
}

/**
 * Extra weight of each byte of a character after the first. ASCII texts share their grams (2 million at most); in wide
 * scripts each character can make three new grams of some 80 bytes each. A segment of random Chinese text therefore
 * ends after a million characters, which make 250 MB of grams.
 */
const wideByteWeight = 16;
/** Maximum average weight of a byte, reached in a character of four bytes. */
const byteWeightMax = (4 + 3 * wideByteWeight) / 4;

// run in the background, because searches have priority
runInBackground();

const builder = new PostingsBuilder();

/** Builds the postings of texts, as many as fit in one segment. */
export default function seal(task: SealTask): unknown {
  const { copy, segmentId, baseId, tailId, weightMax, frequentMin } = task;
  const laps = new Laps(true);
  builder.clear();
  let weight = 0;
  let texts = 0;
  const stoppedAt = readTextRows(copy, (id, text) => {
    const isFull =
      weight > 0 &&
      id >= tailId &&
      // count exactly near the limit
      weight + byteWeightMax * text.length > weightMax &&
      weight + text.length + wideByteWeight * wideBytes(text) > weightMax;
    if (isFull) return false;
    texts++;
    weight += text.length + wideByteWeight * builder.add(id - baseId, text);
    return true;
  });
  const passages = passagesOf(
    (each) => {
      readTextRows(copy, (id, text) => id !== stoppedAt && each(id - baseId, text));
    },
    texts,
    frequentMin,
    (least) => builder.frequentGrams(least),
  );
  const rows = postingsRows(builder.finish(passages), segmentId);
  laps.lap('sealing');
  // a text that is too heavy alone makes a full segment
  const result: SealResult = { rows, stoppedAt, weight: Math.min(weight, weightMax), spans: laps.spans };
  return move({ [transferableSymbol]: rows.buffer, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}

/** Number of bytes that are not the first byte of a character. */
function wideBytes(text: Uint8Array): number {
  let count = 0;
  for (const byte of text) if ((byte & 0xc0) === 0x80) count++;
  return count;
}
