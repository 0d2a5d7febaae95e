import type pg from 'pg';
import { satsOfFreeCoins } from '#purse/coins/coins.store.ts';

/** Sats of free coins that must stay: what partners are owed, and what payouts are to take. */
export type ReservedSats = (client: pg.ClientBase) => Promise<bigint>;

/** Sats that the service has in free coins, and those of them that bumps and returns leave where they are. */
export interface FreeSats {
  readonly free: bigint;
  readonly reserved: bigint;
}

/** Reads what is free, and what of it is reserved. */
export async function readFreeSats(client: pg.ClientBase, reserved: ReservedSats): Promise<FreeSats> {
  return { free: await satsOfFreeCoins(client), reserved: await reserved(client) };
}

/** Sats that bumps and returns may cost, beside what their orders bring; below 0: some are lacking. */
export const spareOf = ({ free, reserved }: FreeSats): bigint => free - reserved;
