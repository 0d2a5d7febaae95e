import type pg from 'pg';
import { type Order } from '#orders/order/order.store.ts';
import { type OrderFacts, paidAfterAll, paidInTime } from '#orders/order/order-facts.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { keepPrice, repriceOrder } from '#orders/order/order-notes.store.ts';
import { latePrice } from '#orders/pricing/late-price.ts';
import { completedAt } from '#orders/pricing/repricing.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import type { Known } from './learn-order.ts';

/** States in which an order may become complete, before any transaction is made. */
const judgedStates: ReadonlySet<OrderState> = new Set<OrderState>([
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'expired',
]);

/**
 * Decides whether an order keeps its price, and stores the decision. The decision is made once all awaited payments and
 * parents were seen. The decision is final for these payments and parents. Blocks, reorganisations and restarts do not
 * change it. Returns true if the price changed.
 */
export async function judgePrice(
  tx: pg.ClientBase,
  order: Order,
  { facts, parents }: Pick<Known, 'facts' | 'parents'>,
): Promise<boolean> {
  if (order.quote.heldUntil === undefined || !isJudged(order, facts)) return false;
  const at = completionOf(facts, parents);
  if (at === null || (order.priceKeptAt !== null && at <= order.priceKeptAt)) return false;
  const estimate = (await readNodePolicy(tx))?.estimate ?? null;
  const price = latePrice(order, { at, estimate, now: facts.now });
  if (price === null) await keepPrice(tx, order.id, at);
  else await repriceOrder(tx, order.id, price);
  return price !== null;
}

function isJudged({ state, isCancelAsked }: Order, facts: OrderFacts): boolean {
  if (state === 'waiting-refund') return paidAfterAll(facts) !== null;
  return judgedStates.has(state) && !(state === 'expired' && isCancelAsked);
}

/**
 * Time at which the order was complete; null if a payment or parent is missing. Only the index can say whether a
 * deposit is the parent, because anyone can send something to the address of the deposit.
 */
function completionOf(facts: OrderFacts, parents: Known['parents']): Date | null {
  // if a reveal exists, the price was already accepted
  if (facts.parents !== 'here' || facts.hasReveal) return null;
  const seen = parents.flatMap((parent) =>
    parent === undefined ? [] : [parent.payment.firstSeen.getTime()],
  );
  return completedAt({
    payments: facts.payments,
    isEnough: (payments) => paidInTime({ ...facts, payments }).isSeen,
    parentsAt: seen.length === 0 ? null : new Date(Math.max(...seen)),
  });
}
