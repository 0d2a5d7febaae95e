import type pg from 'pg';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { keepCoins } from '#purse/coins/coins.store.ts';
import { readBumpCoins } from './bump-coins.queries.ts';
import { bumpCoins } from './order-coins.ts';

/** Stores these coins as the coins of these orders. */
export async function keepOrderCoins(
  tx: pg.ClientBase,
  orders: readonly { readonly id: string; readonly coins: readonly HeldCoin[] }[],
): Promise<void> {
  const coins = orders.flatMap(({ id, coins: of }) => of.map((coin) => ({ ...coin, subject: id })));
  await keepCoins(tx, { kind: 'order', subjects: orders.map(({ id }) => id) }, coins);
}

/** Stores the coins that remain from the bumps whose fees these orders share. */
export async function keepBumpCoins(tx: pg.ClientBase, orderIds: readonly string[]): Promise<void> {
  const bumps = await readBumpCoins(tx, orderIds);
  if (bumps.length === 0) return;
  const coins = bumps.flatMap(bumpCoins).map((coin) => ({ ...coin, subject: null }));
  await keepCoins(tx, { kind: 'bump', txids: bumps.map(({ txid }) => txid) }, coins);
}
