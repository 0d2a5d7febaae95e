import { strict as assert } from 'node:assert';
import { BloomFilter } from './bloom-filter.ts';
import { HashTable, sameHash, slotHash } from './hash-table.ts';

const hashLength = 32;
const ways = 8;

/**
 * Maximum number of cache entries for contents. An entry has 41 bytes, so the cache takes 43 MB. On mainnet most copies
 * repeat a content of the last few thousand blocks. The filter and a query find older contents.
 */
export const contentCacheEntries = 1 << 20;
/**
 * Number of entries at the start (168 KB). A full-size cache would cost its memory in every short run and every test.
 */
const firstEntries = 1 << 12;
/** Maximum number of cache entries for metadata, which repeats less and is rarer than content. */
export const metadataCacheEntries = 1 << 17;

/** Results of `probe` if the registry has no id for a hash. */
export const unknownId = {
  /** No committed or uncommitted row has the hash. */
  absent: -1,
  /** A committed row may have the hash, so query the database. */
  ask: -2,
} as const;

/**
 * Finds whether a (sha256, variant) already has a row, and the id of that row. It reads a set-associative cache of full
 * hashes, then a filter whose "no" is certain. Only the remaining hashes are queried in the database, once per batch,
 * so there is no index probe per inscription.
 *
 * Exact at all times. Cache and filter change with commits only. Uncommitted entries are in the table of their batch,
 * which is read first and dropped whole if the batch fails. A cache set that never evicted an entry holds every row of
 * that set, so not even the filter is needed.
 */
export class ContentRegistry {
  readonly #entriesMax: number;
  #setMask: number;
  #hashes: Uint8Array;
  #variants: Uint8Array;
  /**
   * Two words per way, so that a set fits in one cache line of the processor. The first word is id + 1, or 0 if the way
   * is free, so new memory is not touched until a way is used. The second word has four bytes of the hash, which are
   * compared before the full hash.
   */
  #words: Int32Array;
  /** For each set: the way that is replaced next. */
  #hands: Uint8Array;
  /** For each set: 1 if it has evicted an entry. */
  #dropped: Uint8Array;
  readonly #filter: BloomFilter;
  readonly #underWay: HashTable[] = [];

  /**
   * @param entriesMax a power of two, at least 8. The cache begins smaller and doubles while a full set would evict.
   * @param expected number of rows that will be learnt soon
   * @param first number of entries at the start, a power of two, at least 8
   */
  constructor(entriesMax: number, expected = 0, first = firstEntries) {
    this.#entriesMax = entriesMax;
    let entries = Math.min(entriesMax, first);
    while (entries < entriesMax && entries < expected * 2) entries *= 2;
    this.#setMask = entries / ways - 1;
    this.#hashes = new Uint8Array(entries * hashLength);
    this.#variants = new Uint8Array(entries);
    this.#words = new Int32Array(entries * 2);
    this.#hands = new Uint8Array(entries / ways);
    this.#dropped = new Uint8Array(entries / ways);
    this.#filter = new BloomFilter(expected);
  }

  /** Learns a committed row. Called at the start, in the order of ids, and after each commit. */
  learn(hashes: Uint8Array, at: number, variant: number, id: number): void {
    this.#filter.add(hashes, at, variant);
    this.keep(hashes, at, variant, id);
  }

  /** Learns only the id of a row that the database returned. The filter already has its hash. */
  keep(hashes: Uint8Array, at: number, variant: number, id: number): void {
    let set = slotHash(hashes, at, variant) & this.#setMask;
    let way = this.#freeWay(set);
    while (way === ways && this.#variants.length < this.#entriesMax) {
      this.#grow();
      set = slotHash(hashes, at, variant) & this.#setMask;
      way = this.#freeWay(set);
    }
    if (way === ways) {
      way = this.#hands[set]!;
      this.#hands[set] = (way + 1) % ways;
      this.#dropped[set] = 1;
    }
    const entry = set * ways + way;
    this.#words[entry * 2] = id + 1;
    this.#words[entry * 2 + 1] = tagOf(hashes, at);
    this.#variants[entry] = variant;
    for (let index = 0; index < hashLength; index++) {
      this.#hashes[entry * hashLength + index] = hashes[at + index]!;
    }
  }

