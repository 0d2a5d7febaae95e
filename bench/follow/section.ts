import type { Figure } from '../report.ts';

/** A part of the bench that can be run alone. */
export interface Section {
  readonly notes: readonly string[];
  /** Under their documented names. */
  readonly figures: readonly Figure[];
  readonly details: readonly Figure[];
}
