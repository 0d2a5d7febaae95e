import type pg from 'pg';
import type { ByteCache } from './byte-cache.ts';
import { findPostings, type Postings } from './postings-block.ts';
import { type Gram, gramHigh, gramLow } from './postings-layout.ts';
import type { Segment } from './segment-table.ts';

/** The first grams of the blocks of a segment, ascending. */
interface Directory {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
}

/** The cache of parts of sealed segments, and of search results in these parts. Neither ever changes. */
export type SealedPart = object | null;

interface Wanted {
  readonly gram: Gram;
  readonly segmentId: number;
  /** Key of the block in the cache. */
  readonly key: string;
  readonly firstGram: bigint;
}

/** Number of bytes of a cache entry, without its value. */
const entryBytes = 200;

/**
 * Postings of grams in segments. `result[s][g]` has the postings of `grams[g]` in `segments[s]`. Null: no text of the
 * segment has the gram. Runs at most two statements; cached blocks and directories are not read again.
 */
export async function readPostings(
  client: pg.ClientBase,
  cache: ByteCache<SealedPart>,
  segments: readonly Segment[],
  grams: readonly Gram[],
): Promise<(Postings | null)[][]> {
  const directories = await readDirectories(client, cache, segments);
  const wanted = segments.map((segment, index) =>
    grams.map((gram) => locate(segment.segmentId, directories[index] as Directory, gram)),
  );
  const blocks = await readBlocks(client, cache, wanted.flat());
  return wanted.map((row) =>
    row.map((want) => (want === null ? null : findPostings(blocks.get(want.key) as Uint8Array, want.gram))),
  );
}

/** The block that contains the postings of a gram, if they exist. */
function locate(segmentId: number, { highs, lows }: Directory, gram: Gram): Wanted | null {
  const high = gramHigh(gram[0], gram[1]);
  const low = gramLow(gram[1], gram[2]);
  let from = 0;
  let to = highs.length;
  // find the first block that begins after the gram
  while (from < to) {
    const middle = (from + to) >>> 1;
    const first = highs[middle]!;
    if (first < high || (first === high && lows[middle]! <= low)) from = middle + 1;
    else to = middle;
  }
  if (from === 0) return null;
  const index = from - 1;
  const firstGram = (BigInt(highs[index]!) << 32n) | BigInt(lows[index]!);
  return { gram, segmentId, key: `b${segmentId}:${index}`, firstGram };
}

async function readDirectories(
  client: pg.ClientBase,
  cache: ByteCache<SealedPart>,
  segments: readonly Segment[],
): Promise<Directory[]> {
  const found = new Map<number, Directory>();
  for (const { segmentId } of segments) {
    const directory = cache.get(`d${segmentId}`) as Directory | undefined;
    if (directory !== undefined) found.set(segmentId, directory);
  }
  const missing = segments.map((segment) => segment.segmentId).filter((id) => !found.has(id));
  if (missing.length > 0) {
    const { rows } = await client.query<{ segment_id: number; grams: Buffer }>({
      name: 'search-directories',
      text: `SELECT segment_id, string_agg(int8send(first_gram), '' ORDER BY first_gram) AS grams
               FROM chain.search_postings WHERE segment_id = ANY($1) GROUP BY segment_id`,
      values: [missing],
    });
    const bySegment = new Map(rows.map((row) => [row.segment_id, row.grams]));
    for (const id of missing) {
      const directory = directoryOf(bySegment.get(id) ?? Buffer.alloc(0));
      found.set(id, directory);
      cache.set(`d${id}`, directory, directory.highs.length * 8 + entryBytes);
    }
  }
  return segments.map((segment) => found.get(segment.segmentId) as Directory);
}

function directoryOf(grams: Buffer): Directory {
  const count = grams.length / 8;
  const highs = new Uint32Array(count);
  const lows = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    highs[index] = grams.readUInt32BE(index * 8);
    lows[index] = grams.readUInt32BE(index * 8 + 4);
  }
  return { highs, lows };
}

/** The blocks by their keys. One statement reads all blocks that are not cached. */
async function readBlocks(
  client: pg.ClientBase,
  cache: ByteCache<SealedPart>,
  wanted: readonly (Wanted | null)[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const blocks = new Map<string, Uint8Array>();
  const missing = new Map<string, Wanted>();
  for (const want of wanted) {
    if (want === null || blocks.has(want.key)) continue;
    const block = cache.get(want.key) as Uint8Array | undefined;
    if (block === undefined) missing.set(want.key, want);
    else blocks.set(want.key, block);
  }
  if (missing.size === 0) return blocks;
  const wants = [...missing.values()];
  const { rows } = await client.query<{ place: number; block: Buffer }>({
    name: 'search-blocks',
    text: `SELECT wanted.place::integer AS place, postings.block
             FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS wanted (segment_id, first_gram, place)
             JOIN chain.search_postings AS postings USING (segment_id, first_gram)`,
    values: [wants.map((want) => want.segmentId), wants.map((want) => want.firstGram.toString())],
  });
  for (const { place, block } of rows) {
    const { key } = wants[place - 1] as Wanted;
    blocks.set(key, block);
    cache.set(key, block, block.length + entryBytes);
  }
  return blocks;
}
