import { statfs } from 'node:fs/promises';
import type pg from 'pg';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** The space that the coming blocks will need, and the free space. */
export interface DiskNeed {
  readonly neededBytes: number;
  readonly freeBytes: number;
  readonly folder: string;
}

/**
 * Database bytes (rows, indexes and search) per byte of block, measured over the twelve real blocks of samples/mainnet
 * (0.69).
 */
const bytesPerBlockByte = 0.7;
/**
 * Additional database bytes per byte of block for an index of addresses: some 7,000 outputs of 110 bytes in a block of
 * 1.6 MB.
 */
const addressBytesPerBlockByte = 0.5;
/**
 * Average size of a mainnet block since inscriptions became possible. For other networks no average is known until
 * there are blocks.
 */
const blockBytesOfMainnet = 1_600_000;
/** Maximum bytes that Postgres keeps besides the tables during heavy writes (max_wal_size of the embedded server). */
const walBytesMax = 4_000_000_000;
/** Number of newest blocks that predict the size of the next ones. */
const sampleBlocks = 1000;

export interface DiskQuestion {
  /** A folder on the disk of the database. */
  readonly folder: string;
  readonly network: NetworkName;
  readonly blocksToCome: number;
  readonly indexAddresses: boolean;
}

/** Bytes that the coming blocks will take in the database, given their average size. */
export function neededBytes(blocksToCome: number, blockBytes: number, indexAddresses: boolean): number {
  const rate = bytesPerBlockByte + (indexAddresses ? addressBytesPerBlockByte : 0);
  const tables = Math.ceil(blocksToCome * blockBytes * rate);
  return tables + Math.min(tables, walBytesMax);
}

/** Compares the needed space with the free space. Null: one of them is unknown. */
export async function diskNeed(client: pg.Pool, question: DiskQuestion): Promise<DiskNeed | null> {
  const { folder, network, blocksToCome, indexAddresses } = question;
  const { rows } = await client.query<{ bytes: number | null }>(
    `SELECT avg(size_bytes)::float8 AS bytes
     FROM (SELECT size_bytes FROM chain.blocks ORDER BY height DESC LIMIT ${sampleBlocks}) AS newest`,
  );
  const blockBytes = rows[0]?.bytes ?? (network === 'mainnet' ? blockBytesOfMainnet : null);
  const room = await statfs(folder).catch(() => null);
  if (blockBytes === null || room === null) return null;
  const freeBytes = room.bavail * room.bsize;
  return { neededBytes: neededBytes(blocksToCome, blockBytes, indexAddresses), freeBytes, folder };
}
