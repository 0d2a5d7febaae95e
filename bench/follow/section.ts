import type { StageRow } from '#kernel/stages/stage-sums.ts';
import type { Figure, Table } from '../report.ts';

/** A part of the bench that can run alone. */
export interface Section {
  readonly notes: readonly string[];
  /** Figures that the documents name. */
  readonly figures: readonly Figure[];
  readonly details: readonly Figure[];
  readonly tables?: readonly Table[];
  /** All stages, for the JSON line. The table omits the shortest stages. */
  readonly stages?: readonly StageRow[];
}
