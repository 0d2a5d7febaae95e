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
  /** How many can be ordered now, each with a postage of its own. */
  readonly count: number;
  /** Bytes of the content of one inscription. */
  readonly maxSize: number;
  readonly minSize: number;
}

export type InventoryStanding = Readonly<Record<InventoryType, TypeStanding>>;

/** What one reveal within the size of a standard transaction holds. */
const contentBytesMax = 390_000;
const contentBytesLeast = 1;
/** The public interface says that a type is sold out by a size that nothing has. */
const soldOutSize = 100_000_000;
/** Sats of the output of an inscription, by default: each ordered sat takes as many with it. */
const postage = 546;

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
    count += orderable(ranges, rule);
  }
  const minSize = count === 0 ? soldOutSize : contentBytesLeast;
  return { amount, baseFee, commonCount, count, maxSize: contentBytesMax, minSize };
}

/**
 * How many sats of a rule can be ordered from an output one by one: each begins an output of its own, which takes the
 * sats behind it up to the postage. What is missing of the last one's postage comes from other coins.
 */
function orderable(ranges: readonly SatRange[], rule: SatributeRule): number {
  let count = 0;
  let offset = 0;
  /** Sats before this place are taken. */
  let free = 0;
  for (const range of ranges) {
    for (const { start, end } of rangesWithin(rule, range)) {
      const from = Math.max(offset + start - range.start, free);
      const places = Math.ceil((offset + end - range.start - from) / postage);
      if (places <= 0) continue;
      count += places;
      free = from + places * postage;
    }
    offset += range.end - range.start;
  }
  return count;
}
