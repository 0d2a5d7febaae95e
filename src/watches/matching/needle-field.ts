import { NeedleMatcher } from './needle-matcher.ts';

/** The needles of all watches for one text of inscriptions, each once. */
export class NeedleField {
  #numbers: Map<string, number> | null = new Map();
  readonly #needles: Buffer[] = [];
  #matcher: NeedleMatcher | null = null;
  /** The number of the text in which each needle was last found. */
  #foundIn = new Uint32Array();
  #text = 0;

  /** Adds a needle, and returns its number. Equal needles have the same number. */
  add(needle: string): number {
    const numbers = this.#numbers;
    if (numbers === null) throw new Error('needles are added before the first text');
    let number = numbers.get(needle);
    if (number === undefined) {
      number = this.#needles.push(Buffer.from(needle)) - 1;
      numbers.set(needle, number);
    }
    return number;
  }

  /** Makes the matcher. No needle can be added from then on. */
  seal(): void {
    this.#numbers = null;
    this.#foundIn = new Uint32Array(this.#needles.length);
    if (this.#needles.length > 0) this.#matcher = new NeedleMatcher(this.#needles);
    this.#needles.length = 0;
  }

  /** Number of needles, after `seal`. */
  get size(): number {
    return this.#foundIn.length;
  }

  /** Bytes of memory beyond the needles' own bytes. */
  get tableBytes(): number {
    return this.#foundIn.byteLength + (this.#matcher?.tableBytes ?? 0);
  }

  /** Finds the needles that occur in a text. `has` then answers for this text. */
  match(text: Uint8Array | null, found: (needle: number) => void): void {
    // after 2^32 - 1 texts the numbers begin again
    if (this.#text === 0xff_ff_ff_ff) {
      this.#text = 0;
      this.#foundIn.fill(0);
    }
    this.#text++;
    if (text === null || this.#matcher === null) return;
    this.#matcher.match(text, (needle) => {
      this.#foundIn[needle] = this.#text;
      found(needle);
    });
  }

  /** Whether the last text has a needle. */
  has(needle: number): boolean {
    return this.#foundIn[needle] === this.#text;
  }
}
