import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * Who may spend a coin. `free`: the service, for its own costs. `reserved`: only its subject. `waiting`: the service,
 * once its subject is delivered. `accounts`: withdrawals of accounts, which own its contents.
 */
type Held = 'free' | 'reserved' | 'waiting' | 'accounts';

/**
 * The rule that says who holds a coin (docs/wallet.md, "Coins"). `payment`, `deposit`: a customer sent it. `commit`: a
 * reveal spends it. `excess`: a customer's money is in it. `rest`: change of a return, a bump, a payout or a batch of
 * withdrawals. `spending`: a stored transaction of its order spends it. `delivery`: revenue of an order that is not
 * delivered. `revenue`: revenue of an order that is delivered. `fund`: the operator added it. `credit`: accounts were
 * credited with its contents.
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

/** An order, a bump, the operator, a payout, or an order of a shop. */
export type CoinKind = 'order' | 'bump' | 'fund' | 'payout' | 'token-order';

/** An output that the wallet can spend, and who holds it. */
export interface HeldCoin {
  readonly txid: Txid;
  readonly vout: number;
  /** Sats. */
  readonly value: bigint;
  readonly key: { readonly branch: number; readonly index: number };
  readonly held: Held;
  readonly why: HeldBecause;
}

/** A coin and the subject that it comes from. */
export interface OwnedCoin extends HeldCoin {
  readonly kind: CoinKind;
  /** The order, the payout or the order of a shop; null: it comes from a bump, or is a fund. */
  readonly subject: string | null;
}
