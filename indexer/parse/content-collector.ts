import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Arena } from './arena.ts';
import { foldAscii, foldNeed, foldNeeds } from './ascii-text.ts';
import type { ContentTable } from './block-tables.ts';
import {
  bodyLimits,
  decodeBytes,
  type EncodingName,
  encodingOf,
  encodings,
  outputLengthMax,
} from './content-decoding.ts';
import type { DerivedBudget } from './derived-budget.ts';
import { Sha256Lanes } from './sha256/sha256-lanes.ts';
import { foldedGrowthMax, foldUtf8Into } from './unicode-text.ts';

/** The bit of `chain.contents.variant` for content types whose texts are searchable. */
export const searchableVariant = 8;
/** The values of `chain.contents.text`. */
export const contentText = { none: 0, body: 1, folded: 2 } as const;

const longBody = 4096;
/**
 * Maximum number of bodies with the same quick hash that are compared. An honest block has one. If a block is crafted
 * to have more, its bodies are hashed with sha256.
 */
const sameQuickHashMax = 8;
const slotsFirst = 1 << 12;

/**
 * The distinct contents of a block, in the order of first appearance. A repeated body is found by a quick hash and a
 * comparison of its bytes, which costs a fraction of its sha256. Long bodies, and bodies with a frequent quick hash,
 * are found by their sha256. Equal bodies are always found by the same method, so no repetition is missed.
 */
export class ContentCollector {
  readonly #table: ContentTable;
  readonly #arena: Arena;
  readonly #budget: DerivedBudget;
  /**
   * Index + 1 of the content in each slot. The number of slots is a power of two, and at most half of them are used.
   */
  #slots = new Int32Array(slotsFirst);
  #slotsTaken = 0;
  #quickHashes = new Int32Array(1 << 10);
  readonly #lanes: Sha256Lanes;
  readonly #indexBySha = new Map<string, number>();
  /** Secret and odd, so that no one can craft contents for one slot. */
  #multiplier = 1;
  #textMaxBytes = 0;

  constructor(table: ContentTable, arena: Arena, budget: DerivedBudget) {
    this.#table = table;
    this.#arena = arena;
    this.#budget = budget;
    this.#lanes = new Sha256Lanes(table, false);
  }

  reset(multiplier: number, textMaxBytes: number): void {
    this.#slots.fill(0);
    this.#slotsTaken = 0;
    this.#indexBySha.clear();
    this.#lanes.reset();
    this.#multiplier = multiplier | 1;
    this.#textMaxBytes = textMaxBytes;
  }

  /**
   * Returns the index of the content whose body begins at `start` in the arena. `start` is a multiple of four. If the
   * content is already known, its bytes are removed from the arena.
   */
  add(start: number, encodingField: Uint8Array | null, searchable: boolean): number {
    const variant = encodingNumber(encodingField) | (searchable ? searchableVariant : 0);
    const length = this.#arena.length - start;
    if (length > longBody) return this.#addBySha(start, length, variant);
    const quick = quickHash(this.#arena.words, start >> 2, length) ^ variant;
    let same = 0;
    for (let slot = this.#slotOf(quick); ; slot = (slot + 1) & (this.#slots.length - 1)) {
      const index = this.#slots[slot]! - 1;
      if (index < 0) return this.#insert(start, length, variant, quick, slot);
      if (this.#quickHashes[index] !== quick) continue;
      if (this.#isContent(index, start, length, variant)) {
        this.#arena.length = start;
        return index;
      }
      if (++same === sameQuickHashMax) return this.#addBySha(start, length, variant);
    }
  }

  /** Completes the hashes of the contents that were added. */
  finish(): void {
    this.#lanes.flush();
  }

  #slotOf(quick: number): number {
    return (Math.imul(quick, this.#multiplier) >>> 8) & (this.#slots.length - 1);
  }

  #isContent(index: number, start: number, length: number, variant: number): boolean {
    const table = this.#table;
    if (table.variant[index] !== variant || table.range[index * 2 + 1] !== length) return false;
    const { bytes } = this.#arena;
    const from = table.range[index * 2]!;
    for (let place = 0; place < length; place++) {
      if (bytes[from + place] !== bytes[start + place]) return false;
    }
    return true;
  }

  #insert(start: number, length: number, variant: number, quick: number, slot: number): number {
    const index = this.#append(start, length, variant);
    this.#hashBody(index, start, length);
    if (index >= this.#quickHashes.length) {
      const grown = new Int32Array(this.#quickHashes.length * 2);
      grown.set(this.#quickHashes);
      this.#quickHashes = grown;
    }
    this.#quickHashes[index] = quick;
    this.#slots[slot] = index + 1;
    this.#slotsTaken++;
    if (this.#slotsTaken * 2 > this.#slots.length) this.#growSlots();
    return index;
  }

  #growSlots(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    for (const taken of old) {
      if (taken === 0) continue;
      let slot = this.#slotOf(this.#quickHashes[taken - 1]!);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = taken;
    }
  }

  #addBySha(start: number, length: number, variant: number): number {
    const sha = hash('sha256', this.#arena.bytes.subarray(start, start + length), 'buffer');
    const name = `${variant} ${sha.toString('latin1')}`;
    const known = this.#indexBySha.get(name);
    if (known !== undefined) {
      this.#arena.length = start;
      return known;
    }
    const index = this.#append(start, length, variant);
    this.#table.hash.set(sha, index * 32);
    this.#indexBySha.set(name, index);
    return index;
  }

  #hashBody(index: number, start: number, length: number): void {
    const { bytes, words } = this.#arena;
    if (Sha256Lanes.takes(length)) this.#lanes.addWords(words, start >> 2, length, index);
    else this.#table.hash.set(hash('sha256', bytes.subarray(start, start + length), 'buffer'), index * 32);
  }

  #append(start: number, length: number, variant: number): number {
    const table = this.#table;
    const index = table.length;
    table.reserve(index + 1);
    table.variant[index] = variant;
    table.range[index * 2] = start;
    table.range[index * 2 + 1] = length;
    table.text[index] = contentText.none;
    table.folded[index * 2] = 0;
    table.folded[index * 2 + 1] = 0;
    table.decodedLength[index] = -1;
    table.length = index + 1;
    const isSearchable = (variant & searchableVariant) !== 0;
    const encoding = variant & ~searchableVariant;
    if (encoding === encodings.none) {
      if (isSearchable) this.#addText(index, start, length, false);
    } else if (encoding !== encodings.unknown) {
      const body = this.#arena.bytes.subarray(start, start + length);
      this.#addDecoded(index, body, encodingNames[encoding] as EncodingName, isSearchable);
    }
    return index;
  }

