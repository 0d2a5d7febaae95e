/** Consecutive sats of an input. */
export interface SatPart {
  /** Index of the input. */
  readonly input: number;
  /** Number of sats of the input before these sats. */
  readonly offset: bigint;
  readonly size: bigint;
}

interface Valued {
  readonly value: bigint;
}

/** The movement of all sats of a transaction. */
export interface SatParts {
  /** The sats that each output gets, in order. */
  readonly outputs: readonly (readonly SatPart[])[];
  /** The sats that no output gets. */
  readonly fee: readonly SatPart[];
}

/** Computes which sats of the inputs each output gets, first in, first out. Pure. Costs O(inputs + outputs). */
export function satParts(inputs: readonly Valued[], outputs: readonly Valued[]): SatParts {
  let [input, offset] = [0, 0n];
  const take = (value: bigint): SatPart[] => {
    const parts: SatPart[] = [];
    for (let left = value; left > 0n && input < inputs.length; ) {
      const there = (inputs[input]?.value ?? 0n) - offset;
      const size = there < left ? there : left;
      if (size > 0n) parts.push({ input, offset, size });
      left -= size;
      offset += size;
      if (size === there) [input, offset] = [input + 1, 0n];
    }
    return parts;
  };
  const all = inputs.reduce((sum, { value }) => sum + value, 0n);
  return { outputs: outputs.map(({ value }) => take(value)), fee: take(all) };
}
