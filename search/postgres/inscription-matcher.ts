import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import {
  type InscriptionKey,
  trustedInscriptionKey,
  trustedInscriptionKeys,
} from '#kernel/primitives/inscription-key.ts';
import { type Segment, sealedEnd } from '#search/segments/segment-table.ts';
import { int32s } from '#search/text/int32s.ts';
import type { IdSet } from './id-set.ts';
import { readIdColumn } from './key-columns.ts';
import type { Matching } from './search-context.ts';

/** A slice of the matching inscriptions, in the order of their keys. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface MatchingKeys {
  readonly keys: readonly InscriptionKey[];
  readonly totalItems: number;
}

/** Maximum number of keys scanned in one turn of the event loop: some 3 ms. */
const keysATurn = 1 << 20;

const idColumns: Readonly<Record<Corpus, string>> = { content: 'content_id', metadata: 'metadata_id' };

/**
 * The inscriptions of matching texts: their number, and a slice of them. If there are few, they are found by the index
 * on inscriptions. If there are many, the columns of all inscriptions are compared with the bitmap of the texts, which
 * takes equally long for every page.
 */
export async function matchInscriptions(
  matching: Matching,
  segments: readonly Segment[],
  texts: IdSet,
  slice: Slice,
): Promise<MatchingKeys> {
  const count = texts.count();
  if (count === 0) return { keys: [], totalItems: 0 };
  const indexedMax = indexedMaxOf(matching, sealedEnd(segments));
  if (count <= indexedMax) {
    const keys = await readByIndex(matching, matching.corpus, texts.ids(), indexedMax);
    if (keys !== null) {
      keys.sort();
      return {
        keys: trustedInscriptionKeys(keys.subarray(slice.offset, slice.offset + slice.limit)),
        totalItems: keys.length,
      };
    }
  }
  return scanColumns(matching, segments, texts, slice);
}

/** Maximum number of texts and inscriptions for which the index is used. With more, the columns are scanned. */
export const indexedMaxOf = ({ tuning }: Matching, keys: number): number =>
  Math.max(tuning.indexedMin, Math.floor(keys / tuning.columnAdvantage));

/** The keys of the inscriptions of some texts, unordered. Null: there are more than `keysMax`. */
export async function readByIndex(
  { client }: Pick<Matching, 'client'>,
  corpus: Corpus,
  ids: readonly number[],
  keysMax: number,
): Promise<Int32Array | null> {
  const { rows } = await client.query<{ keys: Buffer | null }>({
    name: `search-inscriptions-${corpus}`,
    text: `SELECT string_agg(int4send(key), '') AS keys
             FROM (SELECT key FROM chain.inscriptions WHERE ${idColumns[corpus]} = ANY($1) LIMIT $2) AS found`,
    values: [int4Array(ids), keysMax + 1],
  });
  const keys = int32s(rows[0]?.keys ?? null);
  return keys.length > keysMax ? null : keys;
}

/** Counts the matches and keeps the keys of a slice. */
class SliceCollector {
  readonly keys: InscriptionKey[] = [];
  total = 0;
  readonly #bits: Uint8Array;
  readonly #bound: number;
  readonly #slice: Slice;

  constructor(texts: IdSet, slice: Slice) {
    this.#bits = texts.bits;
    this.#bound = this.#bits.length * 8;
    this.#slice = slice;
  }

  /** Visits inscriptions in the order of their keys. The inscription `keyAt(i)` has the text `ids[i]` (-1: no text). */
  scan(ids: Int32Array, keyAt: (index: number) => number): void {
    const before = this.total;
    this.total += this.#count(ids);
    const { offset, limit } = this.#slice;
    if (this.total <= offset || before >= offset + limit) return;
    let place = before;
    for (let index = 0; index < ids.length && place < offset + limit; index++) {
      if (!this.#has(ids[index]!)) continue;
      if (place >= offset) this.keys.push(trustedInscriptionKey(keyAt(index)));
      place++;
    }
  }

  #has(id: number): boolean {
    return id >= 0 && id < this.#bound && (this.#bits[id >>> 3]! & (1 << (id & 7))) !== 0;
  }

  // this runs for every inscription, so everything is in local variables
  #count(ids: Int32Array): number {
    const bits = this.#bits;
    const bound = this.#bound;
    let count = 0;
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      // as an unsigned number, -1 exceeds every bound
      if (id >>> 0 < bound) count += (bits[id >>> 3]! >>> (id & 7)) & 1;
    }
    return count;
  }
}

async function scanColumns(
  matching: Matching,
  segments: readonly Segment[],
  texts: IdSet,
  slice: Slice,
): Promise<MatchingKeys> {
  const collector = new SliceCollector(texts, slice);
  let turn = 0;
  for (const segment of segments) {
    const { ids, offsets } = await readIdColumn(matching, segment.segmentId, matching.corpus);
    const { firstId } = segment;
    collector.scan(ids, (index) => firstId + (offsets === null ? index : offsets[index]!));
    turn += ids.length;
    if (turn < keysATurn) continue;
    turn = 0;
    await nextTurn();
  }
  const { ids, keys } = await readTail(matching, sealedEnd(segments));
  collector.scan(ids, (index) => keys[index]!);
  return { keys: collector.keys, totalItems: collector.total };
}

/** Inscriptions whose text is in no segment yet, in the order of their keys. */
async function readTail(
  { client, corpus }: Matching,
  firstKey: number,
): Promise<{ ids: Int32Array; keys: Int32Array }> {
  const id = idColumns[corpus];
  const { rows } = await client.query<{ ids: Buffer | null; keys: Buffer | null }>(
    `SELECT string_agg(int4send(${id}), '' ORDER BY key) AS ids, string_agg(int4send(key), '' ORDER BY key) AS keys
       FROM (SELECT key, ${id} FROM chain.inscriptions WHERE key >= $1 AND ${id} IS NOT NULL ORDER BY key) AS tail`,
    [firstKey],
  );
  return { ids: int32s(rows[0]?.ids ?? null), keys: int32s(rows[0]?.keys ?? null) };
}
