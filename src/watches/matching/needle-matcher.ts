import assert from 'node:assert/strict';
import { NeedleAutomaton } from './needle-automaton.ts';
import { randomFactor } from './random-factor.ts';

/**
 * Lengths of a window in bytes, the longest first. A needle has one window, of the longest length that it can hold.
 * Longer windows occur in fewer texts, but a needle that is shorter than its window could not be found.
 */
const windowLengths = [8, 4, 3, 2, 1] as const;

/** Ends a chain of needles, and marks an empty place of a table. */
const none = -1;

/**
 * Number of bits of a filter for each needle. At most one of 64 positions of a text then passes it by chance. With 16
 * bits most of the time of a text went to windows that are in no table.
 */
const filterBitsOfNeedle = 64;

/**
 * Maximum number of bytes of a needle whose windows are examined, so that the start of a window is one byte. A window in
 * them is rare enough, and long needles would make a new search slow.
 */
const examinedMax = 256;

/**
 * Maximum number of bytes and needles that a text compares, before the automaton reads it. Usual texts compare fewer
 * than one for each byte. The automaton costs about as much as sixteen.
 */
const comparedMaxOf = (text: Uint8Array): number => 1024 + 16 * text.length;

/**
 * Finds many needles in a text in one pass: 10,000 saved searches are not 10,000 scans.
 *
 * Each needle has a window, a part of 8, 4, 3, 2 or 1 bytes. All windows are in a hash table. At each position of a
 * text, a filter of bits says whether the bytes there may end a window. If so, the window is looked up, and its needles
 * are compared. Windows of 8 and of 4 bytes have one filter of their last 4 bytes, which spares a pass over each text.
 * This is the multiple-pattern search of Wu and Manber without its jumps, because the shortest needle would limit all
 * jumps. An automaton (Aho and Corasick) needs 34 to 52 bytes for each byte of each needle. This table needs some 75
 * bytes for each needle (`tableBytes`).
 *
 * The window of a needle is the part that the fewest needles share. Needles that all begin like
 * `{"p":"brc-20","op":` are then compared only where they differ.
 *
 * Cost: one look-up for each position and filter, and one comparison for each needle that shares the window at a
 * position. Needles of one window that were all found in the text are skipped. Needles and texts can be made so that a
 * text has very many comparisons. They have a maximum for each text (`comparedMaxOf`). A text that needs more is read by
 * an automaton instead.
 */
export class NeedleMatcher {
  /** The bytes of all needles, one after another. */
  readonly #pool: Uint8Array;
  /** The start of each needle in the pool. The last entry is the end of the pool. */
  readonly #starts: Uint32Array;
  /** The start of each needle's window, from the start of the needle. */
  readonly #windowStarts: Uint8Array;
  /** The next needle with the same window. */
  readonly #next: Int32Array;
  /** The number of the text in which a needle was last found. */
  readonly #foundIn: Uint32Array;
  readonly #filters: readonly WindowFilter[];
  readonly #placeFactor: number;
  /** The number of the present text. Numbers spare the clearing of `#foundIn` before each text. */
  #text = 0;
  /** How many further bytes and needles the present text may compare. */
  #comparisons = 0;
  #automaton: NeedleAutomaton | null = null;

  /**
   * @param needles the needles, which have at least one byte. Their numbers are their indices. Equal needles are found
   *   like others, but each costs a comparison, so that callers should give each needle once.
   * @param placeFactor spreads windows over places; tests choose it
   */
  constructor(needles: readonly Uint8Array[], placeFactor = randomFactor()) {
    this.#placeFactor = placeFactor;
    this.#starts = new Uint32Array(needles.length + 1);
    let end = 0;
    for (const [needle, bytes] of needles.entries()) {
      assert(bytes.length > 0, 'a needle has at least one byte');
      this.#starts[needle] = end;
      end += bytes.length;
    }
    this.#starts[needles.length] = end;
    this.#pool = new Uint8Array(end);
    for (const [needle, bytes] of needles.entries()) this.#pool.set(bytes, this.#starts[needle]);
    this.#windowStarts = new Uint8Array(needles.length);
    this.#next = new Int32Array(needles.length).fill(none);
    this.#foundIn = new Uint32Array(needles.length);
    const tables = windowLengths.flatMap((length, nth) => {
      const below = windowLengths[nth - 1] ?? Number.POSITIVE_INFINITY;
      const held = needles.flatMap((each, needle) =>
        each.length >= length && each.length < below ? [needle] : [],
      );
      return held.length === 0 ? [] : [this.#tableOf(length, held)];
    });
    this.#filters = [...Map.groupBy(tables, ({ length }) => Math.min(length, filteredMax))].map(
      ([length, filtered]) => this.#filterOf(length, filtered),
    );
  }

