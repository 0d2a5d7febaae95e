import type { SatRange } from '#kernel/sats/sat-range.ts';

/** `count` sats of an output's ranges, after the first `place` sats. Pure. */
export function rangesFrom(ranges: readonly SatRange[], place: number, count: number): SatRange[] {
  const found: SatRange[] = [];
  let offset = 0;
  for (const { start, end } of ranges) {
    const from = Math.max(start, start + place - offset);
    const to = Math.min(end, start + place + count - offset);
    if (from < to) found.push({ start: from, end: to });
    offset += end - start;
  }
  return found;
}
