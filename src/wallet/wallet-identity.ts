import type { NetworkName } from '#kernel/primitives/network.ts';

/** Data about a wallet in the database. It is not enough to sign. */
export interface WalletIdentity {
  readonly network: NetworkName;
  /** Extended public key of the account, in the form of BIP 32. */
  readonly accountXpub: string;
  /** First four bytes of the hash of the master key, in hex. */
  readonly masterFingerprint: string;
}
