import { withRoom } from '#kernel/growable.ts';

/**
 * Inscriptions on their way from inputs to outputs: each has an offset in sats and a source, a number that says
 * which inscription it is (block-pass.ts, "Sources").
 */
export class Floating {
  count = 0;
  offset = new Float64Array(64);
  source = new Int32Array(64);

  #ascending = true;
  /** Offsets that are taken, once a transaction has more inscriptions than a look along the list is good for. */
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

  /** Whether an inscription of the list stands on the sat at `offset`. */
  stands(offset: number): boolean {
    if (this.count <= lookAlongMax) {
      for (let at = 0; at < this.count; at++) if (this.offset[at] === offset) return true;
      return false;
    }
    this.#offsets ??= new Set(this.offset.subarray(0, this.count));
    return this.#offsets.has(offset);
  }

  /** Sorts by offset; what stands on the same sat keeps its order. */
  sort(): void {
    if (this.#ascending) return;
    const { count, offset, source } = this;
    const order = Array.from({ length: count }, (_, at) => at);
    // stable by the language's own guarantee
    order.sort((a, b) => offset[a]! - offset[b]!);
    this.offset = Float64Array.from(order, (at) => offset[at]!);
    this.source = Int32Array.from(order, (at) => source[at]!);
    this.#ascending = true;
    this.#offsets = null;
  }
}

/** Up to so many the list itself is looked along; a transaction can have 100,000 envelopes. */
const lookAlongMax = 16;
