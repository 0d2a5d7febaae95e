import type pg from 'pg';
import { satsOfFreeCoins } from '#purse/coins/coins.store.ts';

/** Sats of free coins that must stay: what is owed to partners, and what payouts will spend. */
export type ReservedSats = (client: pg.ClientBase) => Promise<bigint>;

/** Sats in free coins of the service, and how many of them bumps and returns must leave. */
export interface FreeSats {
  readonly free: bigint;
  readonly reserved: bigint;
}

/** Reads the free sats and the reserved ones. */
export async function readFreeSats(client: pg.ClientBase, reserved: ReservedSats): Promise<FreeSats> {
  return { free: await satsOfFreeCoins(client), reserved: await reserved(client) };
}

/** Sats that bumps and returns may cost, beside outputs of their own orders; negative: sats are missing. */
export const spareOf = ({ free, reserved }: FreeSats): bigint => free - reserved;
