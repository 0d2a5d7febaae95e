import { hash } from 'node:crypto';
import { foldUtf8 } from '#kernel/text/fold.ts';
import { isSearchableType } from '#kernel/text/searchable.ts';
import type { Arena } from './arena.ts';
import type { MetadataTable, TypeTable } from './block-tables.ts';
import type { DerivedBudget } from './derived-budget.ts';

/** The distinct content types of a block, in the order of first appearance. */
export class DistinctTypes {
  readonly #table: TypeTable;
  readonly #arena: Arena;
  readonly #indexByBytes = new Map<string, number>();
  #searchable: boolean[] = [];
  #last = -1;

  constructor(table: TypeTable, arena: Arena) {
    this.#table = table;
    this.#arena = arena;
  }

  reset(): void {
    this.#indexByBytes.clear();
    this.#searchable = [];
    this.#last = -1;
  }

  /** The index of the type that begins at `start` in `source`. */
  indexOf(source: Uint8Array, start: number, length: number): number {
    // most envelopes of a block repeat the type of the previous one
    if (this.#last >= 0 && this.#isAt(this.#last, source, start, length)) return this.#last;
    const bytes = Buffer.from(source.buffer, source.byteOffset + start, length);
    const name = bytes.toString('latin1');
    let index = this.#indexByBytes.get(name);
    if (index === undefined) {
      index = this.#add(bytes);
      this.#indexByBytes.set(name, index);
    }
    this.#last = index;
    return index;
  }

  isSearchable(index: number): boolean {
    return this.#searchable[index] === true;
  }

  #isAt(index: number, source: Uint8Array, start: number, length: number): boolean {
    const { range } = this.#table;
    if (range[index * 2 + 1] !== length) return false;
    const { bytes } = this.#arena;
    const from = range[index * 2]!;
    for (let place = 0; place < length; place++) {
      if (bytes[from + place] !== source[start + place]) return false;
    }
    return true;
  }

  #add(bytes: Buffer): number {
    const table = this.#table;
    const arena = this.#arena;
    const index = table.length;
    table.reserve(index + 1);
    table.range[index * 2] = arena.length;
    table.range[index * 2 + 1] = bytes.length;
    table.length = index + 1;
    arena.append(bytes);
    this.#searchable.push(isSearchableType(bytes));
    return index;
  }
}

/** The distinct canonical metadata texts of a block, in the order of first appearance. */
export class DistinctMetadata {
  readonly #table: MetadataTable;
  readonly #arena: Arena;
  readonly #budget: DerivedBudget;
  /** Index of a text by the raw bytes, so that copies are not decoded again. -1: the bytes have no text. */
  readonly #indexByCbor = new Map<string, number>();
  readonly #indexByJson = new Map<string, number>();

  constructor(table: MetadataTable, arena: Arena, budget: DerivedBudget) {
    this.#table = table;
    this.#arena = arena;
    this.#budget = budget;
  }

  reset(): void {
    this.#indexByCbor.clear();
    this.#indexByJson.clear();
  }

  /** The index of the text that `toJson` makes from the bytes. -1: it makes no text. */
  indexOf(cbor: Buffer, toJson: (cbor: Uint8Array) => string | null): number {
    const name = cbor.toString('latin1');
    let index = this.#indexByCbor.get(name);
    if (index === undefined) {
      const json = toJson(cbor);
      index = json === null ? -1 : this.#indexOfJson(json);
      this.#indexByCbor.set(name, index);
    }
    return index;
  }

  #indexOfJson(json: string): number {
    const known = this.#indexByJson.get(json);
    if (known !== undefined) return known;
    const bytes = Buffer.from(json);
    const folded = foldUtf8(bytes);
    const index = this.#budget.take(bytes.length + (folded?.length ?? 0)) ? this.#add(bytes, folded) : -1;
    this.#indexByJson.set(json, index);
    return index;
  }

  #add(json: Buffer, folded: Uint8Array | null): number {
    const table = this.#table;
    const arena = this.#arena;
    const index = table.length;
    table.reserve(index + 1);
    table.hash.set(hash('sha256', json, 'buffer'), index * 32);
    table.range[index * 2] = arena.length;
    table.range[index * 2 + 1] = json.length;
    arena.append(json);
    table.folded[index * 2] = folded === null ? 0 : arena.length;
    table.folded[index * 2 + 1] = folded?.length ?? 0;
    if (folded !== null) arena.append(folded);
    table.length = index + 1;
    return index;
  }
}
