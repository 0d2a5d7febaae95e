import type pg from 'pg';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { coinHolders, showCoins, sumsOfCoins } from '#orders/operator/operator-coins.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery, stateChoices } from './list-pages.ts';
import { orderHref } from './orders-sheet.ts';

const path = '/console/coins';

/** The coins of the wallet by holder, the largest first. */
export async function coinsSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const held = coinHolders.find((holder) => holder === query['state']) ?? null;
  const { coins, isComplete } = await showCoins(pool, held);
  return {
    title: 'Coins of the wallet',
    parts: [
      stateChoices(path, coinHolders, query['state']),
      ...(isComplete
        ? []
        : [
            {
              kind: 'words',
              words: ['Coins of earlier orders are still being listed: some are missing here.'],
            } as const,
          ]),
      {
        kind: 'table',
        label: 'Sums',
        columns: ['Held', 'Coins', 'Sats'],
        rows: sumsOfCoins(coins).map(({ held: holder, coins: count, sats }) => [holder, count, sats]),
        empty: 'The wallet has no coin.',
      },
      { kind: 'heading', words: 'Coins' },
      {
        kind: 'table',
        label: 'Coins',
        columns: ['Output', 'Sats', 'Held', 'Why', 'Block', 'Key', 'Order'],
        rows: rowsOn(place, coins).map(
          ({ output, sats, held: holder, why, height, branch, index, orderId }) => [
            output,
            sats,
            holder,
            why,
            height,
            `${branch}/${index ?? '-'}`,
            orderId === null ? null : { words: orderId, href: orderHref(orderId) },
          ],
        ),
        empty: 'There is no such coin.',
      },
      pagerOf(place, coins.slice(0, place.limit), path, query),
    ],
  };
}
