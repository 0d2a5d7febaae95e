import { Type } from 'typebox';
import { accepted, creationBody } from '#http/orders/order-body.schemas.ts';
import { refuseFaults } from '#http/orders/refuse-faults.ts';
import { coinPartsOf } from '#http/psbts/psbt-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { shopRequests } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { isTestCase, testCases } from '#test-payments/test-cases.ts';
import { keyOf } from './key-of.ts';
import { noOrderId } from './no-order-id.ts';

const exampleOrder = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
const names = Object.keys(testCases);

const body = creationBody(
  {
    orderId: accepted('an order of the account', { type: 'string', examples: [exampleOrder] }),
    case: accepted('how the order is paid (docs/tokenpay.md, "Test payments")', {
      type: 'string',
      enum: names,
    }),
  },
  'a payment of an order of the account, from the wallet for tests',
  { exact: { summary: 'Pays an order in full', value: { orderId: exampleOrder, case: 'exact' } } },
  ['orderId', 'case'],
);

const answer = Type.Object({
  orderId: Type.String({ format: 'uuid' }),
  case: Type.String(),
  txids: Type.Array(Type.String(), { description: 'the transactions, in the order of sending' }),
  sats: Type.Integer({ description: 'sats that the wallet for tests spent, including fees' }),
  satsLeft: Type.Integer({ description: 'sats that the account may still spend within 24 hours' }),
  wallet: Type.String({ description: 'the address of the wallet for tests, which anyone can send coins to' }),
});

/**
 * Route of `POST /tokenpay/test/pay`. It pays an order on test networks, either as a customer should, or with a
 * mistake.
 */
export function testPayRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/test/pay',
    schema: {
      operationId: 'testPay',
      summary: 'Pays an order of the account from a wallet for tests, on test networks',
      tags: ['token payments'],
      body,
      response: { 200: answer },
    },
    config: { errors: 'tokenpay', guard: shopRequests, failures: [404, 422, 429, 503], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { testPayments = null } = deps;
      if (testPayments === null)
        throw new AppError(
          'not_found',
          'this service makes no test payments; its operator can allow them with TOKENPAY_TEST_PAY',
        );
      const { orderId, name } = readBody(request.body);
      const asker = askerOf(reply);
      const { account } = keyOf(asker.key);
      if (!isOrderId(orderId)) throw new AppError('not_found', noOrderId);
      const paid = await testPayments.pay(coinPartsOf(deps), { account, orderId, name }, asker);
      if (paid === null) throw new AppError('not_found', 'Order not found');
      if (paid.kind === 'refused') throw refuseFaults([{ message: paid.reason, parameter: paid.parameter }]);
      const { txids, sats, left, address } = paid;
      return {
        orderId,
        case: name,
        txids: [...txids],
        sats: Number(sats),
        satsLeft: Number(left),
        wallet: address,
      };
    },
  });
}

function readBody(sent: unknown) {
  const values = new RequestValues();
  const fields = values.object(sent, 'the body') ?? {};
  const orderId = values.text(fields['orderId'], 'orderId') ?? '';
  const name = values.text(fields['case'], 'case') ?? '';
  if (orderId === '') values.required(fields['orderId'], 'orderId');
  if (name === '') values.required(fields['case'], 'case');
  const isKnown = isTestCase(name);
  if (name !== '' && !isKnown) values.fault('case', `must be one of ${names.join(', ')}`);
  if (!isKnown || values.faults.length > 0) throw refuseFaults(values.faults);
  return { orderId, name };
}
