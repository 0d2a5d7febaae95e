import type pg from 'pg';
import { satsOfFreeCoins } from '#purse/coins/coins.store.ts';

/** Reads how many sats of free coins must be kept, because they are owed to partners or payouts will spend them. */
export type ReservedSats = (client: pg.ClientBase) => Promise<bigint>;

/** Sats in free coins of the service, and how many of them bumps and returns must not spend. */
export interface FreeSats {
  readonly free: bigint;
  readonly reserved: bigint;
}

/** Reads the number of free sats and of reserved sats. */
export async function readFreeSats(client: pg.ClientBase, reserved: ReservedSats): Promise<FreeSats> {
  return { free: await satsOfFreeCoins(client), reserved: await reserved(client) };
}

/**
 * Sats of free coins that bumps and returns may spend. Outputs of their own orders are not included. Negative if sats
 * are missing.
 */
export const spareOf = ({ free, reserved }: FreeSats): bigint => free - reserved;
