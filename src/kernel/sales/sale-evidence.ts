import type { Confidence, MoveClass, SaleForm } from './sale-names.ts';

/** Facts of a sale wherever one is shown (docs/marketplace.md). */
export interface SaleEvidence {
  readonly class: MoveClass;
  readonly form: SaleForm;
  readonly confidence: Confidence;
  /** Sats. */
  readonly price: number;
  readonly grossPayout: number;
  /** Inscriptions that share the payout. */
  readonly bundle: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
}

/** The fields that are stored as numbers. */
export interface StoredNames {
  readonly class: number;
  readonly form: number;
  readonly confidence: number;
}

/** A sale, or a row of one, with the stored numbers in place of their names. */
export type AsStored<Sale extends SaleEvidence> = Omit<Sale, keyof StoredNames> & StoredNames;
