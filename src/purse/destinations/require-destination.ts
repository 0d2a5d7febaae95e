import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ownScriptsAmong } from './own-scripts.ts';

/**
 * Throws `destination_own` or `destination_refused` if a script must not be paid.
 *
 * @param amount amount to pay, or null if it is not known yet
 * @param name subject of the message's sentence
 */
export async function requireDestination(
  tx: pg.ClientBase,
  destination: { readonly script: Uint8Array; readonly amount: bigint | null },
  name: string,
): Promise<void> {
  const [refused] = await checkDestinations([destination], (scripts) => ownScriptsAmong(tx, scripts));
  if (refused === undefined) return;
  throw new AppError(
    refused.code === 'own' ? 'destination_own' : 'destination_refused',
    `${name} ${refused.reason}.`,
  );
}
