import type { FastifyReply } from 'fastify';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { misplacedOrderPage, orderPage } from '#web/pages/order.page.ts';

/** Paths that the page's script asks: the order, PSBTs that pay for it, and whether its inscriptions can be shown. */
const connects = [
  '/order',
  '/order/cancel',
  '/create-special-sats-psbt',
  '/create-parent-child-psbt',
  '/tokenpay/utils/finalize-psbt',
  '/tokenpay/utils/submittx',
  '/preview/',
];

/** Sends the page that shows an order. It is the same for all orders: the id stays in the browser. */
export function sendOrderPage(reply: FastifyReply, { network, demo = null }: AppDependencies): FastifyReply {
  const hasDemoCoins = demo !== null;
  const page = orderPage({ site: siteOfApp(reply), network: network.name, hasDemoCoins });
  return sendPage(withoutReferrer(reply), page, {
    connects: hasDemoCoins ? [...connects, '/demo/pay'] : connects,
  });
}

/** Sends the page for an id in a path, where servers on the way see it. Nothing of the request is in the page. */
export const sendMisplaced = (reply: FastifyReply): FastifyReply =>
  sendPage(withoutReferrer(reply), misplacedOrderPage(siteOfApp(reply)));

/** Keeps an id in the path from the pages that links lead to. */
const withoutReferrer = (reply: FastifyReply): FastifyReply => reply.header('referrer-policy', 'no-referrer');
