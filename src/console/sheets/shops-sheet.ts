import type pg from 'pg';
import { actionHref } from '#console/actions/console-actions.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { listTokenBalances } from '#tokenpay/operator/listed-balances.ts';
import { listTokenOrders } from '#tokenpay/operator/listed-orders.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery } from './list-pages.ts';

const path = '/console/shops';

/** Balances of shops' accounts, and outputs that are set aside until an operator decides about them. */
export async function shopsSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const { balances, runes } = await listTokenBalances(pool, null);
  const { orders } = await listTokenOrders(pool, {
    state: null,
    account: null,
    withAside: true,
    limit: asideOrdersMax,
  });
  const shown = (asset: number, units: bigint): string => {
    const rune = runes.get(asset);
    if (asset === satsAsset) return `${units} sats`;
    return `${shownAmount(trustedU128(units < 0n ? -units : units), rune?.divisibility ?? 0)}`;
  };
  const signed = (asset: number, units: bigint): string => `${units < 0n ? '-' : ''}${shown(asset, units)}`;
  return {
    title: 'Accounts of shops',
    parts: [
      {
        kind: 'table',
        label: 'Balances',
        columns: ['Account', 'Token', 'Balance', 'Reserved by withdrawals', 'Set aside'],
        rows: rowsOn(place, balances).map(({ account, asset, amount, reserved, aside }) => [
          account,
          asset === satsAsset ? 'BTC' : (runes.get(asset)?.name ?? String(asset)),
          asset === satsAsset ? `${amount} sats` : signed(asset, amount),
          shown(asset, reserved),
          shown(asset, aside),
        ]),
        empty: 'No account has a balance.',
      },
      pagerOf(place, balances.slice(0, place.limit), path, query),
      { kind: 'heading', words: 'Set aside' },
      {
        kind: 'table',
        label: 'Outputs that are set aside',
        columns: ['Output', 'Account', 'Sats', 'Found in it', 'Credit the account', 'Send away'],
        rows: orders.flatMap(({ order, credits }) =>
          credits
            .filter(({ aside, decision }) => aside !== null && decision === null)
            .map((credit) => {
              const output = outpointOf(credit);
              return [
                output,
                order.account,
                Number(credit.sats),
                credit.aside,
                { words: 'Credit', href: actionHref('aside-credit', { output }) },
                { words: 'Send away', href: actionHref('aside-return', { output }) },
              ];
            }),
        ),
        empty: 'Nothing waits for a decision.',
      },
    ],
  };
}

/** Maximum number of orders with outputs that are set aside. Such outputs are rare. */
const asideOrdersMax = 500;
