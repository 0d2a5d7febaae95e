/** Sats from `start` to below `end`. */
export interface SatRange {
  readonly start: number;
  readonly end: number;
}

/** How many sats some ranges have. */
export function satsIn(ranges: readonly SatRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}
