import { strict as assert } from 'node:assert';
import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { sumU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import type { RuneEntry } from './rune-entry.ts';
import { RuneOutputs } from './rune-outputs.ts';

/** An amount of a rune in an output. */
export interface Balance {
  readonly key: number;
  readonly amount: U128;
}

/** The runes in an output, and the transaction that made it. */
export interface HeldRunes {
  readonly height: number;
  readonly tx: number;
  readonly balances: readonly Balance[];
}

/** Fields of an earlier rune that the rules need. */
type EarlierEntry = Pick<RuneEntry, 'key' | 'block' | 'tx' | 'terms'>;

/** A rune, with its mints and burns so far. */
export interface KnownRune {
  readonly entry: EarlierEntry;
  /** Number of mints. A transaction mints once at most, so a number is enough. */
  mints: number;
  burned: U128;
}

/** Exceeds the index of any transaction: a block has room for 16,666 transactions of 60 bytes. */
export const transactionsMax = 2 ** 17;
const heightsMax = 2 ** 31;

/**
 * Data about earlier blocks for the ledger of runes: the runes, names and spent outputs that its blocks need, or all of
 * them. Each applied block updates it, so that the next block needs no database.
 */
export class RuneState {
  /** The key of the next rune. */
  nextKey: number;
  /** Outputs of its own blocks, in the order in which they were made. */
  readonly made: RuneOutputs;
  /** Outputs of earlier blocks that its blocks may spend. */
  readonly held: RuneOutputs;
  readonly #byKey = new Map<number, KnownRune>();
  readonly #byId = new Map<number, KnownRune>();
  readonly #taken = new Set<bigint>();

  /** @param room initial room for the outputs that its blocks make and spend */
  constructor(nextKey = 0, room: { readonly made?: number; readonly held?: number } = {}) {
    this.nextKey = nextKey;
    this.made = new RuneOutputs(room.made);
    this.held = new RuneOutputs(room.held);
  }

  learnRune(entry: EarlierEntry, mints = 0, burned: U128 = zeroU128): void {
    const known = { entry, mints, burned };
    this.#byKey.set(entry.key, known);
    this.#byId.set(entry.block * transactionsMax + entry.tx, known);
  }

  learnTaken(rune: Rune): void {
    this.#taken.add(rune);
  }

  /** Adds a newly etched rune. */
  etch(entry: RuneEntry): void {
    assert(entry.key === this.nextKey, 'keys of runes are dense');
    this.nextKey++;
    this.learnRune(entry);
    this.learnTaken(entry.rune);
  }

  /** The rune with an id. Undefined for unknown ids; most ids in runestones are unknown. */
  byId({ block, tx }: RuneId): KnownRune | undefined {
    if (typeof block !== 'number' || block >= heightsMax || tx >= transactionsMax) return undefined;
    return this.#byId.get(block * transactionsMax + tx);
  }

  byKey(key: number): KnownRune {
    const known = this.#byKey.get(key);
    assert(known !== undefined, 'the rune of a balance is known');
    return known;
  }

  /** The rune with a key, if the state has it. */
  find(key: number): KnownRune | undefined {
    return this.#byKey.get(key);
  }

  /** All runes of the state, as its last block left them. */
  known(): Iterable<KnownRune> {
    return this.#byKey.values();
  }

  isTaken(rune: Rune): boolean {
    return this.#taken.has(rune);
  }

  /** Burns an amount of a rune. Returns the rune's burned total, including this amount. */
  burn(key: number, amount: U128): U128 {
    const known = this.byKey(key);
    known.burned = sumU128(known.burned, amount);
    return known.burned;
  }
}
