/** Payments with worthless coins of a demo. */
export interface DemoPayments {
  /** An address for inscriptions of people without a wallet on regtest. */
  readonly receiver: string;
  /**
   * Pays an address from coins of the demo; the next block contains the payment. Returns the txid. Throws
   * `request_invalid` for a wrong address, and if no coins are left.
   */
  pay(address: string, sats: number): Promise<string>;
}
