import assert from 'node:assert/strict';
import type { Height } from '#kernel/primitives/height.ts';
import { largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';

/** An output at the address of an order. */
export interface Coin {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  /** Sats. */
  readonly value: bigint;
  readonly firstSeen: Date;
}

/** A coin with the height of its block; null: not in a block. */
interface MinedCoin extends Coin {
  readonly height: Height | null;
}

/** The costs of an order, which depend on the number of coins that its delivery spends. Sats. */
export interface CoinCosts {
  /** The quoted amount, which pays for one input. */
  readonly amount: bigint;
  /** Costs beyond the quote, found when the delivery was planned. */
  readonly extraCost: bigint;
  /** Maximum fee of one more input. */
  readonly input: bigint;
  /** Sats that the service's own outputs can give for inputs and `extraCost`. */
  readonly spare: bigint;
  /** Maximum number of inputs of the order's transaction, so that nodes relay it. */
  readonly inputsMax: number;
  /** The order asks for certain sats: even a small coin may have them. */
  readonly wantsSats: boolean;
}

/** Each needs a walk through the chain. A special sat arrives in one output, and fees in one or two others. */
export const lookedUpMax = 20;

/**
 * Least value of a number of coins together: the amount, and the cost of inputs beyond what the service gives. Each
 * coin raises it by `input` at most, and every selected coin holds more than that: so an added coin is never a loss.
 */
const needed = ({ amount, extraCost, input, spare }: CoinCosts, coins: number): bigint =>
  amount + largest(0n, extraCost + BigInt(coins - 1) * input - spare);

/**
 * The coins that pay for an order: as few as possible, the largest first. Null: they do not pay. A coin that costs more
 * than it holds is never selected and stays its owner's, so strangers cannot make a paid order too expensive. If the
 * order wants certain sats: the coins whose sats are looked up, from which `withPlaced` takes those that are needed.
 * Pure.
 *
 * Laws, tested: another coin never turns coins that pay into coins that do not; with `missingSats` more, coins pay;
 * selected coins can be planned.
 */
export function selectCoins<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] | null {
  if (!costs.wantsSats) return fewest(coins.filter(paysForItself(costs)), costs);
  const looked = lookedUp(coins, costs);
  return fewest(looked, costs) === null ? null : looked;
}

/**
 * Selects plain coins alone if they pay, else all coins. If the order wants certain sats, the sats decide among all.
 * Pure.
 */
export const selectPlainFirst = <C extends Coin>(
  coins: readonly C[],
  isPlain: (coin: C) => boolean,
  costs: CoinCosts,
): readonly C[] | null =>
  (costs.wantsSats ? null : selectCoins(coins.filter(isPlain), costs)) ?? selectCoins(coins, costs);

/**
 * Coins in the order of the chain: by block, then by txid and output. A delivery spends them in this order, so the
 * first sat of the earliest coin gets the first inscription, whatever arrives later. Coins without a block are last.
 * Pure.
 */
export const inChainOrder = <C extends MinedCoin>(coins: readonly C[]): readonly C[] =>
  coins.toSorted(byChain);

/**
 * Value of one more coin with which the present coins pay for an order: at least what nodes relay, and more than its
 * input costs. Zero: they pay already. Pure.
 */
export function missingSats(coins: readonly Coin[], costs: CoinCosts): bigint {
  const missing = missingIn(coins, costs, 1);
  assert(missing !== null, 'a delivery spends one coin at least');
  return missing;
}

/**
 * Value of several more coins together, each above the cost of its input (`costs.input`). Null: a delivery cannot spend
 * that many coins. Pure.
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
 * The coins of a delivery: first those that were placed by their sats, then as many others as are needed to pay, the
 * largest first. Pure.
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

/** The cost of a delivery beyond its quote, if these coins were `missing` sats short of its plan. */
export function extraCostOf(coins: readonly Coin[], missing: bigint, costs: CoinCosts): bigint {
  const { amount, input, spare } = costs;
  // a coin that was placed for its sats, and costs more than it holds, is part of what is missing
  const paying = coins.filter(paysForItself(costs));
  return largest(0n, valueOf(paying) + missing - amount - BigInt(paying.length - 1) * input + spare);
}

/** The shortest start of the list, sorted by value, that pays; null: none does. */
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

/** Number of the largest coins that can be selected. */
const mostSelected = ({ inputsMax, wantsSats }: CoinCosts): number =>
  wantsSats ? Math.min(inputsMax, largestLookedUp) : inputsMax;

/**
 * Paying coins among those that are looked up. The other half are the oldest coins, so that dust does not displace
 * them.
 */
const largestLookedUp = lookedUpMax / 2;

/**
 * The coins whose sats are looked up: the largest, which pay, and then the oldest of all others. Strangers see an
 * address when its first payment is sent, so their dust is younger. Further coins are not looked up.
 */
export function lookedUp<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] {
  const paying = coins.filter(paysForItself(costs)).toSorted(byValue).slice(0, largestLookedUp);
  const others = coins.filter((coin) => !paying.includes(coin)).toSorted(byAge);
  const looked = new Set([...paying, ...others.slice(0, lookedUpMax - paying.length)]);
  return coins.filter((coin) => looked.has(coin)).toSorted(byOutpoint);
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** A fixed order, so that the same coins make the same transaction. */
const byOutpoint = (a: Coin, b: Coin): number => compareTexts(a.outpoint, b.outpoint);
const byValue = (a: Coin, b: Coin): number => Number(b.value - a.value) || byOutpoint(a, b);
const byChain = (a: MinedCoin, b: MinedCoin): number =>
  compareHeights(a.height, b.height) || compareOutpoints(a.outpoint, b.outpoint);
const compareHeights = (a: Height | null, b: Height | null): number =>
  a === b ? 0 : a === null || (b !== null && a > b) ? 1 : -1;
/** Compares outputs of one transaction by their numbers: as text, output 10 would come before output 2. */
function compareOutpoints(a: string, b: string): number {
  const [txid = '', vout] = a.split(':');
  const [otherTxid = '', otherVout] = b.split(':');
  return compareTexts(txid, otherTxid) || Number(vout) - Number(otherVout);
}
const byAge = (a: Coin, b: Coin): number => a.firstSeen.getTime() - b.firstSeen.getTime() || byValue(a, b);
