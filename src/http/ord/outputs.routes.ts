import { Type } from 'typebox';
import type { App } from '#http/server/app-dependencies.ts';
import { sendOrd } from './answers.ts';
import { batchOf, batchOptions } from './batch.ts';
import type { Outputs } from './outputs.ts';
import { outpointOf } from './parameters.ts';

const tags = ['ord'];
const path = Type.Object({ outpoint: Type.String() });
/** Each may take two calls of the node. */
const outputsMax = 10_000;

/** Outputs, alone and many at once. */
export function outputsRoutes(app: App, outputs: Outputs): void {
  app.route({
    method: 'GET',
    url: '/output/:outpoint',
    schema: { summary: 'An output and the inscriptions in it', tags, params: path },
    handler: async (request, reply) => {
      const { tip, json } = await outputs.output(outpointOf(request.params.outpoint));
      return sendOrd(request, reply, tip, json, { live: true });
    },
  });

  app.route({
    method: 'GET',
    url: '/r/utxo/:outpoint',
    schema: { summary: 'An unspent output, for inscriptions', tags, params: path },
    handler: async (request, reply) => {
      const { tip, json } = await outputs.utxo(outpointOf(request.params.outpoint));
      return sendOrd(request, reply, tip, json, { live: true, recursive: true });
    },
  });

  app.route({
    method: 'POST',
    url: '/outputs',
    ...batchOptions('Many outputs at once'),
    handler: async (request, reply) => {
      const outpoints = batchOf(request.body, outputsMax, outpointOf);
      const { tip, json } = await outputs.outputs(outpoints);
      return sendOrd(request, reply, tip, json, { live: true });
    },
  });
}
