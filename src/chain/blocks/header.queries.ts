import type { ClientBase } from 'pg';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { BlockQuestion } from './block.queries.ts';

/** A block of the index with its header and its neighbours. Hashes are in internal order. */
export interface HeaderFacts {
  readonly height: Height;
  readonly hash: BlockHash;
  /** Header of 80 bytes. */
  readonly header: Uint8Array;
  readonly time: number;
  readonly sizeBytes: number;
  readonly txCount: number;
  readonly firstKey: number;
  readonly nextKey: number;
  /** Hash of the next block. `null` if it is not indexed. */
  readonly nextHash: BlockHash | null;
  /** True if no block below it is missing. */
  readonly isWhole: boolean;
}

interface HeaderRow {
  height: Height;
  hash: BlockHash;
  header: Buffer;
  time: number;
  size_bytes: number;
  tx_count: number;
  first_key: number;
  next_key: number;
  next_hash: BlockHash | null;
  island_height: Height;
}

/** The block at a height or with a hash. `null` if it is not indexed. */
export async function headerFacts(client: ClientBase, question: BlockQuestion): Promise<HeaderFacts | null> {
  const { rows } = await client.query<HeaderRow>(
    `SELECT b.height, b.hash, b.header, b.time, b.size_bytes, b.tx_count, b.first_key, b.next_key,
       b.island_height, above.hash AS next_hash
     FROM chain.blocks b LEFT JOIN chain.blocks above ON above.height = b.height + 1
     WHERE ${question.kind === 'height' ? 'b.height = $1' : 'b.hash = $1'}`,
    [question.kind === 'height' ? question.height : question.hash],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    height: row.height,
    hash: row.hash,
    header: row.header,
    time: row.time,
    sizeBytes: row.size_bytes,
    txCount: row.tx_count,
    firstKey: row.first_key,
    nextKey: row.next_key,
    nextHash: row.next_hash,
    isWhole: row.island_height === 0,
  };
}

/** Times of a block and of up to ten blocks before it, for its median time (BIP 113). */
export async function timesBefore(client: ClientBase, height: Height): Promise<number[]> {
  const { rows } = await client.query<{ time: number }>(
    'SELECT time FROM chain.blocks WHERE height > $1 - 11 AND height <= $1',
    [height],
  );
  return rows.map(({ time }) => time);
}

/** A block and the time in its header, in seconds. */
export interface BlockMoment {
  readonly hash: BlockHash;
  readonly time: number;
}

/** The indexed blocks of some heights. */
export async function blockMoments(
  client: ClientBase,
  heights: readonly Height[],
): Promise<ReadonlyMap<Height, BlockMoment>> {
  const { rows } = await client.query<{ height: Height; hash: BlockHash; time: number }>(
    'SELECT height, hash, time FROM chain.blocks WHERE height = ANY($1::integer[])',
    [heights],
  );
  return new Map(rows.map(({ height, hash, time }) => [height, { hash, time }]));
}

/** Compact targets in a range of heights, and the number of blocks with each. */
export async function targetsBetween(
  client: ClientBase,
  from: Height,
  to: Height,
): Promise<{ bits: number; blocks: number }[]> {
  const { rows } = await client.query<{ bits: Buffer; blocks: number }>(
    `SELECT substring(header FROM 73 FOR 4) AS bits, count(*) AS blocks FROM chain.blocks
     WHERE height >= $1 AND height <= $2 GROUP BY 1`,
    [from, to],
  );
  return rows.map(({ bits, blocks }) => ({ bits: bits.readUInt32LE(), blocks }));
}

/** The newest blocks, highest first, each with up to `perBlock` of its inscriptions that paid the highest fees. */
export async function featuredInBlocks(
  client: ClientBase,
  heights: readonly number[],
  perBlock: number,
): Promise<Map<number, InscriptionKey[]>> {
  const { rows } = await client.query<{ height: Height; key: InscriptionKey }>(
    `SELECT b.height, best.key FROM chain.blocks b
     CROSS JOIN LATERAL (
       SELECT key, fee FROM chain.inscriptions i WHERE i.key >= b.first_key AND i.key < b.next_key
       ORDER BY fee DESC NULLS LAST, key DESC LIMIT $2
     ) AS best
     WHERE b.height = ANY($1) ORDER BY b.height, best.fee DESC NULLS LAST, best.key DESC`,
    [heights, perBlock],
  );
  const featured = new Map(heights.map((height): [number, InscriptionKey[]] => [height, []]));
  for (const { height, key } of rows) featured.get(height)?.push(key);
  return featured;
}

/**
 * Heights and hashes of all blocks, ascending. `null` if there are more than `max` blocks, or more bytes than `max`
 * allows.
 */
export async function blocksOf(
  client: ClientBase,
  max: { readonly blocks: number; readonly bytes: number },
): Promise<{ height: Height; hash: BlockHash }[] | null> {
  const { rows } = await client.query<{ height: Height; hash: BlockHash; bytes: number }>(
    `SELECT height, hash, sum(size_bytes) OVER ()::bigint AS bytes
     FROM (SELECT height, hash, size_bytes FROM chain.blocks LIMIT $1) AS listed ORDER BY height`,
    [max.blocks + 1],
  );
  return rows.length > max.blocks || (rows[0]?.bytes ?? 0) > max.bytes ? null : rows;
}
