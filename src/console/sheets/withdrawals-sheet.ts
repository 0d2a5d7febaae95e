import type pg from 'pg';
import { actionHref } from '#console/actions/console-actions.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { withdrawalStates } from '#tokenpay/withdrawing/withdrawal.ts';
import { shownRuneOf } from '#tokenpay/withdrawing/withdrawal-answer.ts';
import { listWithdrawals } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery, stateChoices } from './list-pages.ts';

const path = '/console/withdrawals';

/** Withdrawals of shops' accounts, the newest first. */
export async function withdrawalsSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const state = withdrawalStates.find((name) => name === query['state']) ?? null;
  const listed = await listWithdrawals(pool, { account: null, state, limit: place.limit });
  const shown = rowsOn(place, listed);
  const assets = [...new Set(shown.map(({ asset }) => asset))].filter((asset) => asset !== satsAsset);
  const runes = await tokenRunesOf(pool, assets);
  return {
    title: 'Withdrawals',
    parts: [
      stateChoices(path, withdrawalStates, query['state']),
      {
        kind: 'table',
        label: 'Withdrawals',
        columns: ['Asked (UTC)', 'Account', 'State', 'Amount', 'Goes to', 'Transaction', 'Why', 'Action'],
        rows: shown.map((withdrawal) => {
          const { id, createdAt, account, state: now, amount, address, txid, reason } = withdrawal;
          const rune = shownRuneOf(withdrawal, runes);
          return [
            createdAt,
            account,
            now,
            rune === null
              ? `${amount} sats`
              : `${shownAmount(trustedU128(amount), rune.divisibility)} ${rune.name}`,
            address,
            txid === null ? null : displayHash(txid),
            reason,
            now === 'pending' ? { words: 'Cancel', href: actionHref('withdrawal-cancel', { id }) } : null,
          ];
        }),
        empty: 'No withdrawal is in this state.',
      },
      pagerOf(place, listed, path, query),
    ],
  };
}