  #addDecoded(index: number, body: Uint8Array, encoding: EncodingName, isSearchable: boolean): void {
    if (!this.#budget.mayWaste) return;
    const decoded = decodeBytes(encoding, body, bodyLimits);
    if (decoded === null || !this.#budget.take(decoded.length)) {
      this.#budget.waste(decoded?.length ?? outputLengthMax(body.length, bodyLimits));
      return;
    }
    this.#table.setDecoded(index, hash('sha256', decoded, 'buffer'), decoded.length);
    if (!isSearchable) return;
    const start = this.#arena.align();
    this.#arena.append(decoded);
    this.#addText(index, start, decoded.length, true);
  }

  /**
   * Records the text of a content: the `length` bytes of the arena from `start` on. The text is the body, or the
   * decoded body (`isDecoded`) at the arena's end.
   */
  #addText(index: number, start: number, length: number, isDecoded: boolean): void {
    const arena = this.#arena;
    const need = length > this.#textMaxBytes ? null : foldNeed(arena.words, start >> 2, length);
    if (need === foldNeeds.ascii) {
      const to = isDecoded ? start : arena.align();
      arena.reserve(length + 3);
      foldAscii(arena.words, start >> 2, length, to >> 2);
      this.#noteFolded(index, to, length);
    } else if (need === foldNeeds.unicode) {
      this.#addUnicodeText(index, start, length, isDecoded);
    } else if (need === foldNeeds.nothing && isDecoded) {
      this.#noteFolded(index, start, length);
    } else {
      // the body equals its folded text, or the text is not wanted
      if (need === foldNeeds.nothing) this.#table.text[index] = contentText.body;
      if (isDecoded) arena.length = start;
    }
  }

  #addUnicodeText(index: number, start: number, length: number, isDecoded: boolean): void {
    const arena = this.#arena;
    const end = start + length;
    if (!isUtf8(arena.bytes.subarray(start, end))) {
      if (isDecoded) arena.length = start;
      return;
    }
    const to = arena.align();
    arena.reserve(length * foldedGrowthMax);
    const folded = foldUtf8Into(arena, start, end, to);
    if (folded >= 0) {
      this.#noteFolded(index, to, folded);
    } else if (isDecoded) {
      this.#noteFolded(index, start, length);
    } else {
      this.#table.text[index] = contentText.body;
    }
  }

  #noteFolded(index: number, start: number, length: number): void {
    const table = this.#table;
    this.#arena.length = start + length;
    table.text[index] = contentText.folded;
    table.folded[index * 2] = start;
    table.folded[index * 2 + 1] = length;
  }
}

const encodingNames: readonly (EncodingName | null)[] = [null, 'br', 'gzip', 'zstd'];

function encodingNumber(field: Uint8Array | null): number {
  if (field === null) return encodings.none;
  const name = encodingOf(field);
  return name === null ? encodings.unknown : encodings[name];
}

/** A hash that separates honest bodies. An attack on it gains nothing (`sameQuickHashMax`). */
function quickHash(words: Int32Array, from: number, length: number): number {
  let first = length;
  let second = 0;
  let at = from;
  for (const end = from + ((length >> 3) << 1); at < end; at += 2) {
    first = Math.imul(first ^ words[at]!, 0x9e3779b1);
    second = Math.imul(second ^ words[at + 1]!, 0x85ebca77);
    first ^= first >>> 15;
    second ^= second >>> 13;
  }
  const rest = length & 7;
  if (rest > 3) second = Math.imul(second ^ words[at++]!, 0x85ebca77);
  if ((rest & 3) !== 0) first = Math.imul(first ^ (words[at]! << (32 - (rest & 3) * 8)), 0x9e3779b1);
  first = Math.imul(first ^ (second + (second << 7)), 0xc2b2ae3d);
  return first ^ (first >>> 16);
}
