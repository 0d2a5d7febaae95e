import type pg from 'pg';
import { namedRune } from '#chain/runes/rune.queries.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type OpenTokenOrder, readOpenTokenOrder } from './open-token-order.ts';
import type { ChargeKind } from './order/token-order.ts';
import { confirmationsOf, type TokenPolicy } from './order/token-policy.ts';

/** An order with the facts that its payer needs. */
export interface Checkout extends OpenTokenOrder {
  /** Number of confirmations with which a payment of each charge is credited. */
  readonly confirmations: Readonly<Record<ChargeKind, number>>;
  /** Symbol of the rune. Null if the rune has no symbol, or if the index does not know the rune now. */
  readonly symbol: string | null;
  /** Whether another transaction has etched the same rune name since. If so, the order can no longer be paid. */
  readonly isEtchedAgain: boolean;
}

/** Rules for the number of confirmations with which payments are credited. */
export interface CheckoutDepths {
  readonly policy: TokenPolicy;
  /** Returns the number of confirmations that an inscription order of this amount in sats needs. */
  readonly orderConfirmations: (sats: bigint) => number;
}

/** Reads an order for its payer. Returns null if no order has this id. */
export async function readCheckout(
  client: pg.Pool | pg.ClientBase,
  { policy, orderConfirmations }: CheckoutDepths,
  id: string,
): Promise<Checkout | null> {
  const open = await readOpenTokenOrder(client, id);
  if (open === null) return null;
  const rune = parseSpacedRune(open.order.rune.name)?.rune ?? null;
  const runes = rune === null ? [] : [rune];
  const named = rune === null ? null : await namedRune(client, rune);
  const isEtchedAgain = named !== null && Buffer.compare(named.etching, open.order.rune.etching) !== 0;
  const { inscription, charges } = open.order;
  const fee = inscription === null ? confirmationsOf(policy, []) : orderConfirmations(charges.fee.amount);
  return {
    ...open,
    confirmations: { fee, token: confirmationsOf(policy, runes) },
    symbol: isEtchedAgain ? null : (named?.symbol ?? null),
    isEtchedAgain,
  };
}
