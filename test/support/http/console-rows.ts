import type { AuditResult } from '#console/actions/audit-runs.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';
import { ConsoleApp } from './console-app.ts';

/** A text of a stranger that tries to become markup, to turn the direction of its line, and to be wide. */
export const hostile = `<script>parent.hacked=1</script>"'><img src=x onerror=hacked=1>\u202Eturned ${'W'.repeat(60)}`;

/** A console beside the app in which customers order, with something of each kind to see. */
export interface FilledConsole {
  readonly shop: OrdersApp;
  readonly console: ConsoleApp;
  /** An unpaid order, and a failed one that names a hostile reason. */
  readonly orders: { readonly unpaid: string; readonly failed: string };
  /** Makes another unpaid order. */
  order(): Promise<string>;
  /** Ends the audit that runs, with two differences. */
  endAudit(): void;
  close(): Promise<void>;
}

export async function createFilledConsole(): Promise<FilledConsole> {
  const shop = await createOrdersApp();
  const order = async (): Promise<string> => {
    const { body } = await shop.post<{ id: string }>('/inscribe', {
      files: [{ name: 'a.txt', size: 5, dataURL: 'data:text/plain;base64,aGVsbG8=' }],
      receiveAddress: customerAddress(930).address,
      fee: 5,
      webhookUrl: 'https://hooks.example/token-of-the-shop',
    });
    return body.id;
  };
  const orders = { unpaid: await order(), failed: await order() };
  const { pool } = shop.database;
  await pool.query(`UPDATE service.orders SET state = 'error', error = $2 WHERE id = $1`, [
    orders.failed,
    hostile,
  ]);
  await insertPending(pool, {
    id: 'hostile',
    totalCount: 2,
    price: 1000,
    creatorAddress: 'creator',
    files: [{ name: hostile, url: 'https://files.example/1.png', toldBytes: 10 }],
    shown: { description: hostile },
  });
  await pool.query(`UPDATE service.mint_collections SET name = $1 WHERE id = 'hostile'`, [
    hostile.slice(0, 100),
  ]);
  let ended = Promise.withResolvers<AuditResult>();
  const console = await ConsoleApp.start(shop.database, { audit: () => ended.promise });
  return {
    shop,
    console,
    orders,
    order,
    endAudit: () => {
      ended.resolve({ orders: 3, kinds: ['payment', 'payment'] });
      ended = Promise.withResolvers();
    },
    close: async () => {
      await console.close();
      await shop.close();
    },
  };
}
