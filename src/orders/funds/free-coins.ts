import type pg from 'pg';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { type WalletCoin, walletCoins } from './wallet-coins.queries.ts';

/** Picks the coins that are proven to hold nothing but sats: no inscriptions, no runes. */
export type ProveFree = (coins: readonly WalletCoin[]) => Promise<readonly WalletCoin[]>;

/**
 * The coins of the wallet that the service may spend for its own costs, the largest first: revenue and funds of the operator,
 * in a block, spent by nothing that is stored, and proven to hold nothing but sats. The node may know better who has spent them.
 */
export async function freeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
): Promise<OwnedOutput[]> {
  return (await proveFree(await walletCoins(client))).map(({ txid, vout, value, script, keyIndex }) => ({
    txid,
    vout,
    value: BigInt(value),
    script,
    key: { branch: 1, index: keyIndex },
  }));
}
