import { Type } from 'typebox';
import { sendOrd } from '#http/ord/answers/answers.ts';
import { type BatchGate, batchBody, batchList, batchOf } from '#http/ord/answers/batch.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { ChainSources } from '#http/pages/chain/chain-sources.ts';
import { sendOutputPage } from '#http/pages/chain/output-page.ts';
import { outpointOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open, failures: [422] } as const;
/**
 * Configuration of the routes for one output. These routes are expensive, because data that neither the index nor the
 * node has is read from the transaction, as in /tx.
 */
const ofOne = { ...config, isDear: true } as const;
const path = Type.Object({ outpoint: pathParts.outpoint });
/** Maximum number of outputs in one request. Each output may need two calls to the node. */
const outputsMax = 10_000;

/** Routes for one output, and for many outputs at once. */
export function outputsRoutes(app: App, sources: ChainSources, gate: BatchGate): void {
  const { outputs } = sources;
  apiRoute(app, {
    method: 'GET',
    url: '/output/:outpoint',
    schema: {
      operationId: 'output',
      summary: 'An output and its contents: ord’s JSON, or a page for clients that accept HTML',
      tags,
      params: path,
      response: ordAnswers.output,
    },
    config: ofOne,
    handler: async (request, reply) => {
      const outpoint = outpointOf(request.params.outpoint);
      varyBy(reply, 'Accept');
      if (prefersHtml(request.headers.accept)) return sendOutputPage(sources, reply, outpoint);
      const { tip, body } = await outputs.output(outpoint, askerOf(reply));
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
