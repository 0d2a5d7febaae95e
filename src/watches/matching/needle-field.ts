import { NeedleMatcher } from './needle-matcher.ts';

const noText = new Uint8Array();

/** The needles of all watches for one text of inscriptions, each once. */
export class NeedleField {
  readonly #numbers = new Map<string, number>();
  #matcher: NeedleMatcher | null = null;

  /** Adds a needle, and returns its number. Equal needles have the same number. */
  add(needle: string): number {
    if (this.#matcher !== null) throw new Error('needles are added before the first text');
    const number = this.#numbers.get(needle) ?? this.#numbers.size;
    this.#numbers.set(needle, number);
    return number;
  }

  /** Makes the matcher. No needle can be added from then on. */
  seal(): void {
    this.#matcher = new NeedleMatcher([...this.#numbers.keys()].map((needle) => Buffer.from(needle)));
    this.#numbers.clear();
  }

  /** Number of needles, after `seal`. */
  get size(): number {
    return this.#matcher?.size ?? 0;
  }

  /** Bytes of memory beyond the needles' own bytes. */
  get tableBytes(): number {
    return this.#matcher?.tableBytes ?? 0;
  }

  /** Finds the needles that occur in a text. `has` then answers for this text. */
  match(text: Uint8Array | null, found: (needle: number) => void): void {
    this.#matcher?.match(text ?? noText, found);
  }

  /** Whether the last text has a needle. */
  has(needle: number): boolean {
    return this.#matcher?.has(needle) ?? false;
  }
}
