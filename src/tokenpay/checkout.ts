import type pg from 'pg';
import { namedRune } from '#chain/runes/rune.queries.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type OpenTokenOrder, readOpenTokenOrder } from './open-token-order.ts';
import type { ChargeKind } from './order/token-order.ts';
import { confirmationsOf, type TokenPolicy } from './order/token-policy.ts';

/** An order with the facts that its payer needs. */
export interface Checkout extends OpenTokenOrder {
  /** The depth at which a payment of each charge is credited. */
  readonly confirmations: Readonly<Record<ChargeKind, number>>;
  /** The symbol of the rune. null: the rune has no symbol, or the index does not know it now. */
  readonly symbol: string | null;
  /** Whether another transaction has since etched the name of the rune. If so, the order can no longer be paid. */
  readonly isEtchedAgain: boolean;
}

/** The depths at which payments are credited. */
export interface CheckoutDepths {
  readonly policy: TokenPolicy;
  /** Confirmations that an inscription order of this amount of sats needs. */
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
