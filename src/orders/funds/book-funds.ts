import type pg from 'pg';
import { hexOf } from '#orders/ledger/settlements.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { keepCoins } from '#purse/coins/coins.store.ts';
import { postEntries } from '#purse/ledger/ledger.store.ts';
import { entriesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';
import { readFundKeys } from './fund-addresses.store.ts';
import { type FundCoin, readFundCoins } from './fund-coins.queries.ts';

/** Entries of the ledger that the funds of the operator ask for: each output in a block, once. Pure. */
export const fundEntries = (coins: readonly FundCoin[]): LedgerEntry[] =>
  entriesOf(
    coins
      .filter(({ height }) => height !== null)
      .map(({ txid, vout, value }) => ({ to: 'operator', txid: hexOf(txid), vout, value })),
    [],
  );

/**
 * The coins of the funds: free, from the moment in which a block has them. Pure.
 *
 * @param keys by script, in hex
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
 * Adds what the ledger lacks of the funds, takes back what a reorganisation took, and lists their coins. Twice does
 * nothing more.
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
