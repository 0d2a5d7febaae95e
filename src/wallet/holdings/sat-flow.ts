/** The output that receives a sat of the inputs, and the sat's offset in this output. */
export interface SatPlace {
  readonly output: number;
  /** Number of sats of the output before this sat. */
  readonly offset: bigint;
}

/** Computes which outputs receive the sats of a transaction, first in, first out. */
export class SatFlow {
  /** For each output, the number of sats in all outputs up to and including this output. */
  readonly #ends: readonly bigint[];
  /** Sum of all outputs in sats. Input sats after this number are the fee. */
  readonly paid: bigint;

  constructor(outputs: readonly { readonly value: bigint }[]) {
    let paid = 0n;
    this.#ends = outputs.map(({ value }) => (paid += value));
    this.paid = paid;
  }

  /**
   * The output that receives a sat, and the sat's offset. `at` is the number of input sats before the sat. Returns null
   * if the sat is part of the fee.
   */
  placeOf(at: bigint): SatPlace | null {
    if (at >= this.paid) return null;
    let [low, high] = [0, this.#ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] ?? 0n) > at) high = middle;
      else low = middle + 1;
    }
    return { output: low, offset: at - this.startOf(low) };
  }

  /** Number of sats in all outputs before an output. */
  startOf(output: number): bigint {
    return this.#ends[output - 1] ?? 0n;
  }

  /** Outputs that receive sats of a range. The range must not be empty. */
  outputsIn(start: bigint, end: bigint): number[] {
    return this.#ends.flatMap((outputEnd, output) =>
      this.startOf(output) < outputEnd && this.startOf(output) < end && start < outputEnd ? [output] : [],
    );
  }
}

/** For each input, the number of sats in all inputs before it. */
export function startsOf(inputs: readonly { readonly value: bigint }[]): readonly bigint[] {
  let start = 0n;
  return inputs.map(({ value }) => (start += value) - value);
}
