import { accepted, creationBody, type Examples } from '#http/orders/order-body.schemas.ts';
import { exampleId } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { buildBurn } from '#psbts/burning/build-burn.ts';
import { buildInscriptionBurn } from '#psbts/burning/build-inscription-burn.ts';
import { burnTypes, metadataBytesMax } from '#psbts/burning/burn-script.ts';
import { burnBounds, readBurn, readInscriptionBurn } from '#psbts/burning/read-burns.ts';
import { psbtAnswer, psbtView, tokenPsbtAnswer, tokenPsbtView } from './psbt-answer.ts';
import { faultsError, feeRateSchema, outpointSchema, refusalError, signerSchemas } from './psbt-body.ts';
import { exampleSigners } from './psbt-examples.ts';
import { coinPartsOf } from './psbt-parts.ts';

const tags = ['psbts'] as const;

const exampleOutput = '507d20a8db517abff4a3558e15f392ac4a7774f7d25c02fe6ec5ff6ca9df4ad2:0';
const sats = (description: string, least: bigint, most: bigint | null) =>
  accepted(description, {
    anyOf: [
      { type: 'integer', minimum: Number(least), ...(most === null ? {} : { maximum: Number(most) }) },
      { type: 'string', pattern: '^[0-9]{1,15}$' },
    ],
  });

const burnExamples: Examples = {
  transfer: {
    summary: 'the tokens of a transfer inscription of BRC-20',
    value: { utxo: exampleOutput, burnAmount: 1, changeAmount: 8_000, burnType: 'BRC20', ...exampleSigners },
  },
  contract: {
    summary: 'a contract for the programmable module, with coins for the fee',
    value: {
      utxo: exampleOutput,
      burnAmount: '546',
      changeAmount: '330',
      burnType: 'BRC20PROG',
      feeRate: 12.5,
      ...exampleSigners,
    },
  },
};

const burnBody = creationBody(
  {
    utxo: outpointSchema('an output of the ordinals address with one inscription, on its first sat'),
    burnAmount: sats('sats of the OP_RETURN output', burnBounds.least, burnBounds.most),
    changeAmount: sats(
      'the least sats that return to the payment address; the rest is the fee',
      burnBounds.changeLeast,
      null,
    ),
    burnType: accepted(
      'BRC20: burns a transfer; BRC20PROG: gives an inscription to the programmable module',
      {
        enum: burnTypes,
      },
    ),
    ...signerSchemas,
    feeRate: feeRateSchema,
  },
  'The output pays for its own burn. With a feeRate that it cannot pay, coins of the payment address pay the rest.',
  burnExamples,
);

const inscriptionBurnBody = creationBody(
  {
    inscriptionId: accepted(
      'the inscription; required if the output contains several',
      acceptedForms.inscriptionId,
    ),
    utxo: outpointSchema('the output that contains it; required if the output contains several'),
    ...signerSchemas,
    feeRate: feeRateSchema,
    metadata: accepted(`a text that ord shows as burn metadata, at most ${metadataBytesMax} bytes`, {
      type: 'string',
      maxLength: metadataBytesMax,
    }),
  },
  'Only the inscribed sat is burned. All others of its output return to the ordinals address.',
  {
    burn: {
      summary: 'an inscription, with metadata',
      value: { inscriptionId: exampleId, ...exampleSigners, feeRate: 2, metadata: 'gone' },
    },
  },
);

/** Routes of PSBTs that burn inscriptions (docs/psbts.md, "Burning"). */
export function burnRoutes(app: App, deps: AppDependencies): void {
  const { network } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/create-burn-psbt',
    schema: {
      operationId: 'createBurnPsbt',
      summary: 'A PSBT that burns an inscription in the form that BRC-20 indexers read',
      tags,
      body: burnBody,
      response: { 200: psbtAnswer },
    },
    config: { errors: 'psbt', guard: builds, failures: [422], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const wanted = readBurn(request.body, network);
      if (wanted.kind === 'faulty') throw faultsError(wanted.faults);
      const built = await buildBurn(coinPartsOf(deps), wanted, askerOf(reply));
      if (built.kind === 'refused') throw refusalError(built);
      return psbtView(built, network);
    },
  });
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/create-burn-inscription-psbt',
    schema: {
      operationId: 'createBurnInscriptionPsbt',
      summary: 'A PSBT that burns an inscription in the same way as ord, with metadata',
      tags,
      body: inscriptionBurnBody,
      response: { 200: tokenPsbtAnswer },
    },
    config: { errors: 'psbt', guard: builds, failures: [422], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const wanted = readInscriptionBurn(request.body, network);
      if (wanted.kind === 'faulty') throw faultsError(wanted.faults);
      const built = await buildInscriptionBurn(coinPartsOf(deps), wanted, askerOf(reply));
      if (built.kind === 'refused') throw refusalError(built);
      return tokenPsbtView(built, wanted.signers, network);
    },
  });
}
