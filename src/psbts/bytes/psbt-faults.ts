/**
 * Reasons why a PSBT is not a transaction that can be sent: sentences for people that each name an input. Never empty.
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
