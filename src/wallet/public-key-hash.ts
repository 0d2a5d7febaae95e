import { hash160 } from '@scure/btc-signer/utils.js';

/** The P2WPKH script of a compressed public key: OP_0 and the key's hash (BIP 141). */
export const publicKeyHashScript = (publicKey: Uint8Array): Uint8Array =>
  Uint8Array.of(0x00, 0x14, ...hash160(publicKey));
