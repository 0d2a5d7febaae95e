import type pg from 'pg';
import { runeSymbolOf } from '#chain/runes/rune.queries.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { type OpenTokenOrder, readOpenTokenOrder } from './open-token-order.ts';
import type { ChargeKind } from './order/token-order.ts';
import { confirmationsOf, type TokenPolicy } from './order/token-policy.ts';

/** An order as its payer needs it. */
export interface Checkout extends OpenTokenOrder {
  /** The depth at which a payment of each charge is credited. */
  readonly confirmations: Readonly<Record<ChargeKind, number>>;
  /** The symbol of the rune; null: it has none, or the index does not know it now. */
  readonly symbol: string | null;
}

/** Reads an order for its payer; null: no order has this id. */
export async function readCheckout(
  client: pg.Pool | pg.ClientBase,
  policy: TokenPolicy,
  id: string,
): Promise<Checkout | null> {
  const open = await readOpenTokenOrder(client, id);
  if (open === null) return null;
  const rune = parseSpacedRune(open.order.rune.name)?.rune ?? null;
  const runes = rune === null ? [] : [rune];
  return {
    ...open,
    confirmations: { fee: confirmationsOf(policy, []), token: confirmationsOf(policy, runes) },
    symbol: rune === null ? null : await runeSymbolOf(client, rune),
  };
}
