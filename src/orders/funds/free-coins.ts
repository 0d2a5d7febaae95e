import type pg from 'pg';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { type FoundInCoin, readFreeCoins, setAside, type WalletCoin } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/**
 * Proven contents of a coin in addition to its sats. `free`: the coin contains only sats. `unknown`: nothing is proven.
 */
export type CoinProof = 'free' | FoundInCoin['found'] | 'unknown';

/** Returns the proof for each coin, in the sequence of the coins. */
export type ProveFree = (coins: readonly WalletCoin[]) => Promise<readonly CoinProof[]>;

/** Whether a coin is unspent in blocks and in the mempool. Another wallet with the same seed may have spent it. */
export type IsUnspent = (coin: OwnedOutput) => Promise<boolean>;

/**
 * Number of coins that are read first, largest first. Usually that is enough, because a large coin pays for many
 * transactions.
 */
const readFirst = 200;

/**
 * Coins of the wallet that the service may spend for its own costs, largest first. These are revenue and funds of the
 * operator. The coins are in a block, no stored transaction spends them, and they are proven to contain only sats.
 * Reads more coins until the node confirms one coin as unspent; the caller must ask the node about the later coins.
 * Coins that contain an inscription or runes are set aside. Null if the coins of an earlier version are not all listed
 * yet.
 */
export async function freeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
  isUnspent: IsUnspent,
): Promise<OwnedOutput[] | null> {
  if (!(await readCoinsFill(client)).isComplete) return null;
  const seen = new Set<string>();
  // read four times as many coins each time, because another wallet may have spent thousands of coins
  for (let limit = readFirst; ; limit *= 4) {
    const coins = await readFreeCoins(client, limit);
    const others = coins.filter((coin) => !seen.has(outpointOf(coin)));
    for (const coin of others) seen.add(outpointOf(coin));
    const free = (await provenFree(client, others, proveFree)).map(ownedOf);
    for (const [place, coin] of free.entries()) if (await isUnspent(coin)) return free.slice(place);
    if (coins.length < limit) return [];
  }
}

/** All free coins, to show to people. The node is not asked whether other wallets have spent them. */
export async function allFreeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
): Promise<OwnedOutput[]> {
  const coins = await readFreeCoins(client, null);
  return freeAmong(coins, await proveFree(coins)).map(ownedOf);
}

/**
 * Returns the coins that are proven to contain only sats. Sets aside the coins that contain an inscription or runes.
 */
export async function provenFree(
  client: pg.Pool | pg.ClientBase,
  coins: readonly WalletCoin[],
  proveFree: ProveFree,
): Promise<WalletCoin[]> {
  const proofs = await proveFree(coins);
  await setAside(client, foundIn(coins, proofs));
  return freeAmong(coins, proofs);
}

const foundIn = (coins: readonly WalletCoin[], proofs: readonly CoinProof[]): FoundInCoin[] =>
  coins.flatMap((coin, place) => {
    const found = proofs[place];
    return found === 'inscribed' || found === 'runic' ? [{ coin, found }] : [];
  });

const freeAmong = (coins: readonly WalletCoin[], proofs: readonly CoinProof[]): WalletCoin[] =>
  coins.filter((_, place) => proofs[place] === 'free');

const ownedOf = ({ txid, vout, value, script, keyIndex }: WalletCoin): OwnedOutput => ({
  txid,
  vout,
  value: BigInt(value),
  script,
  key: { branch: 1, index: keyIndex },
});
