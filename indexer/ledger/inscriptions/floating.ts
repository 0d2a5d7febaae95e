import { withRoom } from '#kernel/growable.ts';

/**
 * Inscriptions between the inputs and the outputs of a transaction. Each has an offset in sats and a source, which is
 * the number of the inscription (block-pass.ts, "Sources").
 */
export class Floating {
  count = 0;
  offset = new Float64Array(64);
  source = new Int32Array(64);

  #ascending = true;
  /** Occupied offsets. Used once a transaction has too many inscriptions to search the list. */
  #offsets: Set<number> | null = null;

  clear(): void {
    this.count = 0;
    this.#ascending = true;
    this.#offsets = null;
  }

  push(offset: number, source: number): void {
    const at = this.count;
    if (at === this.offset.length) {
      this.offset = withRoom(this.offset, at + 1);
      this.source = withRoom(this.source, at + 1);
    }
    if (at > 0 && offset < this.offset[at - 1]!) this.#ascending = false;
    this.offset[at] = offset;
    this.source[at] = source;
    this.count = at + 1;
    this.#offsets?.add(offset);
  }

  /** Whether an inscription of the list is on the sat at `offset`. */
  isOccupied(offset: number): boolean {
    if (this.count <= lookAlongMax) {
      for (let at = 0; at < this.count; at++) if (this.offset[at] === offset) return true;
      return false;
    }
    this.#offsets ??= new Set(this.offset.subarray(0, this.count));
    return this.#offsets.has(offset);
  }

  /** Sorts by offset; inscriptions on the same sat keep their order. */
  sort(): void {
    if (this.#ascending) return;
    const { count, offset, source } = this;
    const order = Array.from({ length: count }, (_, at) => at);
    // JavaScript guarantees a stable sort
    order.sort((a, b) => offset[a]! - offset[b]!);
    this.offset = Float64Array.from(order, (at) => offset[at]!);
    this.source = Int32Array.from(order, (at) => source[at]!);
    this.#ascending = true;
    this.#offsets = null;
  }
}

/** Maximum length up to which the list itself is searched. A transaction can have 100,000 envelopes. */
const lookAlongMax = 16;
