/** Sats from `start` to below `end`. */
export interface SatRange {
  readonly start: number;
  readonly end: number;
}

/** The number of sats in some ranges. */
export function satsIn(ranges: readonly SatRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}
