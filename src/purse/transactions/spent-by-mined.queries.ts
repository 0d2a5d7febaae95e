import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { hasInput, isMined, isOfFamily } from './spends.store.ts';

/** Outputs of these transactions that mined transactions of the service spend. */
export async function spentByMined(
  client: pg.Pool | pg.ClientBase,
  txids: readonly Txid[],
): Promise<{ readonly txid: Txid; readonly vout: number }[]> {
  const { rows } = await client.query<{ txid: Buffer; vout: number }>(
    `SELECT DISTINCT s.txid, s.vout
       FROM service.wallet_spends AS s JOIN service.wallet_transactions AS t ON ${isOfFamily('t', 's.family')}
      WHERE s.txid = ANY($1::bytea[]) AND ${isMined('t')} AND ${hasInput('t', 's')}`,
    [txids.map((txid) => Buffer.from(txid))],
  );
  return rows.map(({ txid, vout }) => ({ txid: trustedTxid(txid), vout }));
}
