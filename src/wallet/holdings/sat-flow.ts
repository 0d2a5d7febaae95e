/** The output and offset that a sat of the inputs goes to. */
export interface SatPlace {
  readonly output: number;
  /** Number of sats of the output before this sat. */
  readonly offset: bigint;
}

/** The outputs that the sats of a transaction go to: first in, first out. */
export class SatFlow {
  /** Number of sats of all outputs up to and including each output. */
  readonly #ends: readonly bigint[];
  /** Sats of all outputs. Sats of the inputs beyond this number are the fee. */
  readonly paid: bigint;

  constructor(outputs: readonly { readonly value: bigint }[]) {
    let paid = 0n;
    this.#ends = outputs.map(({ value }) => (paid += value));
    this.paid = paid;
  }

  /**
   * The output and offset that a sat goes to. `at` is the number of sats of the inputs before it. null: the sat is part
   * of the fee.
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

  /** Number of sats of the outputs before an output. */
  startOf(output: number): bigint {
    return this.#ends[output - 1] ?? 0n;
  }

  /** Outputs that get sats of a range. The range is not empty. */
  outputsIn(start: bigint, end: bigint): number[] {
    return this.#ends.flatMap((outputEnd, output) =>
      this.startOf(output) < outputEnd && this.startOf(output) < end && start < outputEnd ? [output] : [],
    );
  }
}

/** Number of sats of the inputs before each input. */
export function startsOf(inputs: readonly { readonly value: bigint }[]): readonly bigint[] {
  let start = 0n;
  return inputs.map(({ value }) => (start += value) - value);
}
