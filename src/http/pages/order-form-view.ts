import type { FastifyReply } from 'fastify';
import { askerOf } from '#http/server/access/asker.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { OrderFormView } from '#web/parts/order-fields.ts';

/** The view of a page on which customers order something, for the current state of the service. */
export async function orderFormView(
  { network, orders = null, demo }: AppDependencies,
  reply: FastifyReply,
): Promise<OrderFormView> {
  return {
    site: siteOfApp(reply),
    network: network.name,
    closed:
      orders === null ? 'this service accepts no orders' : await orders.whyClosed(askerOf(reply).signal),
    demoAddress: demo?.receiver ?? null,
  };
}
