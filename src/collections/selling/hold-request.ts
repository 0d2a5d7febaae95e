import type { RunePrice } from '#collections/collection/rune-price.ts';
import type { CheaperPhase } from './choose-phase.ts';
import type { HoldBounds } from './hold-bounds.ts';

/** A request for the items of an order that is being created. */
export interface HoldRequest {
  readonly orderId: string;
  readonly collection: string;
  /** `drawn`: any free items. `named`: the items with these numbers. */
  readonly items:
    | { readonly kind: 'drawn'; readonly count: number }
    | { readonly kind: 'named'; readonly numbers: readonly number[] };
  /** The script of the receiving address. */
  readonly script: Uint8Array;
  readonly client: string;
  readonly bounds: HoldBounds;
  readonly now: Date;
}

/** An item with its approved file. */
export interface HeldItem {
  /** Number of the item, from 1. */
  readonly item: number;
  readonly name: string;
  readonly sha256: Buffer;
  readonly bytes: number;
  readonly mediaType: string;
}

export interface HeldItems {
  readonly kind: 'held';
  readonly phase: string;
  /** Price of an item in sats, which the creator receives. */
  readonly price: bigint;
  readonly creatorAddress: string | null;
  /** The price of an item in a rune, instead of sats for the creator. Null if items are sold for sats. */
  readonly runePrice: RunePrice | null;
  /** A cheaper phase that would have sold fewer items to this address. Null if there is no such phase. */
  readonly cheaper: CheaperPhase | null;
  /** The items in the order of the request. */
  readonly items: readonly HeldItem[];
}

/**
 * A refused request:
 * - `unknown`: there is no such collection.
 * - `closed`: nothing is sold to this request now.
 * - `bounds`: too many items are unpaid.
 * - `taken`: a named item belongs to another order.
 * - `runes`: the price in runes has no receiver.
 */
export interface RefusedHold {
  readonly kind: 'unknown' | 'closed' | 'bounds' | 'taken' | 'runes';
  readonly reason: string;
}

/** The number of requested items. Pure. */
export const countOf = (items: HoldRequest['items']): number =>
  items.kind === 'drawn' ? items.count : items.numbers.length;

export const unknownCollection = (id: string) =>
  ({ kind: 'unknown', reason: `no such collection ${id}` }) as const satisfies RefusedHold;

export const saleClosed = 'The sale of this collection is closed.';
export const withoutRunePrice = {
  kind: 'runes',
  reason:
    'This collection has a price in runes, but no account that receives the runes, because the collection is older than such prices. Its creator must create it again, with a key.',
} as const satisfies RefusedHold;
export const itemsTaken = 'Another order has one of these items.';

/** Returns why a named item does not exist, or null if all named items exist. Pure. */
export const beyondSupply = (items: HoldRequest['items'], totalCount: number): string | null => {
  const beyond = items.kind === 'named' ? items.numbers.find((number) => number > totalCount) : undefined;
  return beyond === undefined
    ? null
    : `The collection has no item ${beyond}. Its items are 1 to ${totalCount}.`;
};
