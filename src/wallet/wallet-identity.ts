import type { NetworkName } from '#kernel/primitives/network.ts';

/** What the database knows of a wallet: nothing that could sign. */
export interface WalletIdentity {
  readonly network: NetworkName;
  /** Of the account, as BIP 32 writes it. */
  readonly accountXpub: string;
  /** Of the master key: the first four bytes of its hash, in hex. */
  readonly masterFingerprint: string;
}
