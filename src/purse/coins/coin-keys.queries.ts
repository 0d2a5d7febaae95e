import type pg from 'pg';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { outpointOf, outpointParts } from '#purse/transactions/outpoint.ts';
import type { CoinKind, HeldCoin } from './coin.ts';

/** A coin of the wallet, spent or not, with its key, its holder and the subject that it comes from. */
export interface CoinKey {
  readonly key: WalletKey;
  readonly held: HeldCoin['held'];
  readonly kind: CoinKind;
  readonly subject: string | null;
}

/** The coins of the wallet among these outputs, by `<txid>:<vout>`. */
export async function coinKeysOf(
  client: pg.Pool | pg.ClientBase,
  outpoints: readonly string[],
): Promise<ReadonlyMap<string, CoinKey>> {
  if (outpoints.length === 0) return new Map();
  const parts = outpoints.map(outpointParts);
  const { rows } = await client.query<{
    txid: Buffer;
    vout: number;
    branch: WalletKey['branch'];
    key_index: number;
    kind: CoinKind;
    held: HeldCoin['held'];
    subject: string | null;
  }>(
    `SELECT c.txid, c.vout, c.branch, c.key_index, c.kind, c.held, c.subject
       FROM unnest($1::bytea[], $2::bigint[]) AS o (txid, vout)
       JOIN service.wallet_coins AS c ON c.txid = o.txid AND c.vout = o.vout`,
    [parts.map(({ txid }) => Buffer.from(txid)), parts.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ txid, vout, branch, key_index: index, ...coin }) => [
      outpointOf({ txid: trustedTxid(txid), vout }),
      { key: { branch, index }, ...coin },
    ]),
  );
}
