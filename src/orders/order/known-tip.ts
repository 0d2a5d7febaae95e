import type pg from 'pg';
import { indexedTip, isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';

/** The last block that was searched for payments. The index also has this block, and knows its runes. */
export interface KnownTip {
  readonly height: Height;
  /** Whether the index has later blocks, too. */
  readonly isIndexAhead: boolean;
}

/**
 * The last block that was searched for payments. Returns null if the index has fewer blocks or another branch, or if
 * runes are unknown. Orders decide about runes only at a block that payments and index both have.
 */
export async function knownTip(tx: pg.ClientBase): Promise<KnownTip | null> {
  const payments = await readPaymentsOffset(tx);
  if (payments === null || !(await isBlockIndexed(tx, payments.height, payments.hash))) return null;
  if ((await runeStanding(tx)).state !== 'known') return null;
  return { height: payments.height, isIndexAhead: (await indexedTip(tx)) !== payments.height };
}
