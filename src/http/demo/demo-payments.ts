/** Makes payments with the worthless coins of a demo. */
export interface DemoPayments {
  /** An address for inscriptions of people who have no regtest wallet. */
  readonly receiver: string;
  /**
   * Pays an address with coins of the demo. The next block contains the payment. Returns the txid. Throws
   * `request_invalid` if the address is wrong, or if no coins are left.
   */
  pay(address: string, sats: number): Promise<string>;
}
