/** The watcher of the charges of an order (docs/payments.md). */
export const tokenWatcherOf = (orderId: string): string => `token ${orderId}`;

/** The order of a watcher of its charges; null: it watches something else. */
export function orderOfTokenWatcher(watcher: string): string | null {
  const [, id] = /^token (.+)$/u.exec(watcher) ?? [];
  return id ?? null;
}
