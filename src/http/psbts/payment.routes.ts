import { Type } from 'typebox';
import { accepted, creationBody, type Examples } from '#http/orders/order-body.schemas.ts';
import { exampleAddress } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import type { WantedOrderName } from '#orders/paying/find-open-order.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';
import { type BuiltPayment, type PaymentRequest, payOrder } from '#psbts/paying/pay-order.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import { readOutpoint } from '#psbts/planning/read-outpoint.ts';
import { readSigners } from '#psbts/signers/read-signers.ts';
import { openOrderOf } from './open-order-of.ts';
import { psbtAnswer, psbtView } from './psbt-answer.ts';
import { feeRateSchema, outpointSchema, refusalError, refuseFaulty, signerSchemas } from './psbt-body.ts';
import { exampleSigners } from './psbt-examples.ts';
import { coinPartsOf } from './psbt-parts.ts';

const text = (description: string, examples: readonly string[]) =>
  accepted(description, { type: 'string', examples });

const specialField = outpointSchema(
  'the output of the ordinals address with the sat to inscribe; absent: any sats',
);
const payment = {
  ...signerSchemas,
  feeRate: feeRateSchema,
  specialSatsOutput: specialField,
};

const specialSatsBody = {
  fundingAddress: text('the address of an open order of this service', [exampleAddress]),
  chargeAmount: accepted('total sats to that address; more is sent if the order needs more for two outputs', {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^[0-9]{1,15}$' },
    ],
  }),
  ...payment,
};
const parentChildBody = {
  orderId: text('id of an order of this service', ['6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11']),
  ...payment,
};

const specialSatsExamples: Examples = {
  specialSats: {
    summary: 'Pays for an order to be inscribed on a sat of an output',
    value: {
      fundingAddress: 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
      chargeAmount: 3456,
      ...exampleSigners,
      specialSatsOutput: `${'ab'.repeat(32)}:0`,
      feeRate: 5,
    },
  },
};
const parentChildExamples: Examples = {
  parentChild: {
    summary: 'Sends the parents of an order and pays for it',
    value: { orderId: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11', ...exampleSigners, feeRate: 5 },
  },
};

const paymentAnswer = Type.Object({
  ...psbtAnswer.properties,
  chargeAmount: Type.Integer({ description: 'total sats to the address of the order' }),
});

/** Routes of PSBTs with which wallets pay for orders (docs/psbts.md). */
export function paymentRoutes(app: App, deps: AppDependencies): void {
  const config = { errors: 'psbt', guard: builds, failures: [404, 422], answersLarge: true } as const;
  apiRoute(app, {
    method: 'POST',
    url: '/create-special-sats-psbt',
    schema: {
      operationId: 'createSpecialSatsPsbt',
      summary:
        'A PSBT that pays for an order from a wallet, with a special sat of the wallet if one is named',
      tags: ['psbts'],
      body: creationBody(specialSatsBody, paymentWords, specialSatsExamples),
      response: { 200: paymentAnswer },
    },
    config,
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      reply.header('cache-control', 'no-store');
      return paymentView(deps, await paidBySats(deps, request.body, asker));
    },
  });
  apiRoute(app, {
    method: 'POST',
    url: '/create-parent-child-psbt',
    schema: {
      operationId: 'createParentChildPsbt',
      summary: 'A PSBT that sends the parents of an order to their deposits, and pays for it',
      tags: ['psbts'],
      body: creationBody(parentChildBody, paymentWords, parentChildExamples),
      response: { 200: paymentAnswer },
    },
    config,
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      reply.header('cache-control', 'no-store');
      return paymentView(deps, await paidWithParents(deps, request.body, asker));
    },
  });
}

const paymentWords =
  'the order, and the addresses and keys of its customer (docs/psbts.md); other fields are ignored';

const paymentView = ({ network }: AppDependencies, built: BuiltPayment) => ({
  ...psbtView(built, network),
  chargeAmount: Number(built.charge),
});

async function paidBySats(deps: AppDependencies, body: unknown, asker: Asker): Promise<BuiltPayment> {
  const values = new RequestValues();
  const fields = values.object(body, 'the body') ?? {};
  const address = requiredText(values, fields, 'fundingAddress');
  const { chargeAmount: given } = fields;
  const charge = isGiven(given)
    ? values.whole(given, 'chargeAmount')
    : values.required(given, 'chargeAmount');
  return paid(deps, { values, fields, wanted: { address }, charge, sendsParents: false }, asker);
}

async function paidWithParents(deps: AppDependencies, body: unknown, asker: Asker): Promise<BuiltPayment> {
  const values = new RequestValues();
  const fields = values.object(body, 'the body') ?? {};
  const id = requiredText(values, fields, 'orderId');
  return paid(deps, { values, fields, wanted: { id }, charge: null, sendsParents: true }, asker);
}

type Fields = Readonly<Record<string, unknown>>;

interface ReadPayment extends Pick<PaymentRequest, 'charge' | 'sendsParents'> {
  readonly values: RequestValues;
  readonly fields: Fields;
  readonly wanted: WantedOrderName;
}

const requiredText = (values: RequestValues, fields: Fields, name: string): string => {
  const given = values.text(fields[name], name);
  if (given === null) values.required(fields[name], name);
  return given ?? '';
};

async function paid(
  deps: AppDependencies,
  { values, fields, wanted, charge, sendsParents }: ReadPayment,
  asker: Asker,
): Promise<BuiltPayment> {
  const signers = readSigners(values, fields, deps.network);
  const feeRate = readFeeRate(values, 'feeRate', fields['feeRate']);
  const special = readOutpoint(values, 'specialSatsOutput', fields['specialSatsOutput']);
  refuseFaulty(values.faults);
  if (signers === null) throw new AppError('request_invalid', 'the addresses are not valid');
  const order: OpenOrder = await openOrderOf(deps, wanted, asker);
  const request = { order, signers, feeRate, special, charge, sendsParents };
  const built = await payOrder(coinPartsOf(deps), request, asker);
  if (built.kind === 'refused') throw refusalError(built);
  return built;
}
