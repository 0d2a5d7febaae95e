import type pg from 'pg';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type Credit, inChainOrder } from '#tokenpay/crediting/credit.ts';
import { creditedUnits } from '#tokenpay/crediting/credited-units.ts';
import { readCredits } from '#tokenpay/crediting/credits.store.ts';
import { type AsideDecision, readDecisions } from '#tokenpay/crediting/decisions.store.ts';
import type { TokenOrderState } from '#tokenpay/order/charge-state.ts';
import { readTokenOrders } from '#tokenpay/order/token-order.store.ts';
import type { ChargeKind, TokenOrder, TokenRune } from '#tokenpay/order/token-order.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { assetsOf } from '#tokenpay/telling/token-order-answer.ts';

/** An operator's filter for orders. */
export interface WantedOrders {
  /** State of the orders, or null for any state. */
  readonly state: TokenOrderState | null;
  /** Account of the orders, or null for any account. */
  readonly account: string | null;
  /** Whether to select only orders with outputs that were set aside. Outputs with a decision are included. */
  readonly withAside: boolean;
  readonly limit: number;
}

/** A confirmed output of an order, with the operator's decision about it. */
export interface ListedCredit extends Credit {
  readonly decision: AsideDecision | null;
}

/** An order with its payments. */
export interface ListedOrder {
  readonly order: TokenOrder;
  /** Sats and base units of the rune that are credited and pay the charges. */
  readonly credited: Readonly<Record<ChargeKind, bigint>>;
  readonly credits: readonly ListedCredit[];
}

export interface ListedOrders {
  /** Orders, the newest first. */
  readonly orders: readonly ListedOrder[];
  /** Runes of these orders and of their outputs, by number. */
  readonly runes: ReadonlyMap<number, TokenRune>;
}

/** Lists orders of shops with their payments, for operators. */
export async function listTokenOrders(pool: pg.Pool, wanted: WantedOrders): Promise<ListedOrders> {
  const ids = await wantedIds(pool, wanted);
  const byId = new Map((await readTokenOrders(pool, ids)).map((order) => [order.id, order]));
  const credits = await readCredits(pool, ids);
  const decisions = await readDecisions(pool, ids);
  const orders = ids.flatMap((id): ListedOrder[] => {
    const order = byId.get(id);
    if (order === undefined) return [];
    const of = inChainOrder(credits.get(id) ?? []);
    return [
      {
        order,
        credited: { fee: creditedFee(order, of), token: creditedUnits(order, 'token', of) },
        credits: of.map((credit) => ({ ...credit, decision: decisions.get(outpointOf(credit)) ?? null })),
      },
    ];
  });
  const assets = orders.flatMap(({ order, credits: of }) => [order.rune.asset, ...assetsOf(of)]);
  return { orders, runes: await tokenRunesOf(pool, [...new Set(assets)]) };
}

/**
 * Sats that are credited to the fee charge. The sats of an inscription order belong to that order, which reports when
 * all of them are deep enough.
 */
function creditedFee(order: TokenOrder, credits: readonly Credit[]): bigint {
  const { inscription, charges } = order;
  if (inscription === null) return creditedUnits(order, 'fee', credits);
  return inscription.paid === 'deep' ? charges.fee.amount : 0n;
}

async function wantedIds(
  pool: pg.Pool,
  { state, account, withAside, limit }: WantedOrders,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT o.id FROM service.token_orders AS o
      WHERE ($1::text IS NULL OR o.state = $1) AND ($2::text IS NULL OR o.account = $2)
        AND (NOT $3 OR EXISTS (SELECT FROM service.token_credits AS c WHERE c.order_id = o.id AND c.aside IS NOT NULL)
             OR EXISTS (SELECT FROM service.token_decisions AS d WHERE d.order_id = o.id))
      ORDER BY o.created_at DESC, o.id LIMIT $4`,
    [state, account, withAside, limit],
  );
  return rows.map(({ id }) => id);
}
