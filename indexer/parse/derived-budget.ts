/**
 * Maximum total of decoded bytes of a block's encoded bodies, metadata and properties: sixteen times the size of a
 * block. Without it, a block full of bombs, each below its own limits, would become gigabytes. Honest blocks decode to
 * less than their own size. The excess is not derived, in block order, so that every instance leaves out the same.
 */
export const derivedBytesMax = 64_000_000;

/**
 * Maximum bytes decoded in vain from bodies and properties: a few seconds for a block made of bombs. A failure counts
 * as its possible cost, and an output without room in a budget as its size. Enough for every inscription of a full
 * block to name a wrong encoding.
 */
export const wastedBytesMax = 2_000_000_000;
/**
 * Maximum bytes of decoded CBOR from which the distinct properties of a block are read: sixteen times the size of a
 * block. A block full of them at ord's 30 to 1 would be 120 MB, and reading costs far more than decoding. Inscriptions
 * beyond it have no properties, in block order.
 */
export const propertiesBytesMax = 64_000_000;
/** The smallest brotli window used (./content-decoding.ts), and so the least work before a limit is noticed. */
const failureBytesMin = 1 << 18;

export class DerivedBudget {
  #left = derivedBytesMax;
  #wasteLeft = wastedBytesMax;
  #propertiesLeft = propertiesBytesMax;

  reset(): void {
    this.#left = derivedBytesMax;
    this.#wasteLeft = wastedBytesMax;
    this.#propertiesLeft = propertiesBytesMax;
  }

  /** Takes `size` bytes from the rest. Returns false and takes nothing if less is left. */
  take(size: number): boolean {
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }

  /** Takes `size` bytes of CBOR from the budget of properties, as `take` does. */
  takeProperties(size: number): boolean {
    if (size > this.#propertiesLeft) return false;
    this.#propertiesLeft -= size;
    return true;
  }

  get mayWaste(): boolean {
    return this.#wasteLeft > 0;
  }

  /** Counts a decoding that failed or exceeded a budget, with an output of at most `size` bytes. */
  waste(size: number): void {
    this.#wasteLeft -= Math.max(size, failureBytesMin);
  }
}
