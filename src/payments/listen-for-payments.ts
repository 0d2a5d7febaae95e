import type pg from 'pg';
import { paymentsChannel } from './store/payments.store.ts';

/**
 * Calls `onNews` whenever payments changed. `client` must be a separate connection that stays open. Changes before the
 * call, or while the connection is lost, are not reported. So call `readPaymentChanges` first, and from time to time.
 */
export async function listenForPayments(client: pg.ClientBase, onNews: () => void): Promise<void> {
  client.on('notification', ({ channel }) => {
    if (channel === paymentsChannel) onNews();
  });
  await client.query(`LISTEN ${paymentsChannel}`);
}
