import { asHeight } from '#kernel/primitives/height.ts';
import { epochBlocks, epochsMax, firstSatAt, minedAt, periodBlocks } from '#kernel/sats/epoch.ts';
import { blockRarity, cycleBlocks } from '#kernel/sats/rarity.ts';
import { asSat, satSupply } from '#kernel/sats/sat.ts';
import { type SatRange } from '#kernel/sats/sat-range.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { palindromeFrom, palindromesBelow } from './palindromes.ts';
import { countInList, listWithin } from './range-list.ts';
import { type BlockRarity, listOf, type SatributeRule } from './satribute.ts';

/*
 * The sats of a rule within a range. Neither counting nor finding goes through single sats. Counting takes one step for
 * each epoch or listed block. For a list of ranges it takes time logarithmic in the list. Finding takes one step for
 * each result.
 */

const endOfMining = epochsMax * epochBlocks;

/** The number of sats of a rule within a range. Exact. */
export function countWithin(rule: SatributeRule, { start, end }: SatRange): number {
  switch (rule.kind) {
    case 'firsts':
      return blocksWith(rule.rarity, firstBlockFrom(start), firstBlockFrom(end));
    case 'lasts': {
      const [from, to] = [firstBlockFrom(start + 1), firstBlockFrom(end + 1)];
      return sum(rule.before.map((rarity) => blocksWith(rarity, from, to)));
    }
    case 'blocks': {
      // this loop is short, because the longest list has 19 blocks
      let count = 0;
      for (const range of rangesWithin(rule, { start, end })) count += range.end - range.start;
      return count;
    }
    case 'every':
      return Math.ceil((end - rule.remainder) / rule.step) - Math.ceil((start - rule.remainder) / rule.step);
    case 'palindromes':
      return palindromesBelow(end) - palindromesBelow(start);
    case 'ranges':
    case 'provenance':
    case 'unknown':
      return countInList(listOf(rule) ?? [], { start, end });
    default:
      return unreachable(rule);
  }
}

/** The sats of a rule within a range, ascending. Two ranges may touch. */
export function* rangesWithin(rule: SatributeRule, { start, end }: SatRange): Generator<SatRange> {
  switch (rule.kind) {
    case 'firsts':
      yield* points(firstsOf([rule.rarity], start, end), 0);
      return;
    case 'lasts':
      yield* points(firstsOf(rule.before, start + 1, end + 1), -1);
      return;
    case 'blocks':
      for (const [from, to] of rule.heights)
        yield* overlap({ start: firstSatAt(asHeight(from)), end: firstSatAt(asHeight(to + 1)) }, start, end);
      return;
    case 'ranges':
    case 'provenance':
    case 'unknown':
      yield* listWithin(listOf(rule) ?? [], { start, end });
      return;
    case 'every':
      yield* points(everyFrom(rule, start, end), 0);
      return;
    case 'palindromes':
      yield* points(palindromesFrom(start, end), 0);
      return;
    default:
      unreachable(rule);
  }
}

function* points(sats: Iterable<number>, shift: number): Generator<SatRange> {
  for (const sat of sats) yield { start: sat + shift, end: sat + shift + 1 };
}

function* everyFrom(
  { step, remainder }: Extract<SatributeRule, { kind: 'every' }>,
  start: number,
  end: number,
): Generator<number> {
  const first = remainder + Math.ceil((start - remainder) / step) * step;
  for (let sat = first; sat < end; sat += step) yield sat;
}

function* palindromesFrom(start: number, end: number): Generator<number> {
  for (let sat = palindromeFrom(start); sat < end; sat = palindromeFrom(sat + 1)) yield sat;
}

function* overlap(range: SatRange, start: number, end: number): Generator<SatRange> {
  const from = Math.max(range.start, start);
  const to = Math.min(range.end, end);
  if (from < to) yield { start: from, end: to };
}

/** The first sats of blocks that have some rarities. */
function* firstsOf(rarities: readonly BlockRarity[], start: number, end: number): Generator<number> {
  const to = firstBlockFrom(end);
  const step = rarities.map((rarity) => spacing[rarity]).reduce(greatestCommonDivisor);
  const wanted: ReadonlySet<string> = new Set(rarities);
  for (let height = Math.ceil(firstBlockFrom(start) / step) * step; height < to; height += step)
    if (wanted.has(blockRarity(asHeight(height)))) yield firstSatAt(asHeight(height));
}

/** Blocks of a rarity are at multiples of these numbers. At most every 104th multiple has another rarity. */
const spacing: Readonly<Record<BlockRarity, number>> = {
  uncommon: 1,
  rare: periodBlocks,
  epic: epochBlocks,
  legendary: cycleBlocks,
  mythic: endOfMining,
};

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** The first block whose first sat is not below a number, or `endOfMining` if there is no such block. */
function firstBlockFrom(sat: number): number {
  if (sat >= satSupply) return endOfMining;
  const { height, offset } = minedAt(asSat(sat));
  return offset === 0 ? height : height + 1;
}

/** The number of blocks of a rarity, from one height to below another height. */
function blocksWith(rarity: BlockRarity, from: number, to: number): number {
  const multiples = (of: number): number => Math.max(Math.ceil(to / of) - Math.ceil(from / of), 0);
  switch (rarity) {
    case 'uncommon':
      // multiples of both numbers begin a cycle
      return multiples(1) - multiples(periodBlocks) - multiples(epochBlocks) + multiples(cycleBlocks);
    case 'rare':
      return multiples(periodBlocks) - multiples(cycleBlocks);
    case 'epic':
      return multiples(epochBlocks) - multiples(cycleBlocks);
    case 'legendary':
      return multiples(cycleBlocks) - blocksWith('mythic', from, to);
    case 'mythic':
      return from === 0 && to > 0 ? 1 : 0;
    default:
      return unreachable(rarity);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
