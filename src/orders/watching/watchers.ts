import { orderWatcher, refundWatchers } from '#purse/destinations/own-scripts.ts';

/** Watcher of an order's payment address (docs/payments.md). */
export const watcherOf = orderWatcher;
/** Watcher of the deposits of an order's parents. */
export const depositWatcherOf = (orderId: string): string => `deposit ${orderId}`;
/** Watcher of the destinations of an order's refund and of its parents. */
export const refundWatcherOf = (orderId: string): string => `${refundWatchers}${orderId}`;
export const isRefundWatcher = (watcher: string): boolean => watcher.startsWith(refundWatchers);

/** Watcher of the service's own outputs in an order's transactions. */
export const ownWatcherOf = (orderId: string): string => `own ${orderId}`;
export const isOwnWatcher = (watcher: string): boolean => watcher.startsWith('own ');

/** Watcher of the addresses to which the operator sends coins. */
export const fundsWatcher = 'funds';

/** The order whose own addresses a watcher watches. Returns null if the watcher is for something else. */
export function orderOfWatcher(watcher: string): string | null {
  const [, id] = /^(?:order|deposit) (.+)$/u.exec(watcher) ?? [];
  return id ?? null;
}