  /** Number of needles. */
  get size(): number {
    return this.#next.length;
  }

  /** Whether a text needed more comparisons than the maximum, so that the automaton was made. */
  get hasAutomaton(): boolean {
    return this.#automaton !== null;
  }

  /** Bytes of memory beyond the needles' own bytes, without the automaton. */
  get tableBytes(): number {
    const ofNeedles = [this.#starts, this.#windowStarts, this.#next, this.#foundIn];
    const ofTables = this.#filters.flatMap(({ bits, tables }) => [
      bits,
      ...tables.flatMap(({ heads, windows, left, leftIn }) => [heads, windows, left, leftIn]),
    ]);
    return [...ofNeedles, ...ofTables].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /**
   * Finds the needles that occur in a text.
   *
   * @param found is called once for each needle that occurs, with its number, in no particular order
   */
  match(text: Uint8Array, found: (needle: number) => void): void {
    this.#beginText();
    this.#comparisons = comparedMaxOf(text);
    for (const filter of this.#filters) {
      this.#matchWindows(filter, text, found);
      if (this.#comparisons < 0) return this.#matchAll(text, found);
    }
  }

  /** Finds the needles that were not found yet, by the automaton. */
  #matchAll(text: Uint8Array, found: (needle: number) => void): void {
    this.#automaton ??= new NeedleAutomaton(
      Array.from({ length: this.size }, (_, needle) => this.#bytesOf(needle)),
    );
    this.#automaton.match(text, (needle) => {
      if (this.#foundIn[needle] === this.#text) return;
      this.#foundIn[needle] = this.#text;
      found(needle);
    });
  }

  #bytesOf(needle: number): Uint8Array {
    return this.#pool.subarray(this.#starts[needle], this.#starts[needle + 1]);
  }

  /** Whether the last text has a needle. */
  has(needle: number): boolean {
    return this.#text > 0 && this.#foundIn[needle] === this.#text;
  }

  #beginText(): void {
    // after 2^32 - 1 texts the numbers begin again
    if (this.#text === 0xff_ff_ff_ff) {
      this.#text = 0;
      this.#foundIn.fill(0);
      for (const { tables } of this.#filters) for (const { leftIn } of tables) leftIn.fill(0);
    }
    this.#text++;
  }

  #matchWindows(filter: WindowFilter, text: Uint8Array, found: (needle: number) => void): void {
    const { length, tables } = filter;
    for (
      let end = nextPassing(filter, text, length);
      end <= text.length;
      end = nextPassing(filter, text, end + 1)
    ) {
      for (const table of tables) {
        const at = end - table.length;
        if (at >= 0) this.#compareChain(table, windowAt(table, text, at), text, at, found);
      }
      if (this.#comparisons < 0) return;
    }
  }

  #compareChain(
    table: WindowTable,
    window: number,
    text: Uint8Array,
    at: number,
    found: (needle: number) => void,
  ): void {
    const place = placeOf(table, window);
    // each passed place counts, so that crowded places cost no more than the maximum
    this.#comparisons -= 1 + ((place - homeOf(table, window)) & (table.heads.length - 1));
    if (table.heads[place] === none || (table.leftIn[place] === this.#text && table.left[place] === 0))
      return;
    let left = 0;
    for (let needle = table.heads[place]!; needle !== none; needle = this.#next[needle]!) {
      this.#comparisons--;
      if (this.#foundIn[needle] === this.#text) continue;
      if (!this.#occursAt(needle, text, at - this.#windowStarts[needle]!)) {
        left++;
        continue;
      }
      this.#foundIn[needle] = this.#text;
      found(needle);
    }
    table.left[place] = left;
    table.leftIn[place] = this.#text;
  }

  #occursAt(needle: number, text: Uint8Array, at: number): boolean {
    const start = this.#starts[needle]!;
    const length = this.#starts[needle + 1]! - start;
    if (at < 0 || at + length > text.length) return false;
    let nth = 0;
    while (nth < length && this.#pool[start + nth] === text[at + nth]) nth++;
    this.#comparisons -= nth;
    return nth === length;
  }

  /** Makes the table of the needles `held`, whose windows have a length. */
  #tableOf(length: number, held: readonly number[]): WindowTable {
    const shared = this.#countWindows(length, held);
    const table = emptyTable(length, held.length, this.#placeFactor);
    for (const needle of held) {
      const { window, start } = this.#rarestWindow(length, needle, shared);
      this.#windowStarts[needle] = start;
      const place = placeOf(table, window);
      table.windows[place] = window;
      this.#next[needle] = table.heads[place]!;
      table.heads[place] = needle;
    }
    return table;
  }

  /** Makes the filter of tables, from the last `length` bytes of their windows. */
  #filterOf(length: number, tables: readonly WindowTable[]): WindowFilter {
    const ends = tables.flatMap((table) =>
      [...this.#needlesOf(table)].map((needle) => {
        const end = this.#starts[needle]! + this.#windowStarts[needle]! + table.length;
        return windowAt({ length }, this.#pool, end - length);
      }),
    );
    const size = Math.max(32, powerOfTwoFrom(ends.length * filterBitsOfNeedle));
    const filter = { length, bits: new Int32Array(size / 32), shift: shiftTo(size), tables };
    for (const end of ends) {
      const bit = Math.imul(end, filterFactor) >>> filter.shift;
      filter.bits[bit >>> 5]! |= 1 << bit;
    }
    return filter;
  }

  *#needlesOf({ heads }: WindowTable): Generator<number> {
    for (const head of heads)
      for (let needle = head; needle !== none; needle = this.#next[needle]!) yield needle;
  }

  /** The number of needles that have each window. A window that occurs twice in a needle counts once. */
  #countWindows(length: number, held: readonly number[]): Map<number, number> {
    const counts = new Map<number, number>();
    for (const needle of held) {
      for (const window of new Set(this.#windowsOf(length, needle)))
        counts.set(window, (counts.get(window) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * The window that the fewest needles share. Of equal windows it is the last one, because needles often begin alike.
   */
  #rarestWindow(
    length: number,
    needle: number,
    shared: ReadonlyMap<number, number>,
  ): { readonly window: number; readonly start: number } {
    let rarest = { window: 0, start: 0, count: Number.POSITIVE_INFINITY };
    let start = 0;
    for (const window of this.#windowsOf(length, needle)) {
      const count = shared.get(window) ?? 0;
      if (count <= rarest.count) rarest = { window, start, count };
      start++;
    }
    return rarest;
  }

  *#windowsOf(length: number, needle: number): Generator<number> {
    const bytes = this.#bytesOf(needle).subarray(0, examinedMax);
    let late = 0;
    let early = 0;
    for (const [at, byte] of bytes.entries()) {
      early = (early << 8) | (late >>> 24);
      late = (late << 8) | byte;
      if (at + 1 >= length) yield windowOf(length, early, late);
    }
  }
}

/** Number of the last bytes of a window that a filter has at most. */
const filteredMax = 4;

/** Says which places of a text may be the end of a window. */
interface WindowFilter {
  /** Number of the last bytes of a window that the filter has. */
  readonly length: number;
  /** A bit is set if a window ends so. Most positions of a text need only this look-up. */
  readonly bits: Int32Array;
  /** The number of bits by which a hash is shifted to get a bit. */
  readonly shift: number;
  /** All windows of these tables are in the filter. */
  readonly tables: readonly WindowTable[];
}

/** The needles whose windows have one length, by their windows. */
interface WindowTable {
  /** Length of the windows in bytes. */
  readonly length: number;
  /** Spreads neighbouring windows over the places. */
  readonly placeFactor: number;
  /** The number of bits by which a hash is shifted to get a place. */
  readonly placeShift: number;
  /** The first needle of each place. */
  readonly heads: Int32Array;
  /** The window of each place. */
  readonly windows: Int32Array;
  /** How many needles of a place were not found in the text `leftIn`. */
  readonly left: Int32Array;
  readonly leftIn: Uint32Array;
}

function emptyTable(length: number, needles: number, placeFactor: number): WindowTable {
  // half of the places stay empty, so that a search for a free place is short
  const places = powerOfTwoFrom(needles * 2);
  return {
    length,
    placeFactor,
    placeShift: shiftTo(places),
    heads: new Int32Array(places).fill(none),
    windows: new Int32Array(places),
    left: new Int32Array(places),
    leftIn: new Uint32Array(places),
  };
}

/**
 * The end of the first window that passes the filter, and ends at or after a place. Above the length of the text: no
 * window does. This loop has most of the cost of a text. It is a function of its own, because it takes longer in a
 * function that also compares needles.
 *
 * @param from at least the length of a window
 */
function nextPassing({ length, bits, shift }: WindowFilter, text: Uint8Array, from: number): number {
  const mask = lateMaskOf(length);
  const { length: end } = text;
  if (from > end) return end + 1;
  let late = 0;
  for (let at = from - length; at < from - 1; at++) late = (late << 8) | text[at]!;
  for (let at = from - 1; at < end; at++) {
    late = (late << 8) | text[at]!;
    const bit = Math.imul(late & mask, filterFactor) >>> shift;
    if ((bits[bit >>> 5]! & (1 << bit)) !== 0) return at + 1;
  }
  return end + 1;
}

/** The window that begins at a place of a text. */
function windowAt({ length }: Pick<WindowTable, 'length'>, text: Uint8Array, at: number): number {
  let late = 0;
  let early = 0;
  for (let nth = at; nth < at + length; nth++) {
    early = (early << 8) | (late >>> 24);
    late = (late << 8) | text[nth]!;
  }
  return windowOf(length, early, late);
}

/** The number of bits by which a hash of 32 bits is shifted to be below a power of two. */
const shiftTo = (end: number): number => Math.clz32(end) + 1;

/** The least power of two that is at least 2 and at least a number. */
const powerOfTwoFrom = (least: number): number => 2 ** Math.max(1, Math.ceil(Math.log2(least)));

/** The first place in its table that a window may have. */
const homeOf = ({ placeFactor, placeShift }: WindowTable, window: number): number =>
  Math.imul(window, placeFactor) >>> placeShift;

/** The place of a window in its table: its own, or a free one. */
function placeOf(table: WindowTable, window: number): number {
  const { heads, windows } = table;
  const mask = heads.length - 1;
  let place = homeOf(table, window);
  while (heads[place] !== none && windows[place] !== window) place = (place + 1) & mask;
  return place;
}

/** Mixes the first four bytes of a window of eight bytes with the others. */
const earlyFactor = randomFactor();
/** Spreads neighbouring windows over a filter. */
const filterFactor = randomFactor();

/**
 * A window as 32 bits. Two windows of 8 bytes may have the same 32 bits: needles are compared byte by byte.
 *
 * @param early the four bytes before the last four
 * @param late the last four bytes
 */
function windowOf(length: number, early: number, late: number): number {
  if (length === 8) return (Math.imul(early, earlyFactor) ^ late) | 0;
  return late & lateMaskOf(length);
}

/** The bits of the last four bytes that are part of a window. */
const lateMaskOf = (length: number): number => (length >= 4 ? -1 : 2 ** (8 * length) - 1);
