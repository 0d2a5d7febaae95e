/** An output, or the output that an input spends. Its script is latin-1, which is quick to compare. */
export interface Coin {
  readonly script: string;
  /** Value in sats. */
  readonly value: number;
}

/** A signature as the rules need it (indexer/facts/signatures.ts). */
export interface SignedAs {
  readonly kind: 'ecdsa' | 'schnorr';
  readonly sighash: number;
}

export interface MovingInput extends Coin {
  /** All items that look like a signature, whatever their kind. */
  readonly signatures: readonly SignedAs[];
}

/** An inscription in an output that the transaction spends. */
export interface Move {
  readonly key: number;
  /** Index of the input in the transaction. */
  readonly input: number;
  /** Position among the inscriptions of the input, sorted by key. */
  readonly place: number;
  /** Index of the output where it lands by ordinal rules. Null: it goes into the fee. */
  readonly landing: number | null;
}

/** A transaction that spends outputs with inscriptions. */
export interface MovingTransaction {
  readonly inputs: readonly MovingInput[];
  readonly outputs: readonly Coin[];
  /** Ascending by input and position. */
  readonly moves: readonly Move[];
}
