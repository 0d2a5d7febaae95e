import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Rarity } from '#kernel/sats/rarity.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

export type BlockRarity = Exclude<Rarity, 'common'>;

/** An output, identified by its transaction and by the block that made it. It may be spent. */
export interface MadeOutput {
  readonly txid: TxidHex;
  readonly vout: number;
  readonly height: Height;
}

/** The sats that outputs had, ascending and with gaps between ranges, or the reason why these sats are unknown here. */
export type ProvenanceSats =
  | { readonly state: 'known'; readonly ranges: readonly SatRange[] }
  | { readonly state: 'unknown'; readonly why: string };

/** Rule for the sats of a satribute. */
export type SatributeRule =
  /** The first sat of each block of a rarity. */
  | { readonly kind: 'firsts'; readonly rarity: BlockRarity }
  /**
   * The sat before the first sat of each block of these rarities. It is the last sat that the block before may mine.
   */
  | { readonly kind: 'lasts'; readonly before: readonly BlockRarity[] }
  /** All sats of the subsidies of blocks, from one height to another height. Both heights are included. Ascending. */
  | { readonly kind: 'blocks'; readonly heights: readonly (readonly [from: number, to: number])[] }
  /** Listed ranges, ascending and with gaps between them. */
  | { readonly kind: 'ranges'; readonly ranges: readonly SatRange[] }
  /** Each sat whose number, divided by `step`, leaves this remainder. */
  | { readonly kind: 'every'; readonly step: number; readonly remainder: number }
  /** Each sat whose number reads the same from both ends. */
  | { readonly kind: 'palindromes' }
  /** The sats that these outputs had in the blocks that made them, according to the chain. */
  | { readonly kind: 'provenance'; readonly outputs: readonly MadeOutput[]; readonly sats: ProvenanceSats }
  /** No sats, because there is no list that everyone can check. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A definition. It never changes. If other sats get the same name, that is another version. */
export interface Satribute {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  /** Description in one sentence. */
  readonly about: string;
  /** Origin of the definition, which is the source of the rule or of the list. */
  readonly origin: string;
  /** Whether the satribute's sats are complete, if that is known. */
  readonly completeness: string;
  /**
   * Networks to which the definition applies. It is `mainnet` if the definition comes from events there, because the
   * sat numbers of these events mean nothing on other networks.
   */
  readonly networks: 'all' | 'mainnet';
  /** Other spellings in public interfaces. */
  readonly inventory?: string;
  readonly scanner?: string;
  readonly rule: SatributeRule;
}

/** The reason why the sats of a rule are unknown. `null` if they are known. */
export function whyUnknown(rule: SatributeRule): string | null {
  if (rule.kind === 'unknown') return rule.why;
  return rule.kind === 'provenance' && rule.sats.state === 'unknown' ? rule.sats.why : null;
}

/** The list of a rule. `null` if the sats of the rule are unknown, or not a list. */
export function listOf(rule: SatributeRule): readonly SatRange[] | null {
  if (rule.kind === 'ranges') return rule.ranges;
  return rule.kind === 'provenance' && rule.sats.state === 'known' ? rule.sats.ranges : null;
}
