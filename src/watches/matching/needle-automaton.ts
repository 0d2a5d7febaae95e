import { randomFactor } from './random-factor.ts';

/** The node of the empty prefix. */
const root = 0;
/** Marks an empty place of the table of steps. No step leads to the root. */
const noStep = 0;

/**
 * The automaton of Aho and Corasick: it finds needles in a text with a cost that grows with the text alone, whatever
 * the needles are. It needs 34 to 52 bytes of memory for each byte of each needle. It is made only once a text needs
 * more comparisons than `NeedleMatcher` allows.
 */
export class NeedleAutomaton {
  /** Steps in a hash table: the node and the byte of each step, and the node that the step leads to. */
  readonly #froms: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #targets: Int32Array;
  /** The number of bits by which a hash is shifted to get a place. */
  readonly #shift: number;
  /** The longest proper suffix of each node that is a node, too. */
  readonly #suffixes: Int32Array;
  /** The needle that ends at each node, plus 1. 0: no needle ends there. */
  readonly #needles: Int32Array;
  /** The nearest suffix, or the node itself, at which a needle ends that was not found yet in the present text. */
  readonly #ends: Int32Array;
  /** `#ends` before any needle is found. */
  readonly #allEnds: Int32Array;
  /** Needles that equal an earlier one, by the number of the earlier one. */
  readonly #equals = new Map<number, number[]>();
  #nodes = 1;

  /** @param needles at least one byte each. Their numbers are their indices. */
  constructor(needles: readonly Uint8Array[]) {
    const bytes = needles.reduce((sum, { length }) => sum + length, 1);
    // half of the places stay empty, so that a search for a free place is short
    const places = 2 ** Math.ceil(Math.log2(bytes * 2));
    this.#shift = Math.clz32(places) + 1;
    this.#froms = new Int32Array(places);
    this.#bytes = new Uint8Array(places);
    this.#targets = new Int32Array(places);
    this.#needles = new Int32Array(bytes);
    for (const [needle, given] of needles.entries()) this.#add(given, needle);
    const nodes = this.#nodes;
    this.#suffixes = new Int32Array(nodes);
    this.#allEnds = new Int32Array(nodes);
    this.#link(needles);
    this.#ends = this.#allEnds.slice();
  }

  /** Calls `found` once for each needle that occurs in the text. */
  match(text: Uint8Array, found: (needle: number) => void): void {
    this.#ends.set(this.#allEnds);
    let node = root;
    for (const byte of text) {
      node = this.#next(node, byte);
      for (let end = this.#endOf(node); end !== root; end = this.#endOf(node)) {
        const needle = this.#needles[end]! - 1;
        found(needle);
        for (const equal of this.#equals.get(needle) ?? []) found(equal);
        // the needle is not found again in this text
        this.#ends[end] = this.#suffixes[end]!;
      }
    }
  }

  #add(bytes: Uint8Array, needle: number): void {
    let node = root;
    for (const byte of bytes) {
      const place = this.#placeOf(node, byte);
      if (this.#targets[place] === noStep) {
        this.#froms[place] = node;
        this.#bytes[place] = byte;
        this.#targets[place] = this.#nodes++;
      }
      node = this.#targets[place]!;
    }
    const first = this.#needles[node]! - 1;
    if (first < 0) this.#needles[node] = needle + 1;
    else this.#equals.set(first, [...(this.#equals.get(first) ?? []), needle]);
  }

  /** Links each node to its longest suffix, the nodes of short prefixes first. */
  #link(needles: readonly Uint8Array[]): void {
    const isLinked = new Uint8Array(this.#nodes);
    isLinked[root] = 1;
    // the node of each needle's prefix of the present length
    const at = new Int32Array(needles.length);
    let going = needles.map((_, needle) => needle);
    for (let length = 0; going.length > 0; length++) {
      going = going.filter((needle) => length < needles[needle]!.length);
      for (const needle of going) {
        const parent = at[needle]!;
        const byte = needles[needle]![length]!;
        const node = this.#targets[this.#placeOf(parent, byte)]!;
        at[needle] = node;
        if (isLinked[node] === 1) continue;
        isLinked[node] = 1;
        const suffix = parent === root ? root : this.#next(this.#suffixes[parent]!, byte);
        this.#suffixes[node] = suffix;
        this.#allEnds[node] = this.#needles[node] === 0 ? this.#allEnds[suffix]! : node;
      }
    }
  }

  /** The longest suffix of a node's prefix and a byte that is a node. */
  #next(from: number, byte: number): number {
    for (let node = from; ; node = this.#suffixes[node]!) {
      const target = this.#targets[this.#placeOf(node, byte)]!;
      if (target !== noStep) return target;
      if (node === root) return root;
    }
  }

  /** The nearest end of a needle that was not found yet. Shortens the way to this end for later calls. */
  #endOf(node: number): number {
    let end = this.#ends[node]!;
    while (end !== root && this.#ends[end] !== end) end = this.#ends[end]!;
    for (let on = node; on !== root && this.#ends[on] !== end && on !== end; ) {
      const after = this.#ends[on]!;
      this.#ends[on] = end;
      on = after;
    }
    return end;
  }

  /** The place of a step in the table: its own, or a free one. */
  #placeOf(node: number, byte: number): number {
    const mask = this.#froms.length - 1;
    let place = Math.imul(Math.imul(node, nodeFactor) ^ byte, placeFactor) >>> this.#shift;
    while (this.#targets[place] !== noStep && (this.#froms[place] !== node || this.#bytes[place] !== byte))
      place = (place + 1) & mask;
    return place;
  }
}

/** Spread neighbouring nodes and bytes over the table. */
const nodeFactor = randomFactor();
const placeFactor = randomFactor();
