import type { Txid } from '#kernel/primitives/hash.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { type Artifact, plainEtching } from '#kernel/runes/runestone/artifact.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, maxU128, smallU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';

/** A rune as its etching made it. It never changes. */
export interface RuneEntry {
  /**
   * Keys are dense and follow the order of etching, which is the order of ids. It is ord's number if the index has all
   * runes.
   */
  readonly key: number;
  /** Its id: the block, and the index of the transaction in it. */
  readonly block: Height;
  readonly tx: number;
  readonly etching: Txid;
  readonly rune: Rune;
  readonly spacers: number;
  readonly divisibility: number;
  /** A code point. Null: no symbol. */
  readonly symbol: number | null;
  readonly premine: U128;
  readonly terms: Terms | null;
  readonly turbo: boolean;
  /** Seconds; the time of the block. */
  readonly timestamp: number;
}

/** The position and time of an etching. */
type EtchingPlace = Pick<RuneEntry, 'key' | 'block' | 'tx' | 'etching' | 'rune' | 'timestamp'>;

/** The entry of an etched rune. If the artifact is a cenotaph, the rune only has a name. */
export function entryOf(place: EtchingPlace, artifact: Artifact): RuneEntry {
  const etching = artifact.kind === 'cenotaph' ? plainEtching : (artifact.etching ?? plainEtching);
  const { spacers, divisibility, symbol, premine, terms, turbo } = etching;
  return {
    ...place,
    spacers: spacers ?? 0,
    divisibility: divisibility ?? 0,
    symbol,
    premine: premine ?? zeroU128,
    terms,
    turbo,
  };
}

/**
 * The rune 1:0 of mainnet, UNCOMMON•GOODS. It has no etching: it exists from the creation of an index (ord
 * src/index.rs). Other networks have no such rune.
 */
export function hardcodedRunes(network: NetworkName): RuneEntry[] {
  if (network !== 'mainnet') return [];
  const terms: Terms = {
    amount: smallU128(1),
    cap: asU128(maxU128),
    heightStart: smallU128(840_000),
    heightEnd: smallU128(1_050_000),
    offsetStart: null,
    offsetEnd: null,
  };
  return [
    {
      key: 0,
      block: asHeight(1),
      tx: 0,
      etching: asTxid(new Uint8Array(32)),
      rune: asRune(2_055_900_680_524_219_742n),
      spacers: 128,
      divisibility: 0,
      symbol: 0x29c9,
      premine: zeroU128,
      terms,
      turbo: true,
      timestamp: 0,
    },
  ];
}
