import assert from 'node:assert/strict';
import type { Height } from '#kernel/primitives/height.ts';
import { largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';

/** An output at the address of an order. */
export interface Coin {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  /** Value in sats. */
  readonly value: bigint;
  readonly firstSeen: Date;
}

/** A coin with the height of its block. `height` is null if no block has the coin. */
interface MinedCoin extends Coin {
  readonly height: Height | null;
}

/** The costs of an order, in sats. The total depends on the number of coins that the delivery spends. */
export interface CoinCosts {
  /** The quoted amount. It includes the fee of one input. */
  readonly amount: bigint;
  /** Costs beyond the quote, which were found when the delivery was planned. */
  readonly extraCost: bigint;
  /** Maximum fee of one more input. */
  readonly input: bigint;
  /** Sats that the service's own outputs can contribute to inputs and `extraCost`. */
  readonly spare: bigint;
  /** Maximum number of inputs in the order's transaction. Nodes do not relay a transaction with more inputs. */
  readonly inputsMax: number;
  /** Whether the order asks for certain sats. If so, even a small coin may contain such sats. */
  readonly wantsSats: boolean;
}

/**
 * Maximum number of coins whose sats are looked up, because each lookup walks through the chain. A special sat usually
 * arrives in one output, and the fees arrive in one or two other outputs.
 */
export const lookedUpMax = 20;

/**
 * Minimum total value of this number of coins: the amount, and the cost of inputs beyond the service's contribution.
 * Each coin raises this value by at most `input`. Every selected coin holds more than `input`, so an added coin is
 * never a loss.
 */
const needed = ({ amount, extraCost, input, spare }: CoinCosts, coins: number): bigint =>
  amount + largest(0n, extraCost + BigInt(coins - 1) * input - spare);

/**
 * Selects the coins that pay for an order: as few as possible, the largest first. Returns null if the coins are not
 * enough. A coin that costs more than it holds is never selected and stays with its owner, so strangers cannot make a
 * paid order too expensive. If the order wants certain sats, this returns the coins whose sats are looked up;
 * `withPlaced` then takes the coins that are needed. Pure.
 *
 * Tests check these laws:
 *
 * - if coins pay, they still pay with one more coin
 * - with one more coin of `missingSats`, the coins pay
 * - selected coins can be planned
 */
export function selectCoins<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] | null {
  if (!costs.wantsSats) return fewest(coins.filter(paysForItself(costs)), costs);
  const looked = lookedUp(coins, costs);
  return fewest(looked, costs) === null ? null : looked;
}

/**
 * Selects only from the coins that are plain by `isPlain`, if these coins pay. Otherwise selects from all coins. If the
 * order wants certain sats, it always selects from all coins. Pure.
 */
export const selectPlainFirst = <C extends Coin>(
  coins: readonly C[],
  isPlain: (coin: C) => boolean,
  costs: CoinCosts,
): readonly C[] | null =>
  (costs.wantsSats ? null : selectCoins(coins.filter(isPlain), costs)) ?? selectCoins(coins, costs);

/**
 * Sorts coins by their position in the chain: by block, then by txid and output. Coins without a block are last. A
 * delivery spends coins in this sequence, so the first sat of the earliest coin gets the first inscription. Coins that
 * arrive later do not change this. Pure.
 */
export const inChainOrder = <C extends MinedCoin>(coins: readonly C[]): readonly C[] =>
  coins.toSorted(byChain);

/**
 * Value of one more coin that makes the present coins pay for an order. It is at least the dust limit, and more than
 * the cost of its input. 0 if the present coins already pay. Pure.
 */
export function missingSats(coins: readonly Coin[], costs: CoinCosts): bigint {
  const missing = missingIn(coins, costs, 1);
  assert(missing !== null, 'a delivery spends one coin at least');
  return missing;
}

/**
 * Total value of `count` more coins that make the present coins pay. Each of these coins must hold more than the cost
 * of its input (`costs.input`). Returns null if a delivery cannot spend that many coins. Pure.
 */
