/**
 * Most bytes that a block's encoded bodies, metadata and properties may become together when they are decoded: sixteen
 * times what a block can hold. Without it, a block full of bombs, each below its own limits, would become gigabytes.
 * Honest blocks derive less than they hold. What goes beyond it is not derived, in the order of the block, so that
 * everybody leaves out the same.
 */
export const derivedBytesMax = 64_000_000;

export class DerivedBudget {
  private left = derivedBytesMax;

  reset(): void {
    this.left = derivedBytesMax;
  }

  /** Takes `size` bytes off what is left; false, and nothing taken, where it is not there. */
  take(size: number): boolean {
    if (size > this.left) return false;
    this.left -= size;
    return true;
  }
}
