import { Type } from 'typebox';
import type { BodyText } from '#http/bodies/parsing/long-texts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { faultsMax } from '#http/server/errors/error-forms.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { Pauses, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type FinalTransaction, finalizePsbt } from '#psbts/bytes/finalize-psbt.ts';
import { PsbtFaults, psbtFault } from '#psbts/bytes/psbt-faults.ts';
import { psbtBytes } from '#psbts/bytes/psbt-text.ts';

/**
 * Maximum number of PSBTs in one request. Each signer sends one PSBT. A script before Taproot needs signatures of at
 * most 20 keys (MAX_PUBKEYS_PER_MULTISIG).
 */
const psbtsMax = 20;

const finalizeBody = Type.Object({
  psbt: Type.Optional(
    Type.Unknown({
      description:
        'a signed PSBT of version 0 (BIP 174) in base64 or hex, or a list of PSBTs of one transaction, each signed by another signer; required',
      acceptedForm: {
        anyOf: [
          { type: 'string' },
          { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: psbtsMax },
        ],
      },
    }),
  ),
});

const finalAnswer = Type.Object({
  hex: Type.String({ description: 'the signed transaction, for POST /tokenpay/utils/submittx or any node' }),
  txid: Type.String(),
  vsize: Type.Integer({ minimum: 1, description: 'virtual bytes' }),
  fee: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'fee in sats; absent: the PSBT does not have the values of all inputs',
    }),
  ),
  feeRate: Type.Optional(Type.Number({ minimum: 0, description: 'sats per virtual byte' })),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'what its sender should know before sending it; absent: nothing',
    }),
  ),
});

/** Route that turns signed PSBTs into transactions (docs/psbts.md, "Finalizing"). */
export function finalizeRoutes(app: App, { network }: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/utils/finalize-psbt',
    schema: {
      operationId: 'finalizePsbt',
      summary:
        'The transaction of a completely signed PSBT; it may be any PSBT, not only one of this service',
      tags: ['psbts'],
      body: finalizeBody,
      response: { 200: finalAnswer },
    },
    config: { errors: 'tokenpay', guard: builds, isDear: true, longTexts: ['psbt'] },
    bodyLimit: bodyLimits.psbts,
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      try {
        return shown(await new Pauses(askerOf(reply)).run(finalized(request.body.psbt, network)));
      } catch (error) {
        if (!(error instanceof PsbtFaults)) throw error;
        const [first, ...others] = error.faults;
        const fault = (message: string) => ({ message, parameter: 'psbt' });
        throw new InvalidRequest([fault(first), ...others.slice(0, faultsMax - 1).map(fault)]);
      }
    },
  });
}

/** Whether a value is a text. In large bodies, long texts are bytes. */
const isText = (value: unknown): value is BodyText =>
  typeof value === 'string' || value instanceof Uint8Array;

function textsOf(given: unknown): readonly BodyText[] {
  if (given === undefined || given === null) throw psbtFault('psbt is required.');
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (texts.every(isText) && texts.length <= psbtsMax) return texts;
  throw psbtFault(`psbt must be a text, or a list of at most ${psbtsMax} texts`);
}

function* finalized(given: unknown, network: NetworkParameters): Steps<FinalTransaction> {
  const texts = textsOf(given);
  const signed: Uint8Array[] = [];
  for (const [place, one] of texts.entries())
    signed.push(yield* psbtBytes(one, texts.length === 1 ? 'psbt' : `psbt[${place}]`));
  const [first, ...others] = signed;
  if (first === undefined) throw psbtFault('psbt is required.');
  return yield* finalizePsbt([first, ...others], network);
}

function shown({ bytes, txid, virtualBytes, fee, warnings }: FinalTransaction) {
  return {
    hex: Buffer.from(bytes).toString('hex'),
    txid: displayHash(txid),
    vsize: virtualBytes,
    ...(fee === null
      ? {}
      : { fee: Number(fee), feeRate: Math.round((Number(fee) / virtualBytes) * 100) / 100 }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}
