/**
 * Most bytes that a block's encoded bodies, metadata and properties may become together when they are decoded: sixteen
 * times what a block can hold. Without it, a block full of bombs, each below its own limits, would become gigabytes.
 * Honest blocks derive less than they hold. What goes beyond it is not derived, in the order of the block, so that
 * everybody leaves out the same.
 */
export const derivedBytesMax = 64_000_000;

/**
 * Most bytes that may be decoded of bodies for nothing, each failure counting as what it may have cost, and what finds
 * no room in the budget above as what it became: a few seconds of a block that is made of bombs. Room for every inscription of a full block to name a wrong encoding.
 */
export const wastedBytesMax = 2_000_000_000;
/** The smallest window that brotli is decoded with (./content-decoding.ts), and so the work before a limit is seen. */
const failureBytesMin = 1 << 18;

export class DerivedBudget {
  private left = derivedBytesMax;
  private wasteLeft = wastedBytesMax;

  reset(): void {
    this.left = derivedBytesMax;
    this.wasteLeft = wastedBytesMax;
  }

  /** Takes `size` bytes off what is left; false, and nothing taken, where it is not there. */
  take(size: number): boolean {
    if (size > this.left) return false;
    this.left -= size;
    return true;
  }

  get mayWaste(): boolean {
    return this.wasteLeft > 0;
  }

  /** Counts a decoding that failed or found no room, of which at most `size` bytes came out. */
  waste(size: number): void {
    this.wasteLeft -= Math.max(size, failureBytesMin);
  }
}
