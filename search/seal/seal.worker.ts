import { move, transferableSymbol, valueSymbol } from 'piscina';
import { runInBackground } from '#kernel/process/background-thread.ts';
import { Laps } from '#kernel/stages/span.ts';
import { postingsRows, readTextRows } from './copy-postings.ts';
import { PostingsBuilder } from './postings-builder.ts';

export interface SealTask {
  /** A binary COPY of (id, folded text), ascending ids. Transferred. */
  readonly copy: Uint8Array<ArrayBuffer>;
  readonly segmentId: number;
  /** The id that offsets count from: the first id of the segment, rounded down to a multiple of 8. */
  readonly baseId: number;
  /** The first id that no segment covers. The texts before it weigh less than `weightMax`. */
  readonly tailId: number;
  /** The weight of the texts of a segment of more than one text. */
  readonly weightMax: number;
}

export interface SealResult {
  /** Rows of chain.search_postings (a binary COPY). Transferred. */
  readonly rows: Uint8Array<ArrayBuffer>;
  /** The id of the first text that would have made the segment too heavy. Null: it has all texts. */
  readonly stoppedAt: number | null;
  readonly weight: number;
  readonly spans: Laps['spans'];
}

/**
 * Extra weight of each byte of a character after the first. ASCII texts share their grams (2 million at most); in
 * wide scripts each character can make three new ones, at some 80 bytes each. So a segment of random Chinese text
 * closes at a million characters: 250 MB of grams.
 */
const wideByteWeight = 16;
/** The most that a byte weighs on average: in a character of four bytes. */
const byteWeightMax = (4 + 3 * wideByteWeight) / 4;

// searches have priority
runInBackground();

const builder = new PostingsBuilder();

/** Builds the postings of texts, as many as one segment takes. */
export default function seal({ copy, segmentId, baseId, tailId, weightMax }: SealTask): unknown {
  const laps = new Laps(true);
  builder.clear();
  let weight = 0;
  const stoppedAt = readTextRows(copy, (id, text) => {
    const isFull =
      weight > 0 &&
      id >= tailId &&
      // an exact count near the bound
      weight + byteWeightMax * text.length > weightMax &&
      weight + text.length + wideByteWeight * wideBytes(text) > weightMax;
    if (isFull) return false;
    weight += text.length + wideByteWeight * builder.add(id - baseId, text);
    return true;
  });
  const rows = postingsRows(builder.finish(), segmentId);
  laps.lap('sealing');
  // a text that is too heavy by itself counts as a full segment
  const result: SealResult = { rows, stoppedAt, weight: Math.min(weight, weightMax), spans: laps.spans };
  return move({ [transferableSymbol]: rows.buffer, [valueSymbol]: result } as unknown as Parameters<
    typeof move
  >[0]);
}

/** Bytes of characters after their first. */
function wideBytes(text: Uint8Array): number {
  let count = 0;
  for (const byte of text) if ((byte & 0xc0) === 0x80) count++;
  return count;
}
