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

/** A coin with the height of its block; null: in none. */
interface MinedCoin extends Coin {
  readonly height: Height | null;
}

/** The costs of an order, by the number of coins that its delivery spends. Sats. */
export interface CoinCosts {
  /** The quoted amount: it pays for one input. */
  readonly amount: bigint;
  /** Costs beyond the quote that showed when the delivery was planned. */
  readonly extraCost: bigint;
  /** The fee of one more input, at the most. */
  readonly input: bigint;
  /** Sats that the service's own outputs can give for inputs and `extraCost`. */
  readonly spare: bigint;
  /** The most inputs of a transaction of the order that nodes relay. */
  readonly inputsMax: number;
  /** The order asks for certain sats: a small coin may be the one that has them. */
  readonly wantsSats: boolean;
}

/** Each is a walk through the chain. A special sat comes in one output, and fees in another one or two. */
export const lookedUpMax = 20;

/**
 * The least value of a number of coins together: the amount, and the cost of inputs beyond what the service gives. It
 * grows by `input` at most with each coin, and every coin that is selected holds more: so more coins never make it too
 * little.
 */
const needed = ({ amount, extraCost, input, spare }: CoinCosts, coins: number): bigint =>
  amount + largest(0n, extraCost + BigInt(coins - 1) * input - spare);

/**
 * The coins that pay for an order: the fewest, the largest first. Null: they do not pay for it. A coin that costs more
 * than it brings is never among them, and is left to its owner, so strangers cannot make a paid order too expensive.
 * Where the order wants certain sats: the coins whose sats are looked up, of which `withPlaced` then takes what is
 * needed. Pure.
 *
 * Laws, tested: another coin never turns coins that pay into coins that do not; `missingSats` more do pay; what is
 * selected can be planned.
 */
export function selectCoins<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] | null {
  if (!costs.wantsSats) return fewest(coins.filter(paysForItself(costs)), costs);
  const looked = lookedUp(coins, costs);
  return fewest(looked, costs) === null ? null : looked;
}

/**
 * The same, of plain coins alone if these pay. Where the order wants certain sats, the sats decide among all. Pure.
 */
export const selectPlainFirst = <C extends Coin>(
  coins: readonly C[],
  isPlain: (coin: C) => boolean,
  costs: CoinCosts,
): readonly C[] | null =>
  (costs.wantsSats ? null : selectCoins(coins.filter(isPlain), costs)) ?? selectCoins(coins, costs);

/**
 * Coins in the order of the chain: by their blocks, in a block by txid and output. A delivery spends them so, and the
 * first sat of what came first gets the first inscription, whatever comes later. Coins in no block are last. Pure.
 */
export const inChainOrder = <C extends MinedCoin>(coins: readonly C[]): readonly C[] =>
  coins.toSorted(byChain);

/**
 * The value of one more coin that pays for an order together with those that are there: at least what nodes relay,
 * and more than its input costs. Zero: they pay already. Pure.
 */
export function missingSats(coins: readonly Coin[], costs: CoinCosts): bigint {
  const missing = missingIn(coins, costs, 1);
  assert(missing !== null, 'a delivery spends one coin at least');
  return missing;
}

/**
 * The same of a number of coins together, each above what its input costs (`costs.input`). Null: a delivery does not spend
 * as many. Pure.
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
 * The coins of a delivery of which the first ones were placed by their sats: with as many others as it takes to pay,
 * the largest first. Pure.
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

/** The cost of a delivery beyond its quote, where these coins were `missing` sats short of its plan. */
export function extraCostOf(coins: readonly Coin[], missing: bigint, costs: CoinCosts): bigint {
  const { amount, input, spare } = costs;
  // what was placed for its sats, and costs more than it brings, is part of what is missing
  const paying = coins.filter(paysForItself(costs));
  return largest(0n, valueOf(paying) + missing - amount - BigInt(paying.length - 1) * input + spare);
}

/** The shortest beginning, the largest first, that pays. Null: none does. */
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

/** How many of the largest coins can be selected. */
const mostSelected = ({ inputsMax, wantsSats }: CoinCosts): number =>
  wantsSats ? Math.min(inputsMax, largestLookedUp) : inputsMax;

/** Coins that pay, of those that are looked up. The others were seen first, so dust does not push them out. */
const largestLookedUp = lookedUpMax / 2;

/**
 * The coins whose sats are looked up: the largest, which pay, and of all others those that were seen first. A stranger
 * sees an address when its first payment is sent, so dust comes after it. Beside more coins, no others of them are.
 */
export function lookedUp<C extends Coin>(coins: readonly C[], costs: CoinCosts): readonly C[] {
  const paying = coins.filter(paysForItself(costs)).toSorted(byValue).slice(0, largestLookedUp);
  const others = coins.filter((coin) => !paying.includes(coin)).toSorted(byAge);
  const looked = new Set([...paying, ...others.slice(0, lookedUpMax - paying.length)]);
  return coins.filter((coin) => looked.has(coin)).toSorted(byOutpoint);
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** One order for the same coins: they make the same transaction. */
const byOutpoint = (a: Coin, b: Coin): number => compareTexts(a.outpoint, b.outpoint);
const byValue = (a: Coin, b: Coin): number => Number(b.value - a.value) || byOutpoint(a, b);
const byChain = (a: MinedCoin, b: MinedCoin): number =>
  compareHeights(a.height, b.height) || compareOutpoints(a.outpoint, b.outpoint);
const compareHeights = (a: Height | null, b: Height | null): number =>
  a === b ? 0 : a === null || (b !== null && a > b) ? 1 : -1;
/** Compares outputs of one transaction by their numbers: the text of output 10 comes before that of output 2. */
function compareOutpoints(a: string, b: string): number {
  const [txid = '', vout] = a.split(':');
  const [otherTxid = '', otherVout] = b.split(':');
  return compareTexts(txid, otherTxid) || Number(vout) - Number(otherVout);
}
const byAge = (a: Coin, b: Coin): number => a.firstSeen.getTime() - b.firstSeen.getTime() || byValue(a, b);
