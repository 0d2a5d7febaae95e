import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatributeRule } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { type BaseFees, type InventoryType, inventoryTypes } from './inventory-types.ts';
import type { TypeRules } from './type-rules.ts';

/** The stock of a type, with the field names of the public interface. */
export interface TypeStanding {
  /** Number of sats of the type. */
  readonly amount: number;
  /** Price of an inscription on a sat of the type, in sats. */
  readonly baseFee: number;
  /** Number of outputs that contain sats of the type. */
  readonly commonCount: number;
  /**
   * Number of outputs that can be ordered now. An order uses an entire output, and returns the rest of it as new
   * outputs.
   */
  readonly count: number;
  /** Maximum number of bytes of an inscription's content. `minSize` is the minimum. */
  readonly maxSize: number;
  readonly minSize: number;
}

export type InventoryStanding = Readonly<Record<InventoryType, TypeStanding>>;

/** Minimum and maximum number of bytes of a content that fits into one reveal of standard size. */
export const contentBytes = { least: 1, most: 390_000 } as const;
/** The minimum size that marks a type as sold out in the public interface. No content is this large. */
const soldOutSize = 100_000_000;
/**
 * Maximum number of sats of an inscription's output, and also the usual number. The price of the ordered sat includes
 * all other sats of the output.
 */
export const postageMost = 546;

/** The sats of one type in an output. */
export interface HeldType {
  readonly amount: number;
  /** The first sat that an order with the usual postage can have. Null if no sat can be ordered. */
  readonly place: OrderablePlace | null;
}

/** The types of sats that an output contains. */
export type HeldTypes = ReadonlyMap<InventoryType, HeldType>;

/** The contents of an output. Takes milliseconds if the output has a thousand ranges. Pure. */
export function heldTypesOf(ranges: readonly SatRange[], fees: BaseFees, rules: TypeRules): HeldTypes {
  const held = new Map<InventoryType, HeldType>();
  for (const type of inventoryTypes) {
    const rule = rules.of(type);
    if (rule === null) continue;
    const amount = ranges.reduce((sum, range) => sum + countWithin(rule, range), 0);
    if (amount > 0)
      held.set(type, { amount, place: sellablePlace(ranges, type, { postage: postageMost, fees, rules }) });
  }
  return held;
}

/** The stock of each type in these outputs. Pure. */
export function standingOf(outputs: readonly HeldTypes[], fees: BaseFees): InventoryStanding {
  const entries = inventoryTypes.map((type) => {
    const held = outputs.flatMap((output) => output.get(type) ?? []);
    const count = held.filter(({ place }) => place !== null).length;
    const standing: TypeStanding = {
      amount: held.reduce((sum, { amount }) => sum + amount, 0),
      baseFee: fees[type],
      commonCount: held.length,
      count,
      maxSize: contentBytes.most,
      minSize: count === 0 ? soldOutSize : contentBytes.least,
    };
    return [type, standing] as const;
  });
  return Object.fromEntries(entries) as Record<InventoryType, TypeStanding>;
}

/** The same stock, marked as sold out. Pure. */
export function soldOut(standing: InventoryStanding): InventoryStanding {
  const entries = inventoryTypes.map(
    (type) => [type, { ...standing[type], count: 0, minSize: soldOutSize }] as const,
  );
  return Object.fromEntries(entries) as Record<InventoryType, TypeStanding>;
}

export interface SaleTerms {
  readonly postage: number;
  readonly fees: BaseFees;
  readonly rules: TypeRules;
}

/**
 * The first sat of a type that can be sold from an output. The postage of this sat must not contain a sat of a more
 * expensive type. A more expensive type is ignored if it includes all sats of the requested type. Returns null if no
 * sat can be sold. Pure.
 */
export function sellablePlace(
  ranges: readonly SatRange[],
  type: InventoryType,
  { postage, fees, rules }: SaleTerms,
): OrderablePlace | null {
  const rule = rules.of(type);
  if (rule === null) return null;
  const dearer = inventoryTypes.flatMap((other) =>
    fees[other] > fees[type] && !rules.isPartOf(type, other) ? (rules.of(other) ?? []) : [],
  );
  return placeOf(ranges, rule, postage, dearer);
}

/** A sat of an output that an order can inscribe. */
export interface OrderablePlace {
  /** Number of sats in the output before this sat. */
  readonly place: number;
  readonly sat: number;
}

/**
 * The first sat of a rule that can be taken from an output with a postage. The sats before the postage and after it
 * become outputs again, so each of these parts must be empty or above dust. No sat of the postage may have a more
 * expensive rule. Returns null if no sat can be taken. Pure.
 */
export function placeOf(
  ranges: readonly SatRange[],
  rule: SatributeRule,
  postage: number,
  dearer: readonly SatributeRule[],
): OrderablePlace | null {
  const last = ranges.reduce((sum, { start, end }) => sum + end - start, 0) - postage;
  let offset = 0;
  for (const [index, range] of ranges.entries()) {
    for (const { start, end } of rangesWithin(rule, range)) {
      const from = offset + start - range.start;
      const to = offset + end - range.start;
      const place = firstPlace({ from, to, last }, (each) =>
        dearerEnd(ranges, { index, offset, from: each, to: each + postage }, dearer),
      );
      if (place !== null) return { place, sat: start + place - from };
    }
    offset += range.end - range.start;
  }
  return null;
}

/**
 * The first position from `from` to below `to` at which the remaining parts can be outputs, and the postage has no more
 * expensive sat.
 */
function firstPlace(
  { from, to, last }: { readonly from: number; readonly to: number; readonly last: number },
  dearerEndAt: (place: number) => number | null,
): number | null {
  const isFree = (place: number): boolean =>
    place >= from && place < to && isRest(place) && isRest(last - place) && dearerEndAt(place) === null;
  if (isFree(0)) return 0;
  for (let place = Math.max(from, leastRest); place < to && place <= last - leastRest; ) {
    const end = dearerEndAt(place);
    if (end === null) return place;
    // every position before this end has a more expensive sat in its postage
    place = end;
  }
  return isFree(last) ? last : null;
}

interface Postage {
  /** Index of a range at or before `from`. The range begins at `offset` of the output. */
  readonly index: number;
  readonly offset: number;
  readonly from: number;
  readonly to: number;
}

/**
 * End of the more expensive sats that begin in a postage. The end may be after the postage. Returns null if the postage
 * has no more expensive sat.
 */
function dearerEnd(
  ranges: readonly SatRange[],
  { index, offset, from, to }: Postage,
  dearer: readonly SatributeRule[],
): number | null {
  let end: number | null = null;
  let begin = offset;
  for (let at = index; at < ranges.length && begin < to; at++) {
    const range = ranges[at] ?? { start: 0, end: 0 };
    const shift = begin - range.start;
    const start = Math.max(range.start, from - shift);
    if (start < range.end) {
      for (const rule of dearer) {
        for (const found of rangesWithin(rule, { start, end: range.end })) {
          if (found.start + shift >= to) break;
          end = Math.max(end ?? 0, found.end + shift);
        }
      }
    }
    begin += range.end - range.start;
  }
  return end;
}

/** Minimum value of a P2TR output that nodes relay, in sats (Bitcoin Core's GetDustThreshold). */
const leastRest = 330;
const isRest = (sats: number): boolean => sats === 0 || sats >= leastRest;
