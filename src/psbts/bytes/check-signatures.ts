import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { isDefinedSighash, SignatureHashes, sighash } from '#kernel/bitcoin/signature-hashes.ts';
import type { Psbt, TapLeaf } from './psbt.ts';
import { isCommitted } from './tap-leaf.ts';

/**
 * Result of a check. `unknown`: the data that the signature commits to is incomplete, or the maximum number of checks
 * was reached.
 */
export type Verdict = 'right' | 'wrong' | 'unknown';

/** The result of a signature check, and the signature's type. */
export interface Judged {
  readonly verdict: Verdict;
  readonly type: number;
}

/**
 * Maximum number of checks per transaction. Each check is an elliptic curve operation and takes two milliseconds. A
 * payment of an order has at most a hundred signatures. 1 MB has room for so many signatures that a client could keep a
 * processor busy for half a minute. Nodes check all signatures later.
 */
const checkedMax = 500;

/** The data with which an ECDSA signature, used before Taproot, commits to its input. */
export interface EcdsaCommitment {
  readonly scheme: 'legacy' | 'witness';
  /** The script that the input executes. */
  readonly code: Uint8Array;
  /** Value of the spent output in sats. */
  readonly value: bigint;
}

const wrong = (type: number): Judged => ({ verdict: 'wrong', type });

/** Checks signatures of one transaction. */
export class SignatureChecks {
  readonly #hashes: SignatureHashes;
  readonly #outputs: number;
  #checked = 0;

  constructor(psbt: Psbt) {
    this.#hashes = new SignatureHashes(psbt);
    this.#outputs = psbt.outputs.length;
  }

  /** Checks an ECDSA signature in DER, followed by its type (BIP 66). */
  ecdsa(place: number, publicKey: Uint8Array, signature: Uint8Array, spend: EcdsaCommitment): Judged {
    const type = signature.at(-1) ?? 0;
    if (!isDefinedSighash(type)) return wrong(type);
    const { scheme, code, value } = spend;
    return this.#judge(type, () => {
      const hash =
        scheme === 'legacy'
          ? this.#hashes.legacy(place, code, type)
          : this.#hashes.witness(place, code, value, type);
      return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, {
        prehash: false,
        format: 'der',
        // signatures with a high S are valid, although nodes do not relay them
        lowS: false,
      });
    });
  }

  /**
   * Checks a Taproot signature. It has 64 bytes for the type DEFAULT, otherwise 65 bytes, including the type (BIP 341).
   *
   * @param leafHash hash of the executed script, or null for a spend by key
   */
  taproot(place: number, publicKey: Uint8Array, signature: Uint8Array, leafHash: Uint8Array | null): Judged {
    const type = signature.length === 64 ? sighash.default : (signature[64] ?? sighash.default);
    const isShaped = signature.length === 64 || (signature.length === 65 && isDefinedSighash(type));
    // SINGLE without an output at the input's index is never valid (BIP 341)
    const isForNothing = (type & ~sighash.anyoneCanPay) === sighash.single && place >= this.#outputs;
    if (!isShaped || isForNothing) return wrong(type);
    const hash = this.#hashes.taproot(place, type, leafHash);
    if (hash === null) return { verdict: 'unknown', type };
    return this.#judge(type, () => schnorr.verify(signature.subarray(0, 64), hash, publicKey));
  }

  /** Whether an output key commits to a leaf. After the maximum number of checks, the result is always true. */
  isCommitted(leaf: TapLeaf, leafHash: Uint8Array, outputKey: Uint8Array): boolean {
    if (this.#checked === checkedMax) return true;
    this.#checked++;
    return isCommitted(leaf, leafHash, outputKey);
  }

  #judge(type: number, isRight: () => boolean): Judged {
    if (this.#checked === checkedMax) return { verdict: 'unknown', type };
    this.#checked++;
    return { verdict: isRightOrThrows(isRight) ? 'right' : 'wrong', type };
  }
}

/**
 * Runs a check. The library throws for keys that are not points, and for numbers out of range. Such signatures are
 * wrong.
 */
function isRightOrThrows(isRight: () => boolean): boolean {
  try {
    return isRight();
  } catch {
    return false;
  }
}

const namesOfTypes: ReadonlyMap<number, string> = new Map([
  [sighash.default, 'DEFAULT'],
  [sighash.all, 'ALL'],
  [sighash.none, 'NONE'],
  [sighash.single, 'SINGLE'],
]);

/** The name of a signature type, for example `SINGLE|ANYONECANPAY`. */
export function sighashName(type: number): string {
  const name = namesOfTypes.get(type & ~sighash.anyoneCanPay);
  if (name === undefined || type > 0xff) return String(type);
  return (type & sighash.anyoneCanPay) === 0 ? name : `${name}|ANYONECANPAY`;
}
