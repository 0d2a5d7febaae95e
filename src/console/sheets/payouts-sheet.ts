import type pg from 'pg';
import { actionHref } from '#console/actions/console-actions.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { listPayouts } from '#payouts/payout/payout.store.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery } from './list-pages.ts';

const path = '/console/payouts';

/** Payouts, the newest first. */
export async function payoutsSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const payouts = await listPayouts(pool, place.limit);
  return {
    title: 'Payouts',
    parts: [
      {
        kind: 'actions',
        actions: [
          { words: 'Pay partners', href: actionHref('payouts-send') },
          { words: 'Take out revenue', href: actionHref('payouts-revenue') },
        ],
      },
      {
        kind: 'table',
        label: 'Payouts',
        columns: [
          'Asked (UTC)',
          'Kind',
          'State',
          'Sats',
          'Fee (sats)',
          'Goes to',
          'Transaction',
          'Why it waits',
          'Action',
        ],
        rows: rowsOn(place, payouts).map(({ id, askedAt, kind, state, sats, fee, shares, txid, stuck }) => [
          askedAt,
          kind,
          state,
          sats,
          fee,
          receiversOf(shares),
          txid,
          stuck,
          state === 'asked' && kind !== 'withdrawal'
            ? { words: 'Cancel', href: actionHref('payout-cancel', { id }) }
            : null,
        ]),
        empty: 'No payout was asked for.',
      },
      pagerOf(place, payouts, path, query),
    ],
  };
}

/** One address, or the number of addresses. */
function receiversOf(shares: readonly { readonly address: string }[]): string | null {
  const addresses = [...new Set(shares.map(({ address }) => address))];
  return addresses.length > 1 ? `${addresses.length} addresses` : (addresses[0] ?? null);
}
