import { strict as assert } from 'node:assert';
import { type LedgerBlock, places } from '#indexer/ledger/ledger-block.ts';
import { type SatChanges, satAt } from '#indexer/ledger/sats/apply-sats.ts';
import type { SatBlock } from '#indexer/ledger/sats/sat-block.ts';
import type { Ranges } from '#indexer/ledger/sats/sat-outputs.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { Sat } from '#kernel/sats/sat.ts';

/** The sat of a new inscription. */
export interface InscribedSat {
  readonly key: number;
  readonly sat: Sat;
}

/** Result of the ledger for a block. */
export interface AppliedSats {
  readonly block: SatBlock;
  readonly changes: SatChanges;
  readonly inscribed: readonly InscribedSat[];
}

/** The ranges that a block lost. */
export function lostRangesOf({ pairs, firstLost, lostCount }: SatChanges): Ranges {
  return { pairs, first: firstLost, count: lostCount };
}

export function satBlockOf({ ref, columns, facts }: ParsedBlock): SatBlock {
  assert(facts.flow !== undefined, 'the flow of a block was not read');
  return { height: ref.height, columns, flow: facts.flow, isUnchecked: false };
}

/**
 * The sats of new inscriptions, read from the ranges of the output that each inscription was first in. Unbound
 * inscriptions have no sat.
 */
export function inscribedSats(
  { inscriptions, locations: rows }: LedgerBlock,
  { flow: { txFirstOutput } }: SatBlock,
  { pairs, firstRange, rangeCount, firstLost, lostCount, before }: SatChanges,
): InscribedSat[] {
  const inscribed: InscribedSat[] = [];
  const txCount = txFirstOutput.length - 1;
  const seen = new Set<number>();
  for (let row = 0; row < rows.count; row++) {
    const key = rows.key[row]!;
    if (key < inscriptions.firstKey || seen.has(key)) continue;
    seen.add(key);
    const offset = rows.satOffset[row]!;
    const place = rows.place[row];
    if (place === places.unbound) continue;
    // the coinbase has the last index
    const output = txFirstOutput[rows.step[row]! % txCount]! + rows.vout[row]!;
    const sat =
      place === places.lost
        ? satAt(pairs, firstLost, lostCount, offset - before.lostSats)
        : satAt(pairs, firstRange[output]!, rangeCount[output]!, offset);
    assert(sat !== null, 'an inscription that is bound is on a sat');
    inscribed.push({ key, sat });
  }
  return inscribed;
}
