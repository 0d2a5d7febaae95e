/** Fields of a transaction that tests read from the node (`getrawtransaction`, `getblock`). */
export interface RpcTransaction {
  readonly txid: string;
  /** Virtual bytes. */
  readonly vsize: number;
  readonly vin: readonly { readonly txid?: string; readonly vout?: number }[];
  readonly vout: readonly {
    readonly n: number;
    /** Bitcoins. */
    readonly value: number;
    readonly scriptPubKey: { readonly hex: string };
  }[];
}
