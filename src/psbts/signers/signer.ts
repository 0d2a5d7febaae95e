import { hash160, taprootTweakPubkey } from '@scure/btc-signer/utils.js';
import type { ScriptType } from '#kernel/bitcoin/script-type.ts';
import { unreachable } from '#kernel/unreachable.ts';

/** Types of addresses for which common wallets can sign. P2SH means P2SH-P2WPKH. */
export type SignerType = Extract<ScriptType, 'p2tr' | 'p2wpkh' | 'p2sh' | 'p2pkh'>;

/** The role of an address in a transaction: it pays, or it holds inscriptions, runes and special sats. */
export type SignerRole = 'payment' | 'ordinals';

/** An address of a customer, with everything that a PSBT needs for the inputs of this address. */
export interface Signer {
  readonly role: SignerRole;
  readonly address: string;
  /** The output script of the address. */
  readonly script: Uint8Array;
  readonly type: SignerType;
  /** Compressed key of 33 bytes. Null if the address is P2TR, and its key was given as 32 bytes. */
  readonly publicKey: Uint8Array | null;
  /** The internal key of P2TR: x-only and not tweaked, as in BIP 371. */
  readonly internalKey: Uint8Array | null;
  /** The redeem script of P2SH, which is a witness program. */
  readonly redeemScript: Uint8Array | null;
}

/** Empty root, because the address has no scripts besides the key (BIP 86). */
const noRoot = new Uint8Array(0);

/** The output script of an x-only key without a script path (BIP 86). Takes a millisecond. */
export const taprootScript = (internalKey: Uint8Array): Uint8Array =>
  Uint8Array.of(0x51, 0x20, ...taprootTweakPubkey(internalKey, noRoot)[0]);

/** The P2WPKH script: OP_0 and the hash of a compressed key (BIP 141). */
const witnessKeyHash = (publicKey: Uint8Array): Uint8Array =>
  Uint8Array.of(0x00, 0x14, ...hash160(publicKey));

/** The output script of a compressed key, and its redeem script if the type needs one. */
export function scriptsOfKey(
  type: Exclude<SignerType, 'p2tr'>,
  publicKey: Uint8Array,
): Pick<Signer, 'script' | 'redeemScript'> {
  switch (type) {
    case 'p2wpkh':
      return { script: witnessKeyHash(publicKey), redeemScript: null };
    case 'p2sh': {
      const redeemScript = witnessKeyHash(publicKey);
      return { script: Uint8Array.of(0xa9, 0x14, ...hash160(redeemScript), 0x87), redeemScript };
    }
    case 'p2pkh':
      return {
        script: Uint8Array.of(0x76, 0xa9, 0x14, ...hash160(publicKey), 0x88, 0xac),
        redeemScript: null,
      };
    default:
      return unreachable(type);
  }
}
