import type { MovingInput, SignedAs } from './moving-transaction.ts';

/** A P2TR script begins with OP_1 and the push of 32 bytes. */
const taprootPrefix = '\x51\x20';
const taprootLength = 34;
export const outputMask = 0x1f;
export const none = 0x02;
const single = 0x03;
const anyoneCanPay = 0x80;

/** Signatures of a kind that fits the spent script. All others only look like signatures. */
export function signaturesOf({ script, signatures }: MovingInput): readonly SignedAs[] {
  const fitting = kindOf(script);
  return signatures.filter(({ kind }) => kind === fitting);
}

/** The signature that binds the output of the input's own index (BIP 143, BIP 341). */
export function pairSignature({ script, signatures }: MovingInput): SignedAs | undefined {
  const fitting = kindOf(script);
  return signatures.find(({ kind, sighash }) => kind === fitting && (sighash & outputMask) === single);
}

/**
 * The signature that binds all outputs and lets others add the coins that pay: ALL|ANYONECANPAY. Undefined types are
 * treated as ALL (BIP 143).
 */
export function listingSignature({ script, signatures }: MovingInput): SignedAs | undefined {
  const fitting = kindOf(script);
  return signatures.find(({ kind, sighash }) => {
    const outputs = sighash & outputMask;
    return kind === fitting && (sighash & anyoneCanPay) !== 0 && outputs !== none && outputs !== single;
  });
}

function kindOf(script: string): SignedAs['kind'] {
  return script.length === taprootLength && script.startsWith(taprootPrefix) ? 'schnorr' : 'ecdsa';
}
