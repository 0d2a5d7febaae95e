import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * Who may spend a coin. `free`: the service, for its own costs. `reserved`: only the coin's subject. `waiting`: the
 * service, once the subject is delivered. `accounts`: withdrawals of accounts, because accounts own its contents.
 */
type Held = 'free' | 'reserved' | 'waiting' | 'accounts';

/**
 * The rule that decides who holds a coin (docs/wallet.md, "Coins"). `payment`, `deposit`: a customer sent it. `commit`:
 * a reveal spends it. `excess`: a customer's money is in it. `rest`: it is change of a return, a bump, a payout or a
 * batch of withdrawals. `spending`: a stored transaction of its order spends it. `delivery`: it is revenue of an order
 * that is not delivered yet. `revenue`: it is revenue of a delivered order. `fund`: the operator added it. `credit`:
 * accounts were credited with its contents.
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

/** Type of the subject that a coin comes from: an order, a bump, the operator, a payout, or an order of a shop. */
export type CoinKind = 'order' | 'bump' | 'fund' | 'payout' | 'token-order';

/** An output that the wallet can spend, and who holds it. */
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
  /** The id of the order, payout or order of a shop. null: the coin comes from a bump, or is a fund. */
  readonly subject: string | null;
}
