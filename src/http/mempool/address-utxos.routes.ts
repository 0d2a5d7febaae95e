import { type Static, Type } from 'typebox';
import { exampleAddress, scriptOf } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Utxo } from '#utxos/utxo.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

/** An unspent output in Esplora's form. The keys are in Esplora's order. */
const utxoAnswer = Type.Object({
  txid: Type.String(),
  vout: Type.Integer(),
  status: Type.Object({
    confirmed: Type.Literal(true),
    block_height: Type.Integer(),
    block_hash: Type.String(),
    block_time: Type.Integer({ description: 'Unix seconds' }),
  }),
  value: Type.Integer({ description: 'sats' }),
});

/** Route of an address's unspent outputs, in the form that public clients expect (docs/utxos.md). */
export function addressUtxosRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/api/address/:address/utxo',
    schema: {
      operationId: 'addressUtxos',
      summary: 'Confirmed outputs of an address that neither a block nor the mempool spends',
      tags: ['mempool'],
      params: Type.Object({
        address: Type.String({
          description: 'an address of the network',
          acceptedForm: acceptedForms.address,
          examples: [exampleAddress],
        }),
      }),
      response: { 200: Type.Array(utxoAnswer) },
    },
    config: { errors: 'serviceRead', guard: open, failures: [422], answersLarge: true },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      const { utxos } = await utxosOf(deps).unspent([{ script, address }], askerOf(reply));
      reply.header('cache-control', 'no-cache');
      return utxos.filter(({ spender }) => spender === 'none' || spender === 'unknown').map(utxoView);
    },
  });
}

/** Returns the reader of unspent outputs. Throws `utxo_source_missing` if there is none. */
export function utxosOf({ utxos = null }: AppDependencies): UtxoReader {
  if (utxos !== null) return utxos;
  throw new AppError('utxo_source_missing', 'this server has no source of unspent outputs');
}

function utxoView({ txid, vout, value, height, blockHash, blockTime }: Utxo): Static<typeof utxoAnswer> {
  return {
    txid: displayHash(txid),
    vout,
    status: { confirmed: true, block_height: height, block_hash: blockHash, block_time: blockTime },
    value,
  };
}
