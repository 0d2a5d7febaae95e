/**
 * Maximum number of decoded bytes in all encoded bodies, metadata and properties of a block. It is sixteen times the
 * size of a block. Without it, a block full of bombs, each below its own limits, would become gigabytes. Honest blocks
 * decode to less than their own size. What exceeds it is not derived. The order is block order, so that every instance
 * omits the same items.
 */
export const derivedBytesMax = 64_000_000;

/**
 * Maximum number of bytes decoded in vain from bodies and properties: a few seconds for a block made of bombs. A
 * failure costs its largest possible output. An output that no longer fits in a budget costs its size. The maximum is
 * enough even if every inscription of a full block names a wrong encoding.
 */
export const wastedBytesMax = 2_000_000_000;
/**
 * Maximum number of bytes of decoded CBOR from which the distinct properties of a block are read. It is sixteen times
 * the size of a block. A block full of properties at ord's 30 to 1 would be 120 MB, and reading costs far more than
 * decoding. In block order, inscriptions that exceed the maximum have no properties.
 */
export const propertiesBytesMax = 64_000_000;
/**
 * Minimum cost of a failure: the smallest brotli window used (./content-decoding.ts), because no limit is checked
 * before the window is full.
 */
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

  /** Takes `size` bytes from the remaining budget. Returns false and takes nothing if less remains. */
  take(size: number): boolean {
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }

  /** Takes `size` bytes of CBOR from the budget of properties, in the same manner as `take`. */
  takeProperties(size: number): boolean {
    if (size > this.#propertiesLeft) return false;
    this.#propertiesLeft -= size;
    return true;
  }

  get mayWaste(): boolean {
    return this.#wasteLeft > 0;
  }

  /** Records a decoding that failed or exceeded a budget. Its output has at most `size` bytes. */
  waste(size: number): void {
    this.#wasteLeft -= Math.max(size, failureBytesMin);
  }
}
