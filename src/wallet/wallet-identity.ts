import type { NetworkName } from '#kernel/primitives/network.ts';

/** Data of a wallet in the database. Nothing in it can sign. */
export interface WalletIdentity {
  readonly network: NetworkName;
  /** Extended public key of the account, in the form of BIP 32. */
  readonly accountXpub: string;
  /** First four bytes of the hash of the master key, in hex. */
  readonly masterFingerprint: string;
}
