import type pg from 'pg';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { type WalletCoin, walletCoins } from './wallet-coins.queries.ts';

/** Picks the coins that are proven to hold nothing but sats: no inscriptions, no runes. */
export type ProveFree = (coins: readonly WalletCoin[]) => Promise<readonly WalletCoin[]>;

/** Whether neither a block nor the mempool spends a coin: a seed may be in other wallets, too. */
export type IsUnspent = (coin: OwnedOutput) => Promise<boolean>;

/** The number of coins that are read first, the largest: each pays for many transactions. */
const readFirst = 200;

/**
 * Coins of the wallet that the service may spend for its own costs, the largest first: revenue and funds of the
 * operator, in a block, spent by nothing that is stored, and proven to hold nothing but sats. Reads on until it finds
 * one that the node has unspent. Whether those after it are unspent, the caller asks.
 */
export async function freeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
  isUnspent: IsUnspent,
): Promise<OwnedOutput[]> {
  const seen = new Set<string>();
  // each time four times as many: another wallet may have spent thousands, and each reading takes all plans
  for (let limit = readFirst; ; limit *= 4) {
    const coins = await walletCoins(client, limit);
    const others = coins.filter((coin) => !seen.has(outpointOf(coin)));
    for (const coin of others) seen.add(outpointOf(coin));
    const free = ownedOf(await proveFree(others));
    for (const [place, coin] of free.entries()) if (await isUnspent(coin)) return free.slice(place);
    if (coins.length < limit) return [];
  }
}

/** All of these coins, for people. No node is asked who else has spent them. */
export const allFreeCoins = async (
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
): Promise<OwnedOutput[]> => ownedOf(await proveFree(await walletCoins(client, null)));

const ownedOf = (coins: readonly WalletCoin[]): OwnedOutput[] =>
  coins.map(({ txid, vout, value, script, keyIndex }) => ({
    txid,
    vout,
    value: BigInt(value),
    script,
    key: { branch: 1, index: keyIndex },
  }));
