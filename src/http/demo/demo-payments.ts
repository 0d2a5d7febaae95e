/** Payments with coins of a demo, which are worth nothing. */
export interface DemoPayments {
  /**
   * Pays an address from coins of the demo; the next block has it. Returns the txid. Throws `request_invalid` for a
   * wrong address, and where no coins are left.
   */
  pay(address: string, sats: number): Promise<string>;
}
