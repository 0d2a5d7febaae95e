import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { type CoinKey, coinKeysOf } from '#purse/coins/coin-keys.queries.ts';
import { readStoredCoins } from '#purse/coins/shown-coins.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import type { FoundTransaction } from './found-transaction.ts';
import { readOpenPayments } from './open-payments.ts';

/** Coins and transactions of the database, which the chain is compared with. */
export interface KnownMoney {
  /** The coins of the wallet among these outputs, by `<txid>:<vout>`. */
  coinKeysOf(outpoints: readonly string[]): Promise<ReadonlyMap<string, CoinKey>>;
  /**
   * Outputs whose spends in the mempool matter: coins that no stored transaction spends, and inputs of signed payouts,
   * because an unknown replacement may spend these inputs.
   */
  outputsToAsk(): Promise<readonly string[]>;
  /** The transactions among these txids, in display order, that the database has. */
  ownAmong(txids: readonly string[]): Promise<ReadonlySet<string>>;
}

export const knownMoney = (pool: pg.Pool): KnownMoney => ({
  coinKeysOf: (outpoints) => coinKeysOf(pool, outpoints),
  outputsToAsk: async () => {
    const coins = (await readStoredCoins(pool, false)).map(outpointOf);
    const { payouts } = await withTransaction(pool, readOpenPayments);
    return [...new Set([...coins, ...payouts.flatMap(({ spends }) => [...spends])])];
  },
  ownAmong: (txids) => ownAmong(pool, txids),
});

async function ownAmong(
  client: pg.Pool | pg.ClientBase,
  txids: readonly string[],
): Promise<ReadonlySet<string>> {
  const parsed = txids.flatMap((txid) => parseTxid(txid) ?? []);
  return new Set((await ownTransactions(client, parsed)).map(displayHash));
}

/**
 * Leaves out found transactions that the database knows by now, and reads the coins of the others again. Orders may
 * have planned a transaction, or found a payment, since the chain was read.
 */
export async function stillUnknown(
  client: pg.ClientBase,
  found: readonly FoundTransaction[],
): Promise<FoundTransaction[]> {
  const own = await ownAmong(
    client,
    found.map(({ txid }) => txid),
  );
  const unknown = found.filter(({ txid }) => !own.has(txid));
  const outpoints = unknown.flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpoint));
  const coins = await coinKeysOf(client, outpoints);
  return unknown.map((made) => ({
    ...made,
    inputs: made.inputs.map((input) => {
      const coin = coins.get(input.outpoint) ?? null;
      return { ...input, coin, key: coin?.key ?? input.key };
    }),
  }));
}
