import { parseArgs } from 'node:util';
import { numberOption } from '../options.ts';
import type { Report } from '../report.ts';
import { activityAnswers } from './activity-answers.ts';
import { labelledMarket } from './labelled-market.ts';
import { salesSlowdown } from './sales-slowdown.ts';

/** Measures whether sales are found, and how long it takes to find and to read them. */
export async function salesBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      transactions: { type: 'string', default: '20000' },
      sales: { type: 'string', default: '1000000' },
      blocks: { type: 'string', default: '150' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
    },
  });
  const transactions = numberOption('transactions', values.transactions, 1);
  const sales = numberOption('sales', values.sales, 100);
  const found = labelledMarket(values.seed, transactions);
  const answers = await activityAnswers(sales);
  const blocks = numberOption('blocks', values.blocks, 10);
  const rounds = numberOption('rounds', values.rounds, 1);
  const slowdown = await salesSlowdown(values.seed, blocks, rounds);
  return {
    bench: 'sales',
    notes: [
      `${transactions} generated transactions whose moves are labelled, 2,000 a block, seed ${values.seed}`,
      `${sales} sales of a collection of 10,000 items; pages 0, 100 and 9,999 of 100, both ways, as far as they exist`,
      'the first read of a collection walks over all its sales; later ones know their places',
      'exports of all of them over HTTP, client and service in one process',
      `first sync: ${blocks} blocks of 2,000 transactions, 8.6 % move an inscription, half of these are sales; medians of ${rounds} runs each, with and without sales in turns`,
    ],
    figures: [...found, ...answers, ...slowdown.figures],
    details: slowdown.details,
  };
}
