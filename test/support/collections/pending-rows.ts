import type pg from 'pg';
import { scriptOf } from './collection-rows.ts';

export interface PendingSpec {
  readonly id: string;
  readonly totalCount: number;
  readonly files: readonly {
    readonly name: string;
    readonly url?: string;
    readonly toldBytes?: number;
  }[];
  readonly price?: number;
  readonly phasePrice?: number;
  readonly creatorAddress?: string;
  readonly shown?: object;
}

/** Inserts a collection as its creator sent it, with one public phase. */
export async function insertPending(pool: pg.Pool, spec: PendingSpec): Promise<void> {
  const { id, totalCount, files, price = 0, phasePrice = null, creatorAddress = null, shown = {} } = spec;
  await pool.query(
    `INSERT INTO service.mint_collections (id, name, total_count, price, creator_address, creator_script, shown)
     VALUES ($1, $1, $2, $3, $4, $5, $6)`,
    [
      id,
      totalCount,
      price,
      creatorAddress,
      creatorAddress === null ? null : scriptOf(creatorAddress),
      JSON.stringify(shown),
    ],
  );
  await pool.query(
    `INSERT INTO service.mint_files (collection, place, name, url, told_bytes)
     SELECT $1, given.place - 1, given.name, given.url, given.bytes
       FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS given(name, url, bytes, place)`,
    [
      id,
      files.map(({ name }) => name),
      files.map(({ url = null }) => url),
      files.map(({ toldBytes = null }) => toldBytes),
    ],
  );
  await pool.query(
    `INSERT INTO service.mint_phases (collection, phase, place, is_public, price) VALUES ($1, '1', 0, true, $2)`,
    [id, phasePrice],
  );
}
