import { orderWatcher, refundWatchers } from '#purse/destinations/own-scripts.ts';

/** Who watches the scripts of an order (docs/payments.md). */
export const watcherOf = orderWatcher;
/** Who watches the deposits of its parents. */
export const depositWatcherOf = (orderId: string): string => `deposit ${orderId}`;
/** Who watches where its refund and its parents go. */
export const refundWatcherOf = (orderId: string): string => `${refundWatchers}${orderId}`;
export const isRefundWatcher = (watcher: string): boolean => watcher.startsWith(refundWatchers);

/** Who watches our outputs of its transactions. */
export const ownWatcherOf = (orderId: string): string => `own ${orderId}`;
export const isOwnWatcher = (watcher: string): boolean => watcher.startsWith('own ');

/** Watches the addresses at which the operator adds coins. */
export const fundsWatcher = 'funds';

/** The order of a watcher of its own addresses; null: it watches something else. */
export function orderOfWatcher(watcher: string): string | null {
  const [, id] = /^(?:order|deposit) (.+)$/u.exec(watcher) ?? [];
  return id ?? null;
}
