/** An output that an input spends. */
export interface SpentOutput {
  /** Sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface PartialSignature {
  /** Public key of 33 or 65 bytes. */
  readonly publicKey: Uint8Array;
  /** DER signature, followed by a byte with its type. */
  readonly signature: Uint8Array;
}

export interface LeafSignature {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly leafHash: Uint8Array;
  /** Signature of 64 bytes, or of 65 bytes including its type. */
  readonly signature: Uint8Array;
}

export interface TapLeaf {
  readonly controlBlock: Uint8Array;
  readonly script: Uint8Array;
  readonly version: number;
}

/** An input with its fields in the PSBT. Missing lists are empty, and all other missing fields are null. */
export interface PsbtInput {
  /** Internal order. */
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly sequence: number;
  readonly spent: SpentOutput | null;
  readonly partialSignatures: readonly PartialSignature[];
  readonly sighashType: number | null;
  readonly redeemScript: Uint8Array | null;
  readonly witnessScript: Uint8Array | null;
  readonly tapKeySignatures: readonly Uint8Array[];
  readonly tapLeafSignatures: readonly LeafSignature[];
  readonly tapLeaves: readonly TapLeaf[];
  readonly final: FinalScripts | null;
}

/** The final fields that make an input valid. */
export interface FinalScripts {
  readonly scriptSig: Uint8Array;
  readonly witness: readonly Uint8Array[];
}

/** A PSBT of version 0 (BIP 174), without the fields that no finalizer reads. */
export interface Psbt {
  /** The transaction of the PSBT without signatures. */
  readonly unsigned: Uint8Array;
  /** Version of the transaction: four bytes, read as an unsigned number. */
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly SpentOutput[];
}
