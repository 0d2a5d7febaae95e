/**
 * Reasons why a PSBT cannot become a transaction. Each reason is a sentence for people that names an input. There is at
 * least one reason.
 */
export class PsbtFaults extends Error {
  readonly faults: readonly [string, ...string[]];

  constructor(faults: readonly [string, ...string[]]) {
    super(faults[0]);
    this.faults = faults;
  }
}

/** One fault. */
export const psbtFault = (message: string): PsbtFaults => new PsbtFaults([message]);
