import type pg from 'pg';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Order } from './order.store.ts';
import type { StoredRepricing } from './order-request.ts';

/**
 * Stores the fee estimate when an order is paid, because bumps pay only for the rise of fees since then. `estimate` is
 * null if the node has no estimate.
 */
export async function noteEstimateAtPayment(
  tx: pg.ClientBase,
  id: string,
  estimate: bigint | null,
): Promise<void> {
  await tx.query('UPDATE service.orders SET paid_estimate = coalesce($2, paid_estimate) WHERE id = $1', [
    id,
    estimate,
  ]);
}

/** Stores that an order keeps its price, because it was complete at this time. */
export async function keepPrice(tx: pg.ClientBase, id: string, completedAt: Date): Promise<void> {
  await tx.query('UPDATE service.orders SET price_kept_at = $2 WHERE id = $1', [id, completedAt]);
}

/** Gives an order a new price, and time to pay the difference. */
export async function repriceOrder(
  tx: pg.ClientBase,
  id: string,
  price: Pick<Order, 'quote' | 'terms'> & { readonly repriced: StoredRepricing },
): Promise<void> {
  const { quote, terms, repriced } = price;
  await tx.query(
    `UPDATE service.orders SET amount = $2, quote = $3, terms = $4, repriced = $5, expires_at = greatest(expires_at, $6)
      WHERE id = $1`,
    [
      id,
      quote.amount,
      JSON.stringify(quote),
      JSON.stringify(terms),
      JSON.stringify(repriced),
      new Date(repriced.until),
    ],
  );
}

/** Stores the cost of an order's delivery beyond its quote. */
export async function noteExtraCost(tx: pg.ClientBase, id: string, sats: bigint): Promise<void> {
  await tx.query('UPDATE service.orders SET extra_cost = $2 WHERE id = $1', [id, sats]);
}

const refusal = 'The node refuses transaction ';

/**
 * Whether an order's error is a refusal that `noteRefusal` stored. Such an error is outdated once the transaction is in
 * a block.
 */
export const isRefusal = (error: string): boolean => error.startsWith(refusal);

/**
 * Stores the reason why the node never accepts a transaction of an active order. If `reason` is null, the node accepts
 * the transaction or will accept it, so the error is cleared.
 */
export async function noteRefusal(
  client: pg.ClientBase,
  id: string,
  txid: Txid,
  reason: string | null,
): Promise<void> {
  const refused = `${refusal}${displayHash(txid)}: `;
  await client.query(
    `UPDATE service.orders SET error = $2 || $3
      WHERE id = $1 AND state IN ('waiting-reveal', 'waiting-rune-balance', 'queued', 'waiting-refund')
        AND CASE WHEN $3::text IS NULL THEN starts_with(error, $2) ELSE error IS DISTINCT FROM $2 || $3 END`,
    [id, refused, reason],
  );
}

/**
 * Stores the reason why a stored delivery is incomplete: an inventory sat is missing, or mints cannot be executed. If
 * `why` is null, the delivery is complete, so the error is cleared.
 */
export async function noteMissing(tx: pg.ClientBase, id: string, why: string | null): Promise<void> {
  await tx.query(
    `UPDATE service.orders SET error = $2
      WHERE id = $1 AND state IN ('queued', 'waiting-rune-balance') AND error IS DISTINCT FROM $2
        AND (starts_with(error, $3) OR starts_with(error, $4) OR $2::text IS NOT NULL)`,
    [id, why, missingSat, missingMints],
  );
}

/** Prefixes of the reasons that `noteMissing` stores. */
export const missingSat = 'A sat of the inventory is missing: ';
export const missingMints = 'Mints are missing: ';
