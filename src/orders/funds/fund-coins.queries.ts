import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
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
  const { rows } = await client.query<{ outpoint: string; is_mined: boolean }>(
    `SELECT spent.outpoint, bool_or(spent.is_mined) AS is_mined
       FROM (SELECT input->>'outpoint' AS outpoint, ${hasMinedOutput('b.txid')} AS is_mined
               FROM service.bump_inputs AS c JOIN service.bumps AS b ON b.txid = c.bump,
                    jsonb_array_elements(b.plan->'inputs') AS i (input)
              WHERE c.txid = ANY($1)
             UNION ALL
             SELECT input->>'outpoint', t.height IS NOT NULL OR ${hasMinedOutput('t.txid')}
               FROM service.order_transactions AS t, jsonb_array_elements(t.plan->'inputs') AS i (input)
              WHERE t.kind = 'return' AND t.superseded_at IS NULL) AS spent
      WHERE spent.outpoint = ANY($2) GROUP BY spent.outpoint`,
    [coins.map(({ txid }) => Buffer.from(txid)), coins.map(outpointOf)],
  );
  return new Map(rows.map(({ outpoint, is_mined: isMined }) => [outpoint, isMined ? 'mined' : 'stored']));
}
