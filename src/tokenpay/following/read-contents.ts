import type pg from 'pg';
import {
  type MinedOutput,
  type ReceivedContents,
  receivedContents,
} from '#chain/outputs/credited-output.queries.ts';
import { receivedSats } from '#chain/sats/received-sats.queries.ts';
import { hasSpecial } from '#kernel/satributes/has-special.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** Contents of a payment in its block. */
export interface PaidContents extends ReceivedContents {
  /** A special sat is in it. Never where this server has no index of sats: there it is not proven. */
  readonly isSpecial: boolean;
}

/** Contents of payments by outpoint. Null: the index does not know them yet. */
export async function readContents(
  tx: pg.ClientBase,
  asked: readonly (MinedOutput & { readonly value: bigint })[],
  special: readonly Satribute[],
): Promise<ReadonlyMap<string, PaidContents | null>> {
  const found = await receivedContents(tx, asked);
  // after the contents: a block that they are of has its sats
  const sats = special.length === 0 ? [] : await receivedSats(tx, asked);
  const contents = new Map<string, PaidContents | null>();
  for (const [place, payment] of asked.entries()) {
    const held = found[place] ?? null;
    const ranges = special.length === 0 ? 'unproven' : (sats[place] ?? null);
    const isKnown = held !== null && ranges !== null;
    const isSpecial = isKnown && ranges !== 'unproven' && (await hasSpecial(ranges, special));
    contents.set(outpointOf(payment), isKnown ? { ...held, isSpecial } : null);
  }
  return contents;
}
