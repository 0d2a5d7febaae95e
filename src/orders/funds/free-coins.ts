import type pg from 'pg';
import type { OwnedOutput } from '#orders/bumping/plan-bump.ts';
import { type FoundInCoin, readFreeCoins, setAside, type WalletCoin } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** Proven content of a coin beside sats. `free`: none. `unknown`: nothing is proven. */
export type CoinProof = 'free' | FoundInCoin['found'] | 'unknown';

/** Returns the proof for each of these coins, in their order. */
export type ProveFree = (coins: readonly WalletCoin[]) => Promise<readonly CoinProof[]>;

/** Whether neither a block nor the mempool spends a coin: the seed may also be in other wallets. */
export type IsUnspent = (coin: OwnedOutput) => Promise<boolean>;

/** Coins that are read first, the largest: each pays for many transactions. */
const readFirst = 200;

/**
 * Coins of the wallet that the service may spend for its own costs, the largest first: revenue and funds of the
 * operator that are in a block, that no stored transaction spends, and that are proven to hold nothing but sats. Reads
 * more until the node confirms one as unspent; the caller asks about the later ones. Coins that hold something are set
 * aside. Null: coins of an earlier version are not all listed yet.
 */
export async function freeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
  isUnspent: IsUnspent,
): Promise<OwnedOutput[] | null> {
  if (!(await readCoinsFill(client)).isComplete) return null;
  const seen = new Set<string>();
  // four times as many each time: another wallet may have spent thousands
  for (let limit = readFirst; ; limit *= 4) {
    const coins = await readFreeCoins(client, limit);
    const others = coins.filter((coin) => !seen.has(outpointOf(coin)));
    for (const coin of others) seen.add(outpointOf(coin));
    const free = (await provenFree(client, others, proveFree)).map(ownedOf);
    for (const [place, coin] of free.entries()) if (await isUnspent(coin)) return free.slice(place);
    if (coins.length < limit) return [];
  }
}

/** All free coins, for people. The node is not asked whether other wallets have spent them. */
export async function allFreeCoins(
  client: pg.Pool | pg.ClientBase,
  proveFree: ProveFree,
): Promise<OwnedOutput[]> {
  const coins = await readFreeCoins(client, null);
  return freeAmong(coins, await proveFree(coins)).map(ownedOf);
}

/** Coins among these that are proven to hold nothing but sats. A coin that holds more is set aside. */
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
