import type pg from 'pg';
import { hexOf } from '#orders/ledger/settlements.ts';
import { postEntries } from '#purse/ledger/ledger.store.ts';
import { entriesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';
import { type FundCoin, readFundCoins } from './fund-coins.queries.ts';

/** Entries of the ledger that the funds of the operator ask for: each output in a block, once. Pure. */
export const fundEntries = (coins: readonly FundCoin[]): LedgerEntry[] =>
  entriesOf(
    coins
      .filter(({ height }) => height !== null)
      .map(({ txid, vout, value }) => ({ to: 'operator', txid: hexOf(txid), vout, value })),
    [],
  );

/** Adds what the ledger lacks of the funds, and takes back what a reorganisation took. Twice does nothing more. */
export async function bookFunds(tx: pg.ClientBase): Promise<void> {
  await postEntries(tx, { kind: 'funds' }, fundEntries(await readFundCoins(tx)));
}