export function missingIn(coins: readonly Coin[], costs: CoinCosts, count: number): bigint | null {
  if (selectCoins(coins, costs) !== null) return 0n;
  const most = mostSelected(costs) - count;
  if (most < 0) return null;
  const kept = coins.filter(paysForItself(costs)).toSorted(byValue).slice(0, most);
  const least = BigInt(count) * largest(p2trDust, costs.input + 1n);
  return largest(least, needed(costs, kept.length + count) - valueOf(kept));
}

/**
 * The coins of a delivery. The coins that were chosen for their sats come first. Then come as many other coins as are
 * needed to pay, the largest first. Pure.
 */
export function withPlaced<C extends Coin>(
  placed: readonly C[],
  others: readonly C[],
  costs: CoinCosts,
): readonly C[] {
  const coins = [...placed];
  for (const coin of others.toSorted(byValue)) {
    if (pays(coins, costs)) break;
    coins.push(coin);
  }
  return coins;
}

/** The cost of a delivery beyond its quote, if its plan found that these coins are `missing` sats short. */
export function extraCostOf(coins: readonly Coin[], missing: bigint, costs: CoinCosts): bigint {
  const { amount, input, spare } = costs;
  // a coin that was chosen for its sats, but costs more than it holds, is part of `missing`
  const paying = coins.filter(paysForItself(costs));
  return largest(0n, valueOf(paying) + missing - amount - BigInt(paying.length - 1) * input + spare);
}

/** The fewest coins that pay, the largest first. Returns null if all coins together do not pay. */
function fewest<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] | null {
  const sorted = coins.toSorted(byValue).slice(0, costs.inputsMax);
  let value = 0n;
  for (const [place, coin] of sorted.entries()) {
    value += coin.value;
    if (value >= needed(costs, place + 1)) return sorted.slice(0, place + 1);
  }
  return null;
}

const pays = (coins: readonly Coin[], costs: CoinCosts): boolean =>
  coins.length > 0 && valueOf(coins) >= needed(costs, coins.length);

const paysForItself =
  ({ input }: CoinCosts) =>
  ({ value }: Coin): boolean =>
    value > input;

/** Maximum number of coins that can be selected. */
const mostSelected = ({ inputsMax, wantsSats }: CoinCosts): number =>
  wantsSats ? Math.min(inputsMax, largestLookedUp) : inputsMax;

/**
 * Maximum number of paying coins among the coins that are looked up. The remaining looked-up coins are the oldest
 * coins, so dust cannot displace them.
 */
const largestLookedUp = lookedUpMax / 2;

/**
 * The coins whose sats are looked up. The largest paying coins come first, then the oldest of all other coins.
 * Strangers see an address only after its first payment is sent, so the strangers' dust is younger. Further coins are
 * not looked up.
 */
export function lookedUp<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] {
  const paying = coins.filter(paysForItself(costs)).toSorted(byValue).slice(0, largestLookedUp);
  const others = coins.filter((coin) => !paying.includes(coin)).toSorted(byAge);
  const looked = new Set([...paying, ...others.slice(0, lookedUpMax - paying.length)]);
  return coins.filter((coin) => looked.has(coin)).toSorted(byOutpoint);
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** Sorts coins in a fixed sequence, so that the same coins make the same transaction. */
const byOutpoint = (a: Coin, b: Coin): number => compareTexts(a.outpoint, b.outpoint);
const byValue = (a: Coin, b: Coin): number => Number(b.value - a.value) || byOutpoint(a, b);
const byChain = (a: MinedCoin, b: MinedCoin): number =>
  compareHeights(a.height, b.height) || compareOutpoints(a.outpoint, b.outpoint);
const compareHeights = (a: Height | null, b: Height | null): number =>
  a === b ? 0 : a === null || (b !== null && a > b) ? 1 : -1;
/** Compares outputs of one transaction by their numbers. As texts, output 10 would come before output 2. */
function compareOutpoints(a: string, b: string): number {
  const [txid = '', vout] = a.split(':');
  const [otherTxid = '', otherVout] = b.split(':');
  return compareTexts(txid, otherTxid) || Number(vout) - Number(otherVout);
}
const byAge = (a: Coin, b: Coin): number => a.firstSeen.getTime() - b.firstSeen.getTime() || byValue(a, b);
