import type pg from 'pg';
import {
  type MinedOutput,
  type ReceivedContents,
  receivedContents,
} from '#chain/outputs/credited-output.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { type ReceivedSats, receivedSats } from '#chain/sats/received-sats.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { hasSpecial } from '#kernel/satributes/has-special.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** Contents of a payment in its block. */
export interface PaidContents extends ReceivedContents {
  /** Whether a special sat is in it. Always false without an index of sats: then it cannot be proven. */
  readonly isSpecial: boolean;
}

/** Contents of payments by outpoint. Null: the index does not know them so far. */
export async function readContents(
  tx: pg.ClientBase,
  asked: readonly (MinedOutput & { readonly value: bigint })[],
  special: readonly Satribute[],
): Promise<ReadonlyMap<string, PaidContents | null>> {
  const found = await receivedContents(tx, asked);
  // read after the contents: a block that has them also has its sats
  const areSpecial = await specialAmong(tx, asked, special);
  const contents = new Map<string, PaidContents | null>();
  for (const [place, payment] of asked.entries()) {
    const held = found[place] ?? null;
    const isSpecial = areSpecial[place] ?? null;
    contents.set(outpointOf(payment), held === null || isSpecial === null ? null : { ...held, isSpecial });
  }
  return contents;
}

/**
 * Whether a special sat is in each of these outputs; null: the index does not know so far. Outputs with more ranges
 * than are read at once are read in halves. A single output with that many ranges counts as special: it is set aside,
 * and stops no other payment.
 */
export async function specialAmong(
  tx: pg.ClientBase,
  asked: readonly (Outpoint & { readonly value: bigint })[],
  special: readonly Satribute[],
): Promise<(boolean | null)[]> {
  if (special.length === 0) return asked.map(() => false);
  const sats = await satsAtOnce(tx, asked);
  if (sats === null) {
    if (asked.length === 1) return [true];
    const half = asked.length >> 1;
    const first = await specialAmong(tx, asked.slice(0, half), special);
    return [...first, ...(await specialAmong(tx, asked.slice(half), special))];
  }
  const found: (boolean | null)[] = [];
  for (const ranges of sats)
    found.push(ranges === null ? null : ranges !== 'unproven' && (await hasSpecial(ranges, special)));
  return found;
}

/** Null: they have more ranges than are read at once. */
async function satsAtOnce(
  tx: pg.ClientBase,
  asked: readonly (Outpoint & { readonly value: bigint })[],
): Promise<readonly ReceivedSats[] | null> {
  try {
    return await receivedSats(tx, asked);
  } catch (error) {
    if (error instanceof AppError && error.code === 'request_invalid') return null;
    throw error;
  }
}
