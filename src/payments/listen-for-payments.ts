import type pg from 'pg';
import { paymentsChannel } from './store/payments.store.ts';

/**
 * Calls `onNews` whenever payments changed, over a connection of its own that stays open. What changed before the call, or while the
 * connection is lost, is told by nobody: read `readPaymentChanges` first, and now and then.
 */
export async function listenForPayments(client: pg.ClientBase, onNews: () => void): Promise<void> {
  client.on('notification', ({ channel }) => {
    if (channel === paymentsChannel) onNews();
  });
  await client.query(`LISTEN ${paymentsChannel}`);
}
