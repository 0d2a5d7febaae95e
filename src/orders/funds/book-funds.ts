import type pg from 'pg';
import { hexOf } from '#orders/ledger/settlements.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { keepCoins } from '#purse/coins/coins.store.ts';
import { postEntries } from '#purse/ledger/ledger.store.ts';
import { entriesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';
import { readFundKeys } from './fund-addresses.store.ts';
import { type FundCoin, readFundCoins } from './fund-coins.queries.ts';

/** One entry for each of the coins that is in a block. */
export const fundEntries = (coins: readonly FundCoin[]): LedgerEntry[] =>
  entriesOf(
    coins
      .filter(({ height }) => height !== null)
      .map(({ txid, vout, value }) => ({ to: 'operator', txid: hexOf(txid), vout, value })),
    [],
  );

/**
 * The coins of the operator's funds. A coin is free as soon as it is in a block. Pure.
 *
 * @param keys key indices by script in hex
 */
export const fundCoins = (
  coins: readonly Pick<FundCoin, 'txid' | 'vout' | 'value' | 'script'>[],
  keys: ReadonlyMap<string, number>,
): HeldCoin[] =>
  coins.flatMap(({ txid, vout, value, script }) => {
    const index = keys.get(hexOf(script));
    return index === undefined
      ? []
      : [{ txid, vout, value, key: { branch: 1, index }, held: 'free', why: 'fund' }];
  });

/**
 * Adds missing ledger entries of the funds, reverses entries whose outputs a reorganisation removed, and lists the
 * coins of the funds. Idempotent.
 */
export async function bookFunds(tx: pg.ClientBase): Promise<void> {
  const coins = await readFundCoins(tx);
  await postEntries(tx, { kind: 'funds' }, fundEntries(coins));
  const held = fundCoins(coins, await readFundKeys(tx));
  await keepCoins(
    tx,
    { kind: 'fund' },
    held.map((coin) => ({ ...coin, subject: null })),
  );
}
