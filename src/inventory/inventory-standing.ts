import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatributeRule } from '#kernel/satributes/satribute.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { type BaseFees, type InventoryType, inventoryTypes } from './inventory-types.ts';
import type { TypeRules } from './type-rules.ts';

/** Stock of a type, in the public interface's words. */
export interface TypeStanding {
  /** Sats of the type. */
  readonly amount: number;
  /** Price of an inscription on one of them, in sats. */
  readonly baseFee: number;
  /** Number of outputs that hold some. */
  readonly commonCount: number;
  /** Number that can be ordered now: an order takes a whole output, and leaves its rest as others. */
  readonly count: number;
  /** Bytes of the content of one inscription. */
  readonly maxSize: number;
  readonly minSize: number;
}

export type InventoryStanding = Readonly<Record<InventoryType, TypeStanding>>;

/** Bytes of a content that one reveal within the size of a standard transaction can hold. */
export const contentBytes = { least: 1, most: 390_000 } as const;
/** Size with which the public interface marks a type as sold out: no content has it. */
const soldOutSize = 100_000_000;
/**
 * Most sats of the output of an inscription: each ordered sat takes that many along, for one price. Also the usual
 * number.
 */
export const postageMost = 546;

/** An output's contents of a type of sats. */
export interface HeldType {
  readonly amount: number;
  /** The first sat that an order with the usual postage can have; null: no such sat. */
  readonly place: OrderablePlace | null;
}

/** Types that an output holds, without others. */
export type HeldTypes = ReadonlyMap<InventoryType, HeldType>;

/** Contents of an output: milliseconds of work if it has a thousand ranges. Pure. */
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

/** The orderable sats of each type. Pure. */
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

/** The same if none can be ordered. Pure. */
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
 * The first sat of a type that can be sold from an output: no sat of a type with a higher price goes with it, unless
 * all sats of the requested type are of that too. Null: there is no such sat. Pure.
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
  /** Sats of the output before it. */
  readonly place: number;
  readonly sat: number;
}

/**
 * The first sat of a rule that can be taken from an output with a postage. The parts before it, and after its postage,
 * return as outputs, so each is empty or above dust. No sat of its postage has a dearer rule. Null: there is no such
 * sat. Pure.
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

/** Places from one to below another whose rests can be outputs, and whose postage has no dearer sat. */
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
    // each place up to there has it in its postage, or is on it
    place = end;
  }
  return isFree(last) ? last : null;
}

interface Postage {
  /** A range that begins at `offset` of the output, not after `from`. */
  readonly index: number;
  readonly offset: number;
  readonly from: number;
  readonly to: number;
}

/** End of the dearer sats of a postage, which may be after the postage; null: it has no dearer sat. */
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

/** The least that nodes relay to P2TR (Bitcoin Core's GetDustThreshold). */
const leastRest = 330;
const isRest = (sats: number): boolean => sats === 0 || sats >= leastRest;
