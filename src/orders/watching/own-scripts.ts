import type pg from 'pg';
import { watchedApartFrom } from '#payments/payments.queries.ts';
import { refundWatchers } from './watchers.ts';

/**
 * The scripts among these that are the service's own: addresses of orders and of deposits, and its own outputs of
 * transactions. Money that is sent there pays for something else, or goes round in a circle.
 */
export async function ownScriptsAmong(
  client: pg.Pool | pg.ClientBase,
  scripts: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  return scripts.length === 0 ? [] : watchedApartFrom(client, scripts, refundWatchers);
}

/** Why nothing is sent to such a script, for people. */
export const ownScriptReason = 'is an address of this service, which sends nothing to itself';
