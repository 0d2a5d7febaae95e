/**
 * Most bytes that a block's encoded bodies, metadata and properties may become together when they are decoded: sixteen
 * times what a block can hold. Without it, a block full of bombs, each below its own limits, would become gigabytes.
 * Honest blocks derive less than they hold. What goes beyond it is not derived, in the order of the block, so that
 * everybody leaves out the same.
 */
export const derivedBytesMax = 64_000_000;

/**
 * Most bytes that may be decoded of bodies and properties for nothing, each failure counting as what it may have cost, and what finds
 * no room in a budget as what it became: a few seconds of a block that is made of bombs. Room for every inscription of a full block to name a wrong encoding.
 */
export const wastedBytesMax = 2_000_000_000;
/**
 * Most bytes of CBOR, decoded, that the distinct properties of a block may be read from: sixteen times what a block can
 * hold. A block full of them at ord's 30 to 1 would be 120 MB, and reading costs far more than decoding. What goes beyond it has no properties to show, in the order of the block.
 */
export const propertiesBytesMax = 64_000_000;
/** The smallest window that brotli is decoded with (./content-decoding.ts), and so the work before a limit is seen. */
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

  /** Takes `size` bytes off what is left; false, and nothing taken, where it is not there. */
  take(size: number): boolean {
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }

  /** Takes `size` bytes of CBOR off what properties may still be read from, as `take` does. */
  takeProperties(size: number): boolean {
    if (size > this.#propertiesLeft) return false;
    this.#propertiesLeft -= size;
    return true;
  }

  get mayWaste(): boolean {
    return this.#wasteLeft > 0;
  }

  /** Counts a decoding that failed or found no room, of which at most `size` bytes came out. */
  waste(size: number): void {
    this.#wasteLeft -= Math.max(size, failureBytesMin);
  }
}
