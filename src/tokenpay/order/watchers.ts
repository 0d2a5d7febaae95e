/** The watcher of the charges of an order (docs/payments.md). */
export const tokenWatcherOf = (orderId: string): string => `token ${orderId}`;

/** The order whose charges a watcher watches. Returns null if the watcher is for something else. */
export function orderOfTokenWatcher(watcher: string): string | null {
  const [, id] = /^token (.+)$/u.exec(watcher) ?? [];
  return id ?? null;
}
