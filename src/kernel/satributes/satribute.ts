import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Rarity } from '#kernel/sats/rarity.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

export type BlockRarity = Exclude<Rarity, 'common'>;

/** An output by the transaction and the block that made it, whether it is spent or not. */
export interface MadeOutput {
  readonly txid: TxidHex;
  readonly vout: number;
  readonly height: Height;
}

/** The sats that outputs had, ascending, with gaps between them; or why they are unknown here. */
export type ProvenanceSats =
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | { readonly state: 'unknown'; readonly why: string };

/** Rule for the sats of a satribute. */
export type SatributeRule =
  /** The first sat of each block of a rarity. */
  | { readonly kind: 'firsts'; readonly rarity: BlockRarity }
  /** The sat before the first of each block of these rarities: the last that the block before may mine. */
  | { readonly kind: 'lasts'; readonly before: readonly BlockRarity[] }
  /** The whole subsidies of blocks, from one height to another, both included. Ascending. */
  | { readonly kind: 'blocks'; readonly heights: readonly (readonly [from: number, to: number])[] }
  /** Ascending, with gaps between them. */
  | { readonly kind: 'ranges'; readonly ranges: readonly SatRange[] }
  /** Each sat whose number leaves this remainder. */
  | { readonly kind: 'every'; readonly step: number; readonly remainder: number }
  /** Each sat whose number reads the same from both ends. */
  | { readonly kind: 'palindromes' }
  /** The sats that these outputs had in the blocks that made them, as the chain shows. */
  | { readonly kind: 'provenance'; readonly outputs: readonly MadeOutput[]; readonly sats: ProvenanceSats }
  /** No sats: there is no list that everyone can check. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A definition. It never changes: other sats under the same name are another version. */
export interface Satribute {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** Description in a sentence. */
  readonly about: string;
  /** Origin of the definition: source of the rule or the list. */
  readonly origin: string;
  /** Whether its sats are complete, as far as is known. */
  readonly completeness: string;
  /** `mainnet`: it comes from events there, whose sat numbers mean nothing on other networks. */
  readonly networks: 'all' | 'mainnet';
  /** Other spellings of public interfaces. */
  readonly inventory?: string;
  readonly scanner?: string;
  readonly rule: SatributeRule;
}

/** Why the sats of a rule are unknown; null: they are known. */
export function whyUnknown(rule: SatributeRule): string | null {
  if (rule.kind === 'unknown') return rule.why;
  return rule.kind === 'provenance' && rule.sats.state === 'unknown' ? rule.sats.why : null;
}

/** The list of a rule that has one; null: its sats are not listed, or unknown. */
export function listOf(rule: SatributeRule): readonly SatRange[] | null {
  if (rule.kind === 'ranges') return rule.ranges;
  return rule.kind === 'provenance' && rule.sats.state === 'known' ? rule.sats.ranges : null;
}
