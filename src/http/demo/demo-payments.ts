/** Payments with coins of a demo, which are worth nothing. */
export interface DemoPayments {
  /** An address for inscriptions of people who have no wallet on regtest. */
  readonly receiver: string;
  /**
   * Pays an address from coins of the demo; the next block has it. Returns the txid. Throws `request_invalid` for a
   * wrong address, and where no coins are left.
   */
  pay(address: string, sats: number): Promise<string>;
}
