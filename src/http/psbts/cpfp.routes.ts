import { Type } from 'typebox';
import { accepted, creationBody } from '#http/orders/order-body.schemas.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { buildChild } from '#psbts/accelerating/build-child.ts';
import { readChild } from '#psbts/accelerating/read-child.ts';
import { builtFields, builtView } from './psbt-answer.ts';
import { faultsError, feeRateSchema, outpointSchema, refusalError, signerSchemas } from './psbt-body.ts';
import { exampleSigners } from './psbt-examples.ts';
import { coinPartsOf } from './psbt-parts.ts';

const { paymentAddress, paymentPublicKey } = signerSchemas;

const cpfpBody = creationBody(
  {
    utxo: outpointSchema('an unconfirmed output of the payment address'),
    orderId: accepted(
      'in place of utxo: the order that has this output in one of its unconfirmed transactions',
      {
        type: 'string',
      },
    ),
    ...(paymentAddress === undefined ? {} : { paymentAddress }),
    ...(paymentPublicKey === undefined ? {} : { paymentPublicKey }),
    feeRate: feeRateSchema,
  },
  'The child pays for its parent transaction and all unconfirmed ancestors.',
  {
    output: {
      summary: 'the change of a stuck payment',
      value: {
        utxo: '507d20a8db517abff4a3558e15f392ac4a7774f7d25c02fe6ec5ff6ca9df4ad2:1',
        paymentAddress: exampleSigners.paymentAddress,
        paymentPublicKey: exampleSigners.paymentPublicKey,
        feeRate: 20,
      },
    },
  },
);

const cpfpAnswer = Type.Object({
  psbt: Type.String({ description: 'the PSBT in base64' }),
  hex: Type.String({ description: 'the PSBT in hex' }),
  buyerInputIndices: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'inputs that the payment address signs: all inputs',
  }),
  ...builtFields,
});

/** Routes of child transactions that pay for stuck transactions (docs/psbts.md, "Speeding up"). */
export function cpfpRoutes(app: App, deps: AppDependencies): void {
  const { network } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/cpfp',
    schema: {
      operationId: 'cpfp',
      summary: 'A PSBT of a child that raises an unconfirmed payment to a fee rate',
      tags: ['psbts'],
      body: cpfpBody,
      response: { 200: cpfpAnswer },
    },
    config: { errors: 'psbt', guard: builds, failures: [422], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const wanted = readChild(request.body, network);
      if (wanted.kind === 'faulty') throw faultsError(wanted.faults);
      const built = await buildChild(coinPartsOf(deps), wanted, askerOf(reply));
      if (built.kind === 'refused') throw refusalError(built);
      return {
        psbt: built.psbt.base64,
        hex: built.psbt.hex,
        buyerInputIndices: built.plan.inputs.map((_, index) => index),
        ...builtView(built, network),
      };
    },
  });
}
