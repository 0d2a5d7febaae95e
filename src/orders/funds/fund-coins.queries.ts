import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { fundsWatcher } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { hasInput, isMined, isOfFamily } from '#purse/transactions/spends.store.ts';

/** An output at an address for funds. */
export interface FundCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** In sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Height of the output's block. Null if the output is not in a block yet. */
  readonly height: number | null;
  /**
   * `mined`: a bump or return of ours that spends this output is in a block. `stored`: a bump or return that spends
   * this output may still be mined. Null if no stored transaction spends it.
   */
  readonly spending: 'mined' | 'stored' | null;
}

/**
 * All outputs that were ever at the addresses for funds, oldest first. Outputs of replaced or evicted transactions are
 * left out.
 */
export async function readFundCoins(client: pg.Pool | pg.ClientBase): Promise<FundCoin[]> {
  const payments = await readPayments(client, fundsWatcher);
  const coins = payments
    .filter(({ goneAt }) => goneAt === null)
    .map(({ txid, vout, value, script, block }) => {
      return { txid, vout, value, script, height: block?.height ?? null };
    });
  const spending = await spendingOf(client, coins);
  return coins.map((coin) => ({ ...coin, spending: spending.get(outpointOf(coin)) ?? null }));
}

/** How our transactions spend these coins, by outpoint. `mined`: a transaction that spends the coin is in a block. */
async function spendingOf(
  client: pg.Pool | pg.ClientBase,
  coins: readonly Pick<FundCoin, 'txid' | 'vout'>[],
): Promise<ReadonlyMap<string, 'mined' | 'stored'>> {
  if (coins.length === 0) return new Map();
  const { rows } = await client.query<{ txid: Buffer; vout: number; is_mined: boolean }>(
    `SELECT g.txid, g.vout, bool_or(${isMined('t')} AND ${hasInput('t', 's')}) AS is_mined
       FROM unnest($1::bytea[], $2::integer[]) AS g (txid, vout)
       JOIN service.wallet_spends AS s USING (txid, vout)
       JOIN service.wallet_transactions AS t ON ${isOfFamily('t', 's.family')}
      GROUP BY g.txid, g.vout
     HAVING bool_or(s.ended_at IS NULL OR ${isMined('t')} AND ${hasInput('t', 's')})`,
    [coins.map(({ txid }) => Buffer.from(txid)), coins.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ txid, vout, is_mined: isMined }) => [
      outpointOf({ txid: trustedTxid(txid), vout }),
      isMined ? 'mined' : 'stored',
    ]),
  );
}
