import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import type { Miner } from '#orders/mining/miner.ts';
import { offerFaults } from '#orders/mining/offer-reveals.ts';
import type { CheckedOrder } from './check-order.ts';
import type { MadeOrder, WantedOrder } from './create-order.ts';
import { type QuotingParts, quoteCheckedOrder } from './quote-checked-order.ts';

/**
 * Maximum number of offers of inventory sats to an order. Other orders may take the offered sats first. The cheapest
 * sats are always offered first, so up to this many orders may compete for the same sat.
 */
const offersMax = 10;

export interface PlacingParts extends QuotingParts {
  /** The miner that takes reveals above the standard weight. Null if there is no miner. */
  readonly miner: Miner | null;
}

/**
 * Quotes and creates a checked order. Before the creation, asks the miner whether it would take reveals that nodes do
 * not relay. If another order takes one of the inventory sats meanwhile, offers other sats. Throws `orders_off`,
 * `miner_silent`, `inventory_taken` and `inventory_reserved_max`.
 */
export async function placeOrder(
  parts: PlacingParts,
  checked: CheckedOrder,
  create: (wanted: WantedOrder) => Promise<MadeOrder>,
  asker: Asker,
): Promise<({ readonly kind: 'made' } & MadeOrder) | Faulty> {
  for (let tries = 1; ; tries++) {
    const quoted = await quoteCheckedOrder(parts, checked, asker);
    if (quoted.kind === 'faulty') return quoted;
    const { terms, layout } = quoted.wanted;
    const faults = await offerFaults(parts.miner, terms, layout, asker.signal);
    if (faults.length > 0) return { kind: 'faulty', faults };
    try {
      return { kind: 'made', ...(await create(quoted.wanted)) };
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'inventory_taken';
      if (!isTaken || tries === offersMax) throw error;
    }
  }
}
