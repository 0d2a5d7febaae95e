import { performance } from 'node:perf_hooks';
import { classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { tradingTransactions } from '#indexer/ledger/sales/find-moves.ts';
import { marketBlock } from '#test/support/sales/classified-block.ts';
import { RandomMarket } from '#test/support/sales/random-market.ts';
import type { Figure } from '../report.ts';
import { median } from '../statistics.ts';

/** Number of sales in a full block of purchases and transfers. */
const perBlock = 2_000;
/** Classes for which rows are stored. */
const sold = ['sale', 'offer'] as const;

interface Counts {
  right: number;
  said: number;
  labelled: number;
}

/**
 * Measures which share of moves with a known class the rules classify correctly, and the time for a block of such
 * moves.
 */
export function labelledMarket(seed: string, transactions: number): Figure[] {
  const market = new RandomMarket(`bench ${seed}`);
  const counts = new Map<string, Counts>(
    sold.map((name) => [name, { right: 0, said: 0, labelled: 0 }] as const),
  );
  const times: number[] = [];
  for (let made = 0; made < transactions; made += perBlock) {
    const part = Array.from({ length: Math.min(perBlock, transactions - made) }, () => market.next());
    const block = marketBlock(part);
    const started = performance.now();
    const classified = new Map(Array.from(tradingTransactions(block), (tx) => [tx.tx, classifyMoves(tx)]));
    times.push(performance.now() - started);
    for (const [place, { labels }] of part.entries()) {
      // index 0 is the coinbase; transactions that were skipped sold nothing
      const moves = classified.get(place + 1);
      for (const [nth, label] of labels.entries()) {
        const said = moves?.[nth]?.class;
        for (const [name, count] of counts) {
          count.said += Number(said === name);
          count.labelled += Number(label.class === name);
          count.right += Number(said === name && label.class === name);
        }
      }
    }
  }
  const worst = (of: (count: Counts) => number): number => Math.min(...Array.from(counts.values(), of));
  return [
    {
      name: 'precision',
      value: worst(({ right, said }) => right / said),
      unit: 'of the worst class',
      target: { least: 0.99 },
    },
    {
      name: 'recall',
      value: worst(({ right, labelled }) => right / labelled),
      unit: 'of the worst class',
      target: { least: 0.95 },
    },
    { name: 'classifyMsPerBlock', value: median(times), unit: 'ms' },
  ];
}
