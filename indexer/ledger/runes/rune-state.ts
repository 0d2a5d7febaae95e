import { strict as assert } from 'node:assert';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { sumU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import { MadeOutputs } from '../made-outputs.ts';
import { outpointLength, outpointName } from './outpoint-name.ts';
import type { RuneEntry } from './rune-entry.ts';

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

/** An output that a block of the state made. */
export interface MadeRunes extends HeldRunes {
  readonly txid: Txid;
  readonly vout: number;
  readonly fingerprintLow: number;
  readonly fingerprintHigh: number;
  /** The block that spends it, if it is one of the state's, and the transaction there. */
  spentHeight: number | null;
  spentTx: number | null;
}

/** The transaction that spends an output. */
export interface Spender {
  readonly height: number;
  readonly tx: number;
}

export interface TakenRunes {
  readonly held: HeldRunes;
  /** A block of the state made the output, which is marked as spent. */
  readonly isOwn: boolean;
}

/** What the rules need of a rune that was etched earlier. */
type EarlierEntry = Pick<RuneEntry, 'key' | 'block' | 'tx' | 'terms'>;

/** A rune and what became of it so far. */
export interface KnownRune {
  readonly entry: EarlierEntry;
  /** How often it was minted; each is a transaction, so a number is enough. */
  mints: number;
  burned: U128;
}

/** Larger than the index of any transaction: a block has room for 16,666 of 60 bytes. */
const transactionsMax = 2 ** 17;
const heightsMax = 2 ** 31;

/**
 * What the ledger of runes knows of earlier blocks: the runes, names and spent outputs that its blocks ask for, or
 * all of them. It learns what each block does, so that the next one needs no database.
 */
export class RuneState {
  /** The key of the next rune. */
  nextKey: number;
  readonly #byKey = new Map<number, KnownRune>();
  readonly #byId = new Map<number, KnownRune>();
  readonly #taken = new Set<bigint>();
  /** Outputs of earlier blocks by the 36 bytes of the outpoint, as latin-1. Null: spent by a block of the state. */
  readonly #held = new Map<string, HeldRunes | null>();
  /** Outputs of its own blocks, and their places by fingerprint: most are never asked for, and get no name. */
  readonly #made: MadeRunes[] = [];
  readonly #madeAt = new MadeOutputs();

  constructor(nextKey = 0) {
    this.nextKey = nextKey;
  }

  learnRune(entry: EarlierEntry, mints = 0, burned: U128 = zeroU128): void {
    const known = { entry, mints, burned };
    this.#byKey.set(entry.key, known);
    this.#byId.set(entry.block * transactionsMax + entry.tx, known);
  }

  learnTaken(rune: Rune): void {
    this.#taken.add(rune);
  }

  /** Adds what an output of an earlier block holds. */
  learnHeld(outpoint: string, held: HeldRunes): void {
    this.#held.set(outpoint, held);
  }

  /** Adds an output that a block made. */
  learnMade(made: MadeRunes): void {
    this.#madeAt.add(made.fingerprintLow, made.fingerprintHigh, this.#made.push(made) - 1);
  }

  /** Outputs that its own blocks made, spent or not. */
  get madeSize(): number {
    return this.#madeAt.size;
  }

  /** Whether an outpoint with that fingerprint may be one that the state's own blocks made. */
  mayHold(low: number, high: number): boolean {
    return this.#madeAt.find(low, high) >= 0;
  }

  /** Adds a rune that is etched now. */
  etch(entry: RuneEntry): void {
    assert(entry.key === this.nextKey, 'keys of runes are dense');
    this.nextKey++;
    this.learnRune(entry);
    this.learnTaken(entry.rune);
  }

  /** The rune with an id; undefined where there is none, as for most ids that runestones can name. */
  byId({ block, tx }: RuneId): KnownRune | undefined {
    if (typeof block !== 'number' || block >= heightsMax || tx >= transactionsMax) return undefined;
    return this.#byId.get(block * transactionsMax + tx);
  }

  byKey(key: number): KnownRune {
    const known = this.#byKey.get(key);
    assert(known !== undefined, 'the rune of a balance is known');
    return known;
  }

  /** The rune with a key, if the state has to do with it. */
  find(key: number): KnownRune | undefined {
    return this.#byKey.get(key);
  }

  /** All runes that it has to do with, as its last block left them. */
  known(): Iterable<KnownRune> {
    return this.#byKey.values();
  }

  isTaken(rune: Rune): boolean {
    return this.#taken.has(rune);
  }

  /** What an output of an earlier block holds. Null: a block of the state has spent it; undefined: it is not known. */
  held(outpoint: string): HeldRunes | null | undefined {
    return this.#held.get(outpoint);
  }

  /**
   * The same for any output: the 36 bytes at `at` name it, and it has this fingerprint. Unlike `take`, nothing is
   * spent.
   */
  look(bytes: Uint8Array, at: number, low: number, high: number): HeldRunes | null | undefined {
    const made = this.#findMade(bytes, at, low, high);
    if (made !== null) return made.spentHeight === null ? made : null;
    return this.#held.size === 0 ? undefined : this.#held.get(outpointName(bytes, at));
  }

  /** What an output holds, which is spent at a height by a transaction; undefined where it holds nothing. */
  take(bytes: Uint8Array, at: number, low: number, high: number, spender: Spender): TakenRunes | undefined {
    const made = this.#findMade(bytes, at, low, high);
    if (made !== null) {
      if (made.spentHeight !== null) return undefined;
      made.spentHeight = spender.height;
      made.spentTx = spender.tx;
      return { held: made, isOwn: true };
    }
    if (this.#held.size === 0) return undefined;
    const name = outpointName(bytes, at);
    const held = this.#held.get(name) ?? undefined;
    if (held === undefined) return undefined;
    this.#held.set(name, null);
    return { held, isOwn: false };
  }

  #findMade(bytes: Uint8Array, at: number, low: number, high: number): MadeRunes | null {
    for (let row = this.#madeAt.find(low, high); row >= 0; row = this.#madeAt.next(low, high, row)) {
      const made = this.#made[row];
      if (made !== undefined && isAt(made, bytes, at)) return made;
    }
    return null;
  }

  /** Returns what was burned of the rune, with this. */
  burn(key: number, amount: U128): U128 {
    const known = this.byKey(key);
    known.burned = sumU128(known.burned, amount);
    return known.burned;
  }
}

const hashLength = 32;

/** Whether the 36 bytes at `at` name an output. */
function isAt({ txid, vout }: MadeRunes, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < hashLength; index++) if (txid[index] !== bytes[at + index]) return false;
  return (
    new DataView(bytes.buffer, bytes.byteOffset + at, outpointLength).getUint32(hashLength, true) === vout
  );
}
