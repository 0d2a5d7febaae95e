import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * Who may spend a coin:
 *
 * - `free`: the service, for its own costs.
 * - `reserved`: only the coin's subject.
 * - `waiting`: the service, as soon as the subject is delivered.
 * - `accounts`: withdrawals of accounts, because the contents of the coin belong to accounts.
 */
type Held = 'free' | 'reserved' | 'waiting' | 'accounts';

/**
 * The rule that decides who holds a coin (docs/wallet.md, "Coins"):
 *
 * - `payment` and `deposit`: a customer sent the coin.
 * - `commit`: a reveal spends the coin.
 * - `excess`: the coin contains a customer's money.
 * - `rest`: the coin is change of a return, a bump, a payout or a batch of withdrawals.
 * - `spending`: a stored transaction of the coin's order spends it.
 * - `delivery`: the coin is revenue of an order that is not delivered yet.
 * - `revenue`: the coin is revenue of a delivered order.
 * - `fund`: the operator added the coin.
 * - `credit`: accounts were credited with the coin's contents.
 */
type HeldBecause =
  | 'payment'
  | 'deposit'
  | 'commit'
  | 'excess'
  | 'rest'
  | 'spending'
  | 'delivery'
  | 'revenue'
  | 'fund'
  | 'credit';

/**
 * Type of the subject that a coin comes from: an order, a bump, a fund of the operator, a payout, or an order of a
 * shop.
 */
export type CoinKind = 'order' | 'bump' | 'fund' | 'payout' | 'token-order';

/** An output that the wallet can spend, with its holder. */
export interface HeldCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Value in sats. */
  readonly value: bigint;
  readonly key: { readonly branch: number; readonly index: number };
  readonly held: Held;
  readonly why: HeldBecause;
}

/** A coin and the subject that it comes from. */
export interface OwnedCoin extends HeldCoin {
  readonly kind: CoinKind;
  /** The id of the order, of the payout, or of the shop's order. Null if the coin comes from a bump or is a fund. */
  readonly subject: string | null;
}