  /** The first free way of a set, or `ways` if it is full. */
  #freeWay(set: number): number {
    let way = 0;
    while (way < ways && this.#words[(set * ways + way) * 2] !== 0) way++;
    return way;
  }

  /**
   * Doubles the number of sets. Called only while no set has evicted an entry, so each entry finds room in its new set.
   */
  #grow(): void {
    const [words, hashes, variants] = [this.#words, this.#hashes, this.#variants];
    const entries = variants.length * 2;
    this.#setMask = entries / ways - 1;
    this.#hashes = new Uint8Array(entries * hashLength);
    this.#variants = new Uint8Array(entries);
    this.#words = new Int32Array(entries * 2);
    this.#hands = new Uint8Array(entries / ways);
    this.#dropped = new Uint8Array(entries / ways);
    for (let from = 0; from < variants.length; from++) {
      if (words[from * 2] === 0) continue;
      const set = slotHash(hashes, from * hashLength, variants[from]!) & this.#setMask;
      const to = set * ways + this.#freeWay(set);
      this.#words.set(words.subarray(from * 2, from * 2 + 2), to * 2);
      this.#variants[to] = variants[from]!;
      this.#hashes.set(hashes.subarray(from * hashLength, (from + 1) * hashLength), to * hashLength);
    }
  }

  /**
   * Forgets all rows from an id on, after their blocks were taken back. Takes one pass over the cache, some
   * milliseconds. The filter cannot forget a row, so such a hash costs one more query, which finds no row.
   */
  forgetFrom(id: number): void {
    const words = this.#words;
    // `#free` may move another entry into this way, so check the way again
    for (let at = 0; at < words.length; at += 2) while (words[at]! > id) this.#free(at / 2);
  }

  /** Frees a way. Ways are filled from the front, so the last used way of the set moves into the gap. */
  #free(entry: number): void {
    const words = this.#words;
    const end = entry - (entry % ways) + ways;
    let last = end - 1;
    while (words[last * 2] === 0) last--;
    words.copyWithin(entry * 2, last * 2, last * 2 + 2);
    this.#variants[entry] = this.#variants[last]!;
    this.#hashes.copyWithin(entry * hashLength, last * hashLength, (last + 1) * hashLength);
    words.fill(0, last * 2, last * 2 + 2);
  }

  /**
   * The id of a hash, committed or uncommitted; otherwise one of `unknownId`. The result is valid until the next commit
   * or rollback.
   */
  probe(hashes: Uint8Array, at: number, variant: number): number {
    for (const table of this.#underWay) {
      const id = table.find(hashes, at, variant);
      if (id >= 0) return id;
    }
    const set = slotHash(hashes, at, variant) & this.#setMask;
    const tag = tagOf(hashes, at);
    for (let entry = set * ways; entry < set * ways + ways; entry++) {
      const id = this.#words[entry * 2]!;
      if (id === 0) break;
      if (this.#words[entry * 2 + 1] === tag && this.#isEntry(entry, hashes, at, variant)) return id - 1;
    }
    if (this.#dropped[set] === 0) return unknownId.absent;
    return this.#filter.mayHave(hashes, at, variant) ? unknownId.ask : unknownId.absent;
  }

  #isEntry(entry: number, hashes: Uint8Array, at: number, variant: number): boolean {
    return this.#variants[entry] === variant && sameHash(this.#hashes, entry * hashLength, hashes, at);
  }

  /** Begins a batch. Entries that are added to the returned table are uncommitted. */
  begin(): HashTable {
    const table = new HashTable();
    this.#underWay.push(table);
    return table;
  }

  /** Marks the oldest batch as committed. */
  commit(table: HashTable): void {
    assert(this.#underWay[0] === table, 'batches are committed in their order');
    this.#underWay.shift();
    for (let row = 0; row < table.size; row++) {
      this.learn(table.hashes, row * hashLength, table.variants[row]!, table.ids[row]!);
    }
  }

  /** Drops a failed batch and all later ones, because all of them are uncommitted. */
  rollback(): void {
    this.#underWay.length = 0;
  }
}

/** The last four bytes of a hash; the first four choose the set. */
function tagOf(hashes: Uint8Array, at: number): number {
  return hashes[at + 28]! | (hashes[at + 29]! << 8) | (hashes[at + 30]! << 16) | (hashes[at + 31]! << 24);
}
