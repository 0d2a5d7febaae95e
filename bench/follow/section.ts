import type { Figure, Table } from '../report.ts';

/** A part of the bench that can run alone. */
export interface Section {
  readonly notes: readonly string[];
  /** Figures under their documented names. */
  readonly figures: readonly Figure[];
  readonly details: readonly Figure[];
  readonly tables?: readonly Table[];
}
