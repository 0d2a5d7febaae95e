import type pg from 'pg';
import { readCopyBytes } from '#kernel/pg/copy-read.ts';
import type { ByteCache } from './byte-cache.ts';
import { addPostings, type Postings, VarintReader } from './postings-block.ts';
import { gramKey, passagesGram, passagesHeadBytes } from './postings-layout.ts';
import type { SealedPart } from './postings-reader.ts';

/** Conditions that a needle sets for the passages of a text. */
interface PassageQuestion {
  /** Parts of passages. A text with the needle has a passage with each of them. A 0 is the border of a passage. */
  readonly parts: readonly Buffer[];
  /** Whether each text that has a passage with each part contains the needle. */
  readonly isExact: boolean;
}

/**
 * The passages of a segment. A passage is a part of a text, as long as possible, of which each gram is frequent in the
 * segment. It has at least two grams. So a text contains a needle with only frequent grams if one of the text's passages
 * contains the needle: the postings of these passages are the matches, and no text is read. Where a needle has rare
 * grams too, its frequent parts are within passages that begin or end at the rare grams.
 *
 * Block: 32 bits little endian with the length of all passages; a 0, and each passage in UTF-8 with a 0 after it; then
 * the postings of each passage, in the same order: `size << 1 | isBitmap` (LEB128), and `size` bytes like those of a
 * gram (postings-block.ts).
 */
export class Passages {
  readonly #block: Buffer;
  readonly #texts: Buffer;
  /** Offset of each passage in the texts, and of the size of its postings in the block. */
  readonly #textStarts: Int32Array;
  readonly #postingsStarts: Int32Array;

  constructor(block: Buffer) {
    this.#block = block;
    const end = passagesHeadBytes + block.readUInt32LE(0);
    this.#texts = block.subarray(passagesHeadBytes, end);
    const textStarts: number[] = [];
    for (let at = 1; at < this.#texts.length; at = this.#texts.indexOf(0, at) + 1) textStarts.push(at);
    this.#textStarts = Int32Array.from(textStarts);
    this.#postingsStarts = new Int32Array(textStarts.length);
    let at = end;
    for (let index = 0; index < textStarts.length; index++) {
      this.#postingsStarts[index] = at;
      at = this.#postings(at).end;
    }
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#block.length + this.#textStarts.length * 8;
  }

  /** The frequent parts of a needle of at least four code points. A gram that is in no passage is not frequent. */
  questionOf(needle: Buffer): PassageQuestion {
    if (this.#texts.includes(needle)) return { parts: [needle], isExact: true };
    const points = Array.from(needle.toString());
    const grams = points.slice(2).map((_, at) => points.slice(at, at + 3).join(''));
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = 0; at <= grams.length; at++) {
      if (at < grams.length && this.#texts.includes(grams[at] as string)) continue;
      const part = points.slice(from, at + 2).join('');
      if (at - from > 1)
        parts.push(Buffer.from(`${from > 0 ? '\0' : ''}${part}${at < grams.length ? '\0' : ''}`));
      from = at + 1;
    }
    return { parts, isExact: parts[0]?.equals(needle) === true };
  }

  /** Sets the bits of the texts that have a passage with a part. */
  addTexts(part: Buffer, bits: Uint8Array): void {
    for (let at = this.#texts.indexOf(part); at >= 0; ) {
      const index = this.#passageAt(part[0] === 0 ? at + 1 : at);
      addPostings(this.#postings(this.#postingsStarts[index]!), bits);
      // each passage has a 0 before it
      const next = this.#textStarts[index + 1];
      at = next === undefined ? -1 : this.#texts.indexOf(part, next - 1);
    }
  }

  /** Index of the passage that has the byte at an offset. */
  #passageAt(at: number): number {
    let from = 0;
    let to = this.#textStarts.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#textStarts[middle]! <= at) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  #postings(at: number): Postings {
    const reader = new VarintReader(this.#block);
    reader.at = at;
    const size = reader.next();
    const start = reader.at;
    return { block: this.#block, start, end: start + (size >>> 1), isBitmap: (size & 1) === 1 };
  }
}

/** Number of bytes of a cache entry, without its value. */
const entryBytes = 300;

/**
 * The passages of segments, by the ids of the segments. A segment has no passages if it has few texts, if its texts
 * have very many passages, or if it was sealed before passages were known.
 */
export async function readPassages(
  client: pg.ClientBase,
  cache: ByteCache<SealedPart>,
  segmentIds: readonly number[],
): Promise<ReadonlyMap<number, Passages | null>> {
  const found = new Map<number, Passages | null>();
  for (const id of segmentIds) {
    let passages = cache.get(`p${id}`) as Passages | null | undefined;
    if (passages === undefined) {
      const block = await readCopyBytes(client, passagesOfSegment(id));
      passages = block === null ? null : new Passages(block);
      cache.set(`p${id}`, passages, (passages?.bytes ?? 0) + entryBytes);
    }
    found.set(id, passages);
  }
  return found;
}

/** A COPY takes no parameters, so these integers of ours are in the SQL. */
const passagesOfSegment = (segmentId: number): string =>
  `SELECT block FROM chain.search_postings WHERE segment_id = ${segmentId} AND first_gram = ${gramKey(passagesGram)}`;
