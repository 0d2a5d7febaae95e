import type { Rarity } from '#kernel/sats/rarity.ts';

/** Sats from `start` to below `end`. */
export interface SatRange {
  readonly start: number;
  readonly end: number;
}

export type BlockRarity = Exclude<Rarity, 'common'>;

/** Which sats a satribute has. */
export type SatributeRule =
  /** The first sat of each block of a rarity. */
  | { readonly kind: 'firsts'; readonly rarity: BlockRarity }
  /** The sat before the first of each block of these rarities: the last that the block before may mine. */
  | { readonly kind: 'lasts'; readonly before: readonly BlockRarity[] }
  /** The whole subsidies of blocks, from a height to another, both included. Ascending. */
  | { readonly kind: 'blocks'; readonly heights: readonly (readonly [from: number, to: number])[] }
  /** Ascending, with gaps between them. */
  | { readonly kind: 'ranges'; readonly ranges: readonly SatRange[] }
  /** Each sat whose number leaves this remainder. */
  | { readonly kind: 'every'; readonly step: number; readonly remainder: number }
  /** Each sat whose number reads the same from both ends. */
  | { readonly kind: 'palindromes' }
  /** No sats: there is no list that everybody can check. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A definition. It never changes: other sats under the same name are another version. */
export interface Satribute {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** What it is, in a sentence. */
  readonly about: string;
  /** Who defined it so: where the rule or the list comes from. */
  readonly origin: string;
  /** Whether its sats are all that there are, as far as is known. */
  readonly completeness: string;
  /** `mainnet`: what happened there, whose sat numbers mean nothing on other networks. */
  readonly networks: 'all' | 'mainnet';
  /** Other spellings of public interfaces. */
  readonly inventory?: string;
  readonly scanner?: string;
  readonly rule: SatributeRule;
}

/** How many sats some ranges have. */
export function satsIn(ranges: readonly SatRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}
