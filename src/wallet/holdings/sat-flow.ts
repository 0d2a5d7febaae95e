/** Place that a sat of the inputs goes to. */
export interface SatPlace {
  readonly output: number;
  /** Sats of the output before it. */
  readonly offset: bigint;
}

/** The outputs that the sats of a transaction go to: first in, first out. */
export class SatFlow {
  /** Sats of all outputs up to each one. */
  readonly #ends: readonly bigint[];
  /** Sats of all outputs. The sats after them are the fee. */
  readonly paid: bigint;

  constructor(outputs: readonly { readonly value: bigint }[]) {
    let paid = 0n;
    this.#ends = outputs.map(({ value }) => (paid += value));
    this.paid = paid;
  }

  /** The place of a sat, by the number of sats of the inputs before it. Null: the sat is part of the fee. */
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

  /** Sats before an output. */
  startOf(output: number): bigint {
    return this.#ends[output - 1] ?? 0n;
  }

  /** Outputs with sats of a range. The range is not empty. */
  outputsIn(start: bigint, end: bigint): number[] {
    return this.#ends.flatMap((outputEnd, output) =>
      this.startOf(output) < outputEnd && this.startOf(output) < end && start < outputEnd ? [output] : [],
    );
  }
}

/** Sats of the inputs before each one. */
export function startsOf(inputs: readonly { readonly value: bigint }[]): readonly bigint[] {
  let start = 0n;
  return inputs.map(({ value }) => (start += value) - value);
}
