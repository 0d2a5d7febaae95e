import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { initEccLib, Psbt } from 'bitcoinjs-lib';
import type { CustomerAddress } from './customer-address.ts';

/** Indices of the inputs that an address signs. */
export interface SignedInputs {
  readonly by: CustomerAddress;
  readonly indices: readonly number[];
}

/** One of two independent implementations of PSBTs. PSBTs are in base64, transactions in hex. */
export interface SigningLibrary {
  readonly name: string;
  /** Signs inputs, and does not finalize any. */
  readonly sign: (psbt: string, inputs: readonly SignedInputs[]) => string;
  /** Returns the transaction of a PSBT whose inputs are all signed. */
  readonly finalize: (psbt: string) => string;
}

const scure: SigningLibrary = {
  name: 'btc-signer',
  sign: (psbt, inputs) => {
    const transaction = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
    for (const { by, indices } of inputs)
      for (const index of indices) transaction.signIdx(by.privateKey, index);
    return Buffer.from(transaction.toPSBT()).toString('base64');
  },
  finalize: (psbt) => {
    const transaction = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
    transaction.finalize();
    return transaction.hex;
  },
};

const none = new Uint8Array(0);

/** A key as bitcoinjs-lib expects it. For P2TR inputs it is the tweaked key. */
export function bitcoinjsSigner({ privateKey, type }: CustomerAddress) {
  const secret = type === 'p2tr' ? taprootTweakPrivKey(privateKey, none) : privateKey;
  return {
    publicKey: secp256k1.getPublicKey(secret, true),
    sign: (hash: Uint8Array) => secp256k1.sign(hash, secret, { prehash: false, lowS: true }),
    signSchnorr: (hash: Uint8Array) => schnorr.sign(hash, secret),
  };
}

const bitcoinjs: SigningLibrary = {
  name: 'bitcoinjs-lib',
  sign: (psbt, inputs) => {
    const transaction = Psbt.fromBase64(psbt);
    for (const { by, indices } of inputs)
      for (const index of indices) transaction.signInput(index, bitcoinjsSigner(by));
    return transaction.toBase64();
  },
  finalize: (psbt) => Psbt.fromBase64(psbt).finalizeAllInputs().extractTransaction(true).toHex(),
};

// bitcoinjs-lib contains no arithmetic for the curve
initEccLib({
  isXOnlyPoint: (key) => isPoint(Uint8Array.of(2, ...key)),
  xOnlyPointAddTweak: (key, tweak) => {
    const base = secp256k1.Point.fromBytes(Uint8Array.of(2, ...key));
    const scalar = BigInt(`0x${Buffer.from(tweak).toString('hex')}`);
    const sum = base.add(secp256k1.Point.BASE.multiply(scalar));
    if (sum.equals(secp256k1.Point.ZERO)) return null;
    const bytes = sum.toBytes(true);
    return { parity: bytes[0] === 3 ? 1 : 0, xOnlyPubkey: bytes.slice(1) };
  },
});

function isPoint(bytes: Uint8Array): boolean {
  try {
    secp256k1.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Both libraries. */
export const signingLibraries: readonly SigningLibrary[] = [scure, bitcoinjs];
