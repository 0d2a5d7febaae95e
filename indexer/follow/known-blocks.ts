import type pg from 'pg';
import { workOfBits } from '#kernel/bitcoin/proof-of-work.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { WeighedRef } from './compare-chains.ts';

/** Offset of `nBits` in a header, in bytes. */
const bitsAt = 72;

interface RefRow {
  height: Height;
  hash: BlockHash;
  header: Buffer;
}

/** A summary of the indexed chain. */
export interface KnownEnds {
  readonly lowest: Height;
  readonly tip: BlockRef;
  /** True if its blocks are consecutive, so that each block proves the blocks below it. */
  readonly isOneRun: boolean;
}

/** Both ends of the indexed chain. Null: nothing is indexed. */
export async function knownEnds(client: pg.ClientBase): Promise<KnownEnds | null> {
  const { rows } = await client.query<{
    lowest: Height;
    height: Height;
    hash: BlockHash;
    island_height: Height;
  }>(
    `SELECT (SELECT min(height) FROM chain.blocks) AS lowest, height, hash, island_height
     FROM chain.blocks ORDER BY height DESC LIMIT 1`,
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { lowest, height, hash, island_height: islandHeight } = row;
  return {
    lowest,
    tip: { height, hash: asBlockHash(Uint8Array.from(hash)) },
    isOneRun: lowest === islandHeight,
  };
}

/** The indexed blocks at heights `from` to `end` - 1, ascending. */
export async function knownRefs(client: pg.ClientBase, from: Height, end: number): Promise<WeighedRef[]> {
  const { rows } = await client.query<RefRow>(
    'SELECT height, hash, header FROM chain.blocks WHERE height >= $1 AND height < $2 ORDER BY height',
    [from, end],
  );
  return rows.map(({ height, hash, header }) => ({ height, hash, work: workOfHeader(header) }));
}

/** The work that a header of 80 bytes proves. */
export function workOfHeader(header: Uint8Array): bigint {
  return workOfBits(
    new DataView(header.buffer, header.byteOffset, header.byteLength).getUint32(bitsAt, true),
  );
}
