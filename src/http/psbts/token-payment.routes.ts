import { Type } from 'typebox';
import { accepted, creationBody } from '#http/orders/order-body.schemas.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { noOrderId } from '#http/tokenpay/no-order-id.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import { readSigners } from '#psbts/signers/read-signers.ts';
import { payTokenOrder } from '#psbts/tokens/pay-token-order.ts';
import { tokenPsbtAnswer, tokenPsbtView } from './psbt-answer.ts';
import { feeRateSchema, refusalError, refuseFaulty, signerSchemas } from './psbt-body.ts';
import { exampleSigners } from './psbt-examples.ts';
import { coinPartsOf } from './psbt-parts.ts';

const exampleOrder = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';

const body = creationBody(
  {
    orderId: accepted('the id of an order of a shop', { type: 'string', examples: [exampleOrder] }),
    ...signerSchemas,
    feeRate: feeRateSchema,
  },
  'The rune comes from the ordinals address, the fee from the payment address (docs/psbts.md, "Paying a shop").',
  {
    rune: {
      summary: 'Pays the missing amount of an order of a shop',
      value: { orderId: exampleOrder, ...exampleSigners, feeRate: 5 },
    },
  },
  ['orderId'],
);

const answer = Type.Object({
  psbt: Type.String({ description: 'the same as psbtBase64' }),
  ...tokenPsbtAnswer.properties,
});

/** Routes of PSBTs with which wallets pay orders of shops. */
export function tokenPaymentRoutes(app: App, deps: AppDependencies): void {
  const { network, shopOrders = null } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/create-payment-psbt',
    schema: {
      operationId: 'createPaymentPsbt',
      summary: 'A PSBT that pays an order of a shop: its rune and its fee',
      tags: ['psbts'],
      body,
      response: { 200: answer },
    },
    config: { errors: 'psbt', guard: builds, failures: [404, 422, 503], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const values = new RequestValues();
      const fields = values.object(request.body, 'the body') ?? {};
      const id = values.text(fields['orderId'], 'orderId') ?? '';
      if (id === '') values.required(fields['orderId'], 'orderId');
      const signers = readSigners(values, fields, network);
      // some clients send bitcoins per 1,000 virtual bytes (client-compat 3.14)
      const feeRate = readFeeRate(values, 'feeRate', fields['feeRate'], 'either');
      refuseFaulty(values.faults);
      if (signers === null) throw new AppError('request_invalid', 'the addresses are not valid');
      if (!isOrderId(id)) throw new AppError('not_found', noOrderId);
      if (shopOrders === null) throw new AppError('orders_off', 'this service accepts no token payments');
      const open = await shopOrders.open(id);
      if (open === null) throw new AppError('not_found', 'Order not found');
      const built = await payTokenOrder(coinPartsOf(deps), { open, signers, feeRate }, askerOf(reply));
      if (built.kind === 'refused') throw refusalError(built);
      return { psbt: built.psbt.base64, ...tokenPsbtView(built, signers, network) };
    },
  });
}
