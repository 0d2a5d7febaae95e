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

/** The contents of a payment in its block. */
export interface PaidContents extends ReceivedContents {
  /**
   * Whether the payment has a special sat. Always false without an index of sats, because nothing can be proven then.
   */
  readonly isSpecial: boolean;
}

/** Reads the contents of payments, by outpoint. A value is null if the index does not know the contents yet. */
export async function readContents(
  tx: pg.ClientBase,
  asked: readonly (MinedOutput & { readonly value: bigint })[],
  special: readonly Satribute[],
): Promise<ReadonlyMap<string, PaidContents | null>> {
  const found = await receivedContents(tx, asked);
  // sats are read after the contents, because a block whose contents are known also has its sats
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
 * Whether each of these outputs has a special sat. A value is null if the index does not know the sats yet. If the
 * outputs have too many ranges for one query, they are read in halves. If a single output has too many ranges, it is
 * treated as special. It is then set aside, and does not delay other payments.
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

/** Reads the sats of outputs in one query. Returns null if the outputs have too many ranges for one query. */
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
