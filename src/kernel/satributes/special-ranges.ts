import type { SatRange } from '#kernel/sats/sat-range.ts';
import { countWithin, rangesWithin } from './rule-ranges.ts';
import type { Satribute } from './satribute.ts';

/** Consecutive sats with the same satributes. Neighbouring sats in the same given range have other satributes. */
export interface SpecialRange extends SatRange {
  /** Number of sats of the given ranges that are before this range. This number is the range's offset in the output. */
  readonly offset: number;
  /** Ids of the satributes, in the order of the given satributes. */
  readonly satributes: readonly string[];
}

export interface SpecialSats {
  /** The special ranges, in the order of the given ranges. */
  readonly ranges: readonly SpecialRange[];
  /** True if all special ranges are included. `false` if only the first ranges are included, up to the limit. */
  readonly isComplete: boolean;
  /**
   * Exact number of sats of each satribute, by id, even if not all ranges are included. Satributes without sats are
   * absent.
   */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Finds the sats with satributes within ranges. The time depends on the results, up to `limit` special ranges, and not
 * on the number of sats.
 */
export function specialSats(
  ranges: readonly SatRange[],
  satributes: readonly Satribute[],
  limit: number,
): SpecialSats {
  const counts = new Map<string, number>();
  const found: SpecialRange[] = [];
  let isComplete = true;
  let offset = 0;
  for (const range of ranges) {
    for (const { id, rule } of satributes) {
      const count = countWithin(rule, range);
      if (count > 0) counts.set(id, (counts.get(id) ?? 0) + count);
    }
    if (isComplete) {
      const part = specialWithin(range, satributes, limit - found.length);
      for (const special of part.ranges)
        found.push({ ...special, offset: offset + special.start - range.start });
      isComplete = part.isComplete;
    }
    offset += range.end - range.start;
  }
  return { ranges: found, isComplete, counts };
}

interface Part {
  readonly ranges: readonly Omit<SpecialRange, 'offset'>[];
  readonly isComplete: boolean;
}

/** The first special ranges within one range. */
function specialWithin(range: SatRange, satributes: readonly Satribute[], limit: number): Part {
  // a special range ends where a range of a rule begins or ends, so the first `limit` special ranges need at most as
  // many ranges of each rule
  const rules = satributes.map((satribute) => new FirstRanges(satribute, range, limit + 1));
  const known = Math.min(...rules.map(({ completeTo }) => completeTo), range.end);
  const found: { start: number; end: number; satributes: readonly string[] }[] = [];
  for (const [start, end] of between(edgesOf(rules, range.start, known))) {
    const ids = rules.flatMap((rule) => (rule.has(start) ? [rule.id] : []));
    if (ids.length === 0) continue;
    const before = found.at(-1);
    if (before?.end === start && before.satributes.join() === ids.join()) before.end = end;
    else if (found.length === limit) return { ranges: found, isComplete: false };
    else found.push({ start, end, satributes: ids });
  }
  return { ranges: found, isComplete: known === range.end };
}

/** The first ranges of a satribute within a range. */
class FirstRanges {
  readonly id: string;
  readonly ranges: readonly SatRange[];
  /** The ranges are complete up to this sat. */
  readonly completeTo: number;
  #place = 0;

  constructor({ id, rule }: Satribute, within: SatRange, limit: number) {
    this.id = id;
    const ranges: SatRange[] = [];
    let completeTo = within.end;
    for (const range of rangesWithin(rule, within)) {
      if (ranges.length === limit) {
        completeTo = range.start;
        break;
      }
      ranges.push(range);
    }
    this.ranges = ranges;
    this.completeTo = completeTo;
  }

  /** Whether a sat is in these ranges. Call this for sats in ascending order. */
  has(sat: number): boolean {
    while ((this.ranges[this.#place]?.end ?? Number.POSITIVE_INFINITY) <= sat) this.#place++;
    return (this.ranges[this.#place]?.start ?? Number.POSITIVE_INFINITY) <= sat;
  }
}

/** The sats at which ranges begin or end, from one sat to another sat, ascending. Both sats are included. */
function edgesOf(rules: readonly FirstRanges[], first: number, last: number): number[] {
  const edges = new Set<number>([first, last]);
  for (const { ranges } of rules) {
    for (const { start, end } of ranges) {
      if (start < last) edges.add(start);
      if (end < last) edges.add(end);
    }
  }
  return [...edges].sort((a, b) => a - b);
}

function* between(edges: readonly number[]): Generator<readonly [number, number]> {
  for (let edge = 1; edge < edges.length; edge++) yield [edges[edge - 1] ?? 0, edges[edge] ?? 0];
}
