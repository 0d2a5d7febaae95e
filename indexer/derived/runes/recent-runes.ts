import type { RunicOutput } from '#indexer/ledger/runes/apply-runes.ts';
import { outpointLength } from '#indexer/ledger/runes/outpoint-name.ts';
import type { Balance, HeldRunes, KnownRune } from '#indexer/ledger/runes/rune-state.ts';
import { smallU128, type U128 } from '#kernel/runes/u128.ts';

/**
 * Rows of one generation: 80 bytes each, 21 MB. Two of them have all outputs that a year of mainnet spends soonest:
 * half of all runic outputs are spent within some hundred thousand others.
 */
const generationRows = 1 << 18;
/** Runes with their totals: 300 bytes each, 15 MB. What is minted and moved at a time are some thousands. */
const runesMax = 50_000;
const hashLength = 32;
/** Larger than the index of any transaction. */
const transactionsMax = 2 ** 17;

/**
 * The newest outputs with runes that are committed, and the runes that blocks named last: so that most blocks ask the
 * database nothing. It may know less than the database, never anything different. What it knows of an output is
 * complete. It may still have outputs that are spent: the set of tracked outputs has not.
 */
export class RecentRunes {
  readonly #generationRows: number;
  readonly #runesMax: number;
  /** When the younger one is full it takes the place of the older: nothing is ever moved. */
  #young: RunicRows;
  #old: RunicRows;
  readonly #byKey = new Map<number, KnownRune>();
  readonly #byId = new Map<number, KnownRune>();

  /** @param rows of a generation, and runes; absent: the usual bounds */
  constructor(rows?: number) {
    this.#generationRows = rows ?? generationRows;
    this.#runesMax = rows ?? runesMax;
    this.#young = new RunicRows();
    this.#old = new RunicRows();
  }

  /** Learns an output that is committed and unspent. */
  add(output: RunicOutput): void {
    if (this.#young.size >= this.#generationRows) {
      this.#old = this.#young;
      this.#young = new RunicRows();
    }
    this.#young.add(output);
  }

  /** What the output holds that the 36 bytes at `at` name, and that has this fingerprint. */
  held(low: number, high: number, bytes: Uint8Array, at: number): HeldRunes | null {
    return this.#young.held(low, high, bytes, at) ?? this.#old.held(low, high, bytes, at);
  }

  /** Learns a rune as it is after what is committed. */
  learn(rune: KnownRune): void {
    const { key, block, tx } = rune.entry;
    // the last one named is the last one to go
    this.#byKey.delete(key);
    this.#byKey.set(key, rune);
    this.#byId.set(block * transactionsMax + tx, rune);
    for (const [oldest, { entry }] of this.#byKey) {
      if (this.#byKey.size <= this.#runesMax) break;
      this.#byKey.delete(oldest);
      this.#byId.delete(entry.block * transactionsMax + entry.tx);
    }
  }

  byKey(key: number): KnownRune | undefined {
    return this.#byKey.get(key);
  }

  byId(block: number, tx: number): KnownRune | undefined {
    return tx < transactionsMax ? this.#byId.get(block * transactionsMax + tx) : undefined;
  }

  /** To call when blocks were taken back. */
  forget(): void {
    this.#young = new RunicRows();
    this.#old = new RunicRows();
    this.#byKey.clear();
    this.#byId.clear();
  }
}

/** Balances of outputs by the fingerprint of the outpoint, in typed arrays. Rows of one slot are chained. */
class RunicRows {
  size = 0;
  #low = new Uint32Array(64);
  #high = new Uint32Array(64);
  #height = new Int32Array(64);
  #tx = new Int32Array(64);
  #vout = new Uint32Array(64);
  #key = new Int32Array(64);
  /** NaN: it is among the large ones. */
  #amount = new Float64Array(64);
  #txid = new Uint8Array(64 * hashLength);
  readonly #large = new Map<number, U128>();
  /** Row + 1 of the next row in the same slot, 0 at the end. */
  #nextInSlot = new Int32Array(64);
  #slots = new Int32Array(128);

  add({ balances, height, tx, txid, vout, fingerprintLow, fingerprintHigh }: RunicOutput): void {
    for (const { key, amount } of balances) {
      const row = this.size++;
      if (row === this.#low.length) this.#grow();
      this.#low[row] = fingerprintLow;
      this.#high[row] = fingerprintHigh;
      this.#height[row] = height;
      this.#tx[row] = tx;
      this.#vout[row] = vout;
      this.#key[row] = key;
      this.#txid.set(txid, row * hashLength);
      if (typeof amount === 'number') this.#amount[row] = amount;
      else {
        this.#amount[row] = Number.NaN;
        this.#large.set(row, amount);
      }
      this.#link(row);
    }
  }

  held(low: number, high: number, bytes: Uint8Array, at: number): HeldRunes | null {
    const balances: Balance[] = [];
    let first = -1;
    for (
      let row = this.#slots[low & (this.#slots.length - 1)]! - 1;
      row >= 0;
      row = this.#nextInSlot[row]! - 1
    ) {
      if (this.#low[row] !== low || this.#high[row] !== high || !this.#isAt(row, bytes, at)) continue;
      first = row;
      balances.push({ key: this.#key[row]!, amount: this.#amountOf(row) });
    }
    if (first < 0) return null;
    // in the order of ids: a chain begins with the newest row
    balances.reverse();
    return { height: this.#height[first]!, tx: this.#tx[first]!, balances };
  }

  #amountOf(row: number): U128 {
    return this.#large.get(row) ?? smallU128(this.#amount[row]!);
  }

  #isAt(row: number, bytes: Uint8Array, at: number): boolean {
    for (let index = 0; index < hashLength; index++)
      if (this.#txid[row * hashLength + index] !== bytes[at + index]) return false;
    const vout = new DataView(bytes.buffer, bytes.byteOffset + at, outpointLength).getUint32(
      hashLength,
      true,
    );
    return this.#vout[row] === vout;
  }

  #link(row: number): void {
    const slot = this.#low[row]! & (this.#slots.length - 1);
    this.#nextInSlot[row] = this.#slots[slot]!;
    this.#slots[slot] = row + 1;
  }

  #grow(): void {
    const rows = this.#low.length * 2;
    const moved = <Values extends { set: (values: Values) => void }>(
      values: Values,
      larger: Values,
    ): Values => {
      larger.set(values);
      return larger;
    };
    this.#low = moved(this.#low, new Uint32Array(rows));
    this.#high = moved(this.#high, new Uint32Array(rows));
    this.#height = moved(this.#height, new Int32Array(rows));
    this.#tx = moved(this.#tx, new Int32Array(rows));
    this.#vout = moved(this.#vout, new Uint32Array(rows));
    this.#key = moved(this.#key, new Int32Array(rows));
    this.#amount = moved(this.#amount, new Float64Array(rows));
    this.#txid = moved(this.#txid, new Uint8Array(rows * hashLength));
    this.#nextInSlot = new Int32Array(rows);
    this.#slots = new Int32Array(rows * 2);
    for (let row = 0; row < rows / 2; row++) this.#link(row);
  }
}
