import type { Confidence, MoveClass, SaleForm } from './sale-names.ts';

/** Facts about a sale, used in every place that shows a sale (docs/marketplace.md). */
export interface SaleEvidence {
  readonly class: MoveClass;
  readonly form: SaleForm;
  readonly confidence: Confidence;
  /** Sats. */
  readonly price: number;
  readonly grossPayout: number;
  /** Number of inscriptions that share the payout. */
  readonly bundle: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
}

/** Fields that are stored as numbers. */
export interface StoredNames {
  readonly class: number;
  readonly form: number;
  readonly confidence: number;
}

/** A sale, or a row of a sale, with stored numbers in place of names. */
export type AsStored<Sale extends SaleEvidence> = Omit<Sale, keyof StoredNames> & StoredNames;
