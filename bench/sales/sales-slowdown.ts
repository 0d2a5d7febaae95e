import { join } from 'node:path';
import { type DerivedOutcome, runDerived } from '../index/derived-process.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Figure } from '../report.ts';
import { runeChain } from '../runes/rune-chain.ts';
import { median } from '../statistics.ts';

/** Share of sales among the moves of a chain of full blocks. */
const sold = 0.5;

/**
 * Measures the cost of an index of sales in a first sync. The figures are ratios of the medians of runs with and
 * without the index, which take turns.
 */
export async function salesSlowdown(
  seed: string,
  blocks: number,
  rounds: number,
): Promise<{ readonly figures: Figure[]; readonly details: Figure[] }> {
  const { dir } = runeChain({ seed, blocks, share: 0, sold });
  const dataDir = join(benchData, 'sales-database');
  const [off, on]: [DerivedOutcome[], DerivedOutcome[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    off.push(await runDerived({ folder: dir, dataDir, indexRunes: false, indexSales: false }));
    on.push(await runDerived({ folder: dir, dataDir, indexRunes: false, indexSales: true }));
  }
  const medianOf = (of: readonly DerivedOutcome[], value: (outcome: DerivedOutcome) => number): number =>
    median(of.map(value));
  const wall = ({ wallMs }: DerivedOutcome): number => wallMs;
  const cpu = ({ oursMs, postgresMs }: DerivedOutcome): number => oursMs + postgresMs;
  return {
    figures: [
      {
        name: 'firstSyncSlowdown',
        value: medianOf(on, wall) / medianOf(off, wall),
        unit: 'x',
        target: { most: 1.05 },
      },
      { name: 'firstSyncProcessorTime', value: medianOf(on, cpu) / medianOf(off, cpu), unit: 'x' },
    ],
    details: [
      { name: 'first sync without', value: medianOf(off, wall), unit: 'ms' },
      { name: 'first sync with', value: medianOf(on, wall), unit: 'ms' },
      { name: 'sales of its chain', value: on[0]?.sales ?? 0, unit: '' },
    ],
  };
}
