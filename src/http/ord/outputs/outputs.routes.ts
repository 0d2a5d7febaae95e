import { Type } from 'typebox';
import { sendOrd } from '#http/ord/answers/answers.ts';
import { type BatchGate, batchBody, batchList, batchOf } from '#http/ord/answers/batch.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { outpointOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { Outputs } from './outputs.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open, failures: [422] } as const;
/** What the index and the node do not tell is read from the transaction, as /tx does. */
const ofOne = { ...config, isDear: true } as const;
const path = Type.Object({ outpoint: pathParts.outpoint });
/** Each may take two calls of the node. */
const outputsMax = 10_000;

/** One output, or many at once. */
export function outputsRoutes(app: App, outputs: Outputs, gate: BatchGate): void {
  apiRoute(app, {
    method: 'GET',
    url: '/output/:outpoint',
    schema: {
      operationId: 'output',
      summary: 'An output and the inscriptions in it',
      tags,
      params: path,
      response: ordAnswers.output,
    },
    config: ofOne,
    handler: async (request, reply) => {
      const { tip, body } = await outputs.output(outpointOf(request.params.outpoint), askerOf(reply));
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/r/utxo/:outpoint',
    schema: {
      operationId: 'recursiveUtxo',
      summary: 'An unspent output, for recursive inscriptions',
      tags,
      params: path,
      response: ordAnswers.utxo,
    },
    config: ofOne,
    handler: async (request, reply) => {
      const { tip, body } = await outputs.utxo(outpointOf(request.params.outpoint), askerOf(reply));
      return sendOrd(request, reply, tip, body, { live: true, recursive: true });
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/outputs',
    schema: {
      operationId: 'outputs',
      summary: 'Several outputs',
      tags,
      body: batchBody(acceptedForms.outpoint, outputsMax),
      response: ordAnswers.outputs,
    },
    config: { ...config, body: 'texts', textsMax: outputsMax, answersLarge: true },
    bodyLimit: bodyLimits.batch,
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const { tip, body } = await gate.run(asker, batchList(request.body).count, async () =>
        outputs.outputs(await batchOf(request.body, outpointOf), asker),
      );
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });
}
