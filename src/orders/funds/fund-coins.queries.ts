import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { fundsWatcher } from '#orders/watching/watchers.ts';
import { hasMinedOutput, readPayments } from '#payments/payments.queries.ts';

/** An output that came to an address for funds. */
export interface FundCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Null: in no block yet. */
  readonly height: number | null;
  /** `mined`: a block has a bump or a return of ours that spends it. `stored`: one that may still be mined does. */
  readonly spending: 'mined' | 'stored' | null;
}

/** All that is at the addresses for funds or was, the oldest first, without what was replaced or evicted. */
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

/** Bumps and returns that spend these coins, by outpoint; `mined` where a block has one. */
async function spendingOf(
  client: pg.Pool | pg.ClientBase,
  coins: readonly Pick<FundCoin, 'txid' | 'vout'>[],
): Promise<ReadonlyMap<string, 'mined' | 'stored'>> {
  if (coins.length === 0) return new Map();
  const { rows } = await client.query<{ txid: Buffer; vout: number; is_mined: boolean }>(
    `SELECT g.txid, g.vout, bool_or(s.is_mined) AS is_mined
       FROM unnest($1::bytea[], $2::integer[]) AS g (txid, vout)
       JOIN LATERAL (
         SELECT ${hasMinedOutput('i.bump')} AS is_mined FROM service.bump_inputs AS i
          WHERE i.txid = g.txid AND i.vout = g.vout
         UNION ALL
         SELECT t.height IS NOT NULL OR ${hasMinedOutput('t.txid')}
           FROM service.return_costs AS c JOIN service.order_transactions AS t USING (txid)
          WHERE c.coin_txid = g.txid AND c.coin_vout = g.vout AND t.superseded_at IS NULL) AS s ON true
      GROUP BY g.txid, g.vout`,
    [coins.map(({ txid }) => Buffer.from(txid)), coins.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ txid, vout, is_mined: isMined }) => [
      outpointOf({ txid: trustedTxid(txid), vout }),
      isMined ? 'mined' : 'stored',
    ]),
  );
}
