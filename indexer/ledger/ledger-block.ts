import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import type { FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** Running totals before or after a block; null: unknown (docs/adr/0004-null-never-a-guess.md). */
export interface LedgerCounters {
  /** Next free internal key. Always known; never shown as a sequence number by itself. */
  readonly nextKey: number;
  /** ord's next sequence number. */
  readonly sequence: number | null;
  readonly blessed: number | null;
  readonly cursed: number | null;
  /** Next offset in the unbound outpoint. */
  readonly unbound: number | null;
  /**
   * Next offset in the null outpoint. Without a sat index it is counted from the first inscription height on, as in
   * ord; with a sat index from the first block on.
   */
  readonly lostSats: number | null;
}

/**
 * Inscriptions in outputs of earlier blocks that the block spends. One row per inscription, ascending by `input`, then
 * by key, because ord takes them in the order of sequence numbers. Full outpoints were compared, not only fingerprints.
 * Outputs made in the block itself are not here.
 */
export interface HeldInscriptions {
  readonly count: number;
  /** Index into the block's input columns. */
  readonly input: Uint32Array;
  readonly key: Int32Array;
  /** Offset in the spent output, in sats. */
  readonly satOffset: Float64Array;
  /** 36 bytes per id: txid in internal order, index as u32 little endian. */
  readonly id: Uint8Array;
  /** Curse as in kernel/primitives/curse.ts, or `curseUnknown`. */
  readonly curse: Uint8Array;
  /** Height and step of the location row that ends here. */
  readonly height: Int32Array;
  readonly step: Uint32Array;
}

export interface LedgerInput {
  readonly height: Height;
  readonly network: NetworkParameters;
  readonly columns: BlockColumns;
  /** The block that the columns were parsed from. */
  readonly block: Uint8Array;
  /** The key of the fingerprints in the columns, in expanded form. */
  readonly fingerprintKey: FingerprintKey;
  /** True if the columns have the values of spent outputs. */
  readonly hasSpent: boolean;
  /** True if lost sats are counted from the first block on, not from the first inscription height on. */
  readonly countsLostSats?: boolean;
  /** True if every inscription before the block is known, with its location. */
  readonly anchored: boolean;
  readonly counters: LedgerCounters;
  readonly held: HeldInscriptions;
}

/** Value for an unknown fact in a typed number column. */
export const numberUnknown = -(2 ** 31);
export const curseUnknown = 255;
export const charmsUnknown = 0xffff;
/** Value for an unknown fee in a fee column (sats as doubles). */
export const feeUnknown = Number.NaN;

/** The values of `place` of a location, as stored (chain.locations.place). */
export const places = { output: 0, lost: 1, unbound: 2 } as const;

/** New inscriptions in the order of application: row n has the key `firstKey + n`. */
export interface NewInscriptions {
  readonly count: number;
  readonly firstKey: number;
  /** Index into the envelope columns. */
  readonly envelope: Uint32Array;
  /** Index into the reveal columns. */
  readonly reveal: Uint32Array;
  /** Index in the inscription's id: its position among the envelopes of its transaction. */
  readonly index: Uint32Array;
  /** ord's inscription number, or `numberUnknown`. */
  readonly number: Int32Array;
  /**
   * Curse as in kernel/primitives/curse.ts, or `curseUnknown`. After the jubilee: the curse from which the inscription
   * is vindicated.
   */
  readonly curse: Uint8Array;
  /** Charms as stored at the reveal (kernel/primitives/charm.ts), or `charmsUnknown`. */
  readonly charms: Uint16Array;
  /** Fee in sats; NaN if unknown. */
  readonly fee: Float64Array;
  /** Index of the first parent in `parentKey`. One more element is the end of the last range. */
  readonly firstParent: Uint32Array;
  /** Keys of the valid parents, in the order of the claims. */
  readonly parentKey: Int32Array;
  /** 1 if the valid parents among the claimed parents are known. Always 1 if no parent is claimed. */
  readonly parentsKnown: Uint8Array;
}

/**
 * New rows of chain.locations, in the order of writing. An unknown location has no row, so its ended predecessor has no
 * successor.
 */
export interface NewLocations {
  readonly count: number;
  readonly key: Int32Array;
  /**
   * Index of the transaction. The coinbase is counted as the last transaction: its index is the number of transactions.
   */
  readonly step: Uint32Array;
  /** One of `places`. */
  readonly place: Uint8Array;
  /** Index into `txids`. -1: the transaction that revealed the inscription, or no output (lost, unbound). */
  readonly txid: Int32Array;
  readonly vout: Uint32Array;
  readonly satOffset: Float64Array;
  /** Value of the output in sats. NaN if there is no output. */
  readonly value: Float64Array;
  /** Range of the output's script in the block's bytes. (0, 0) if there is no output. */
  readonly scriptStart: Uint32Array;
  readonly scriptLength: Uint32Array;
  /** Fingerprint of the output. Zeros if there is no output. */
  readonly fingerprintLow: Uint32Array;
  readonly fingerprintHigh: Uint32Array;
  /** 1 if this block spends the output, so `spent_height` is the block's own height. 0 if it is unspent. */
  readonly spent: Uint8Array;
}

/** Rows of earlier blocks in chain.locations that end now: their `spent_height` becomes the block's height. */
export interface LeftLocations {
  readonly count: number;
  readonly key: Int32Array;
  readonly height: Int32Array;
  readonly step: Uint32Array;
}

/** Fingerprints of outputs, one for each unspent location row. */
export interface TrackedChanges {
  readonly addLow: Uint32Array;
  readonly addHigh: Uint32Array;
  readonly removeLow: Uint32Array;
  readonly removeHigh: Uint32Array;
}

/** Changes of the chain tables by a block. The length of all columns is exactly their `count`. */
export interface LedgerBlock {
  readonly height: Height;
  readonly inscriptions: NewInscriptions;
  readonly locations: NewLocations;
  readonly left: LeftLocations;
  /** The transactions that `locations.txid` refers to: 32 bytes each, internal order. */
  readonly txids: Uint8Array;
  /** Changes of the tracked outputs, to be applied once the block is committed. */
  readonly tracked: TrackedChanges;
  readonly counters: LedgerCounters;
  /** Whether the next block of the island is anchored. */
  readonly anchored: boolean;
}

/**
 * Whether the first block of an island is anchored, because no inscription can be older. All running totals are then 0.
 */
export function startsAnchored(firstHeight: Height, network: NetworkParameters): boolean {
  return firstHeight <= network.firstInscriptionHeight;
}
