import type { FastifyReply } from 'fastify';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { misplacedOrderPage, orderPage } from '#web/pages/order.page.ts';

/**
 * Paths that the page's script requests: the order, PSBTs that pay for the order, and previews. The script requests a
 * preview to learn whether the order's inscriptions can be shown.
 */
const connects = [
  '/order',
  '/order/cancel',
  '/create-special-sats-psbt',
  '/create-parent-child-psbt',
  '/tokenpay/utils/finalize-psbt',
  '/tokenpay/utils/submittx',
  '/preview/',
];

/** Sends the page that shows an order. The page is the same for all orders, because the id stays in the browser. */
export function sendOrderPage(reply: FastifyReply, { network, demo = null }: AppDependencies): FastifyReply {
  const hasDemoCoins = demo !== null;
  const page = orderPage({ site: siteOfApp(reply), network: network.name, hasDemoCoins });
  return sendPage(withoutReferrer(reply), page, {
    connects: hasDemoCoins ? [...connects, '/demo/pay'] : connects,
  });
}

/**
 * Sends the page for a URL that has an order's id in its path. Servers on the way can see such an id. The page contains
 * nothing of the request.
 */
export const sendMisplaced = (reply: FastifyReply): FastifyReply =>
  sendPage(withoutReferrer(reply), misplacedOrderPage(siteOfApp(reply)));

/** Hides an id in the path from pages that a link on this page opens. */
const withoutReferrer = (reply: FastifyReply): FastifyReply => reply.header('referrer-policy', 'no-referrer');
