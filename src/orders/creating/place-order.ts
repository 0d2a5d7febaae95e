import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Faulty } from '#orders/reading/request-values.ts';
import type { CheckedOrder } from './check-order.ts';
import type { MadeOrder, WantedOrder } from './create-order.ts';
import { type QuotingParts, quoteCheckedOrder } from './quote-checked-order.ts';

/** Sats of the inventory that are offered to an order one after the other, if others take them. */
const offersMax = 5;

/**
 * Quotes and creates a checked order. If another order was faster and took its sat of the inventory, the next sat is
 * offered. Throws `orders_off`, `inventory_taken` and `inventory_reserved_max`.
 */
export async function placeOrder(
  parts: QuotingParts,
  checked: CheckedOrder,
  create: (wanted: WantedOrder) => Promise<MadeOrder>,
  asker: Asker,
): Promise<({ readonly kind: 'made' } & MadeOrder) | Faulty> {
  for (let tries = 1; ; tries++) {
    const quoted = await quoteCheckedOrder(parts, checked, asker);
    if (quoted.kind === 'faulty') return quoted;
    try {
      return { kind: 'made', ...(await create(quoted.wanted)) };
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'inventory_taken';
      if (!isTaken || tries === offersMax) throw error;
    }
  }
}
