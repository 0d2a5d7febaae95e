import { Type } from 'typebox';
import { utxosOf } from '#http/mempool/address-utxos.routes.ts';
import { exampleAddress, scriptOf } from '#http/parameters/list-parameters.ts';
import { outpointOf } from '#http/parameters/path-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds, open } from '#http/server/access/guard.ts';
import { sendJsonInTurns } from '#http/server/budgets/json-in-turns.ts';
import { acceptedForms, acceptedList } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { scannerNames } from './satribute-views.ts';
import { satributesInForce } from './satributes-in-force.ts';
import { refuseTwins, scanAnswer, scanOutputs } from './scan-outputs.ts';

const tags = ['sats'] as const;
const config = { errors: 'serviceRead', guard: builds } as const;
/** Maximum number of outputs in one scan. Each output is looked up at the node. */
const outputsMax = 10_000;

/** Routes of the public interface's scanner, which finds special sats of outputs and addresses (docs/satributes.md). */
export function satscannerRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/satscanner/supported-satributes',
    schema: {
      operationId: 'supportedSatributes',
      summary: 'The satributes that this server can find',
      tags,
      response: { 200: Type.Object({ result: Type.Array(Type.String()) }) },
    },
    config: { errors: 'serviceRead', guard: open },
    handler: () => Promise.resolve({ result: scannerNames(satributesInForce(deps)) }),
  });

  addressRoute(app, deps);
  utxosRoute(app, deps);
}

/** The tracer of sats. Throws `no_node`. */
function tracerOf({ satTracer = null }: AppDependencies): SatTracer {
  if (satTracer !== null) return satTracer;
  throw new AppError(
    'no_node',
    'only a node knows which outputs are unspent, but this server has no node; start it with --node',
  );
}

function addressRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/satscanner/find-special-ranges',
    schema: {
      operationId: 'findSpecialRanges',
      summary: 'The sats of an address’s outputs; needs a node',
      tags,
      querystring: Type.Object({
        address: Type.Optional(
          Type.String({
            description: 'an address of the network',
            acceptedForm: acceptedForms.address,
            examples: [exampleAddress],
          }),
        ),
      }),
      response: { 200: scanAnswer },
    },
    config: { ...config, failures: [422], answersLarge: true },
    handler: async (request, reply) => {
      const { address } = request.query;
      if (address === undefined) throw new AppError('request_invalid', 'address is required.');
      const script = scriptOf(address, 'address', deps.network);
      const asker = askerOf(reply);
      const scanner = tracerOf(deps);
      const { utxos } = await utxosOf(deps).unspent([{ script, address }], asker);
      const gone = (): string => 'the node does not have it as an unspent output';
      return sendJsonInTurns(reply, { result: await scanOutputs(deps, scanner, utxos, asker, gone) });
    },
  });
}

function utxosRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/satscanner/find-special-ranges-utxo',
    schema: {
      operationId: 'findSpecialRangesUtxo',
      summary: 'The sats of some unspent outputs; needs a node',
      tags,
      body: Type.Object({
        utxos: Type.Array(Type.String(), {
          minItems: 1,
          maxItems: outputsMax,
          description: '<txid>:<vout>, each once',
          acceptedForm: acceptedList(acceptedForms.outpoint, outputsMax),
        }),
      }),
      response: { 200: scanAnswer },
    },
    config: { ...config, failures: [422], answersLarge: true },
    handler: async (request, reply) => {
      const outpoints = request.body.utxos.map(outpointOf);
      refuseTwins(outpoints, 'utxos');
      const gone = (output: string): Error =>
        new AppError('not_found', `${output} is not an unspent output of the chain`);
      const result = await scanOutputs(deps, tracerOf(deps), outpoints, askerOf(reply), gone);
      return sendJsonInTurns(reply, { result });
    },
  });
}
