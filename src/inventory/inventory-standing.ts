import type { NetworkName } from '#kernel/primitives/network.ts';
import { isFindable } from '#kernel/satributes/definitions.ts';
import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatRange, SatributeRule } from '#kernel/satributes/satribute.ts';
import { type BaseFees, type InventoryType, inventoryTypes, satributeOf } from './inventory-types.ts';

/** What there is of a type, in the public interface's words. */
export interface TypeStanding {
  /** Sats of the type. */
  readonly amount: number;
  /** Price of an inscription on one of them, in sats. */
  readonly baseFee: number;
  /** Outputs that hold some. */
  readonly commonCount: number;
  /** How many can be ordered now: an order takes a whole output, and leaves its rest as others. */
  readonly count: number;
  /** Bytes of the content of one inscription. */
  readonly maxSize: number;
  readonly minSize: number;
}

export type InventoryStanding = Readonly<Record<InventoryType, TypeStanding>>;

/** Bytes of a content: what one reveal within the size of a standard transaction holds. */
export const contentBytes = { least: 1, most: 390_000 } as const;
/** The public interface says that a type is sold out by a size that nothing has. */
const soldOutSize = 100_000_000;
/** Sats of the output of an inscription, by default: each ordered sat takes as many with it. */
const postageDefault = 546;

/** The ranges of sats of an output that can be ordered from. */
export interface StockedOutput {
  readonly ranges: readonly SatRange[];
}

/** What can be ordered of each type. Pure. */
export function standingOf(
  outputs: readonly StockedOutput[],
  fees: BaseFees,
  network: NetworkName,
): InventoryStanding {
  const entries = inventoryTypes.map((type) => {
    const satribute = satributeOf.get(type);
    // of a type whose sats nobody lists there are none
    const rule = satribute !== undefined && isFindable(satribute, network) ? satribute.rule : null;
    return [type, standingOfType(rule === null ? [] : outputs, rule, fees[type])] as const;
  });
  return Object.fromEntries(entries) as Record<InventoryType, TypeStanding>;
}

function standingOfType(
  outputs: readonly StockedOutput[],
  rule: SatributeRule | null,
  baseFee: number,
): TypeStanding {
  let amount = 0;
  let commonCount = 0;
  let count = 0;
  for (const { ranges } of outputs) {
    if (rule === null) break;
    const held = ranges.reduce((sum, range) => sum + countWithin(rule, range), 0);
    if (held === 0) continue;
    amount += held;
    commonCount++;
    if (placeOf(ranges, rule, postageDefault) !== null) count++;
  }
  const minSize = count === 0 ? soldOutSize : contentBytes.least;
  return { amount, baseFee, commonCount, count, maxSize: contentBytes.most, minSize };
}

/** A sat of an output that an order can inscribe. */
export interface OrderablePlace {
  /** Sats of the output before it. */
  readonly place: number;
  readonly sat: number;
}

/**
 * The first sat of a rule that can be taken from an output with a postage: what lies before it, and behind its postage,
 * goes back as outputs, so each is nothing or no dust. Null: there is none. Pure.
 */
export function placeOf(
  ranges: readonly SatRange[],
  rule: SatributeRule,
  postage: number,
): OrderablePlace | null {
  const last = ranges.reduce((sum, { start, end }) => sum + end - start, 0) - postage;
  let offset = 0;
  for (const range of ranges) {
    for (const { start, end } of rangesWithin(rule, range)) {
      const from = offset + start - range.start;
      const to = offset + end - range.start;
      const place = [0, Math.max(from, leastRest), last].find(
        (each) => each >= from && each < to && isRest(each) && isRest(last - each),
      );
      if (place !== undefined) return { place, sat: start + place - from };
    }
    offset += range.end - range.start;
  }
  return null;
}

/** The least that nodes relay to P2TR (Bitcoin Core's GetDustThreshold). */
const leastRest = 330;
const isRest = (sats: number): boolean => sats === 0 || sats >= leastRest;
