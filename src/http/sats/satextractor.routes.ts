import { type Static, Type } from 'typebox';
import { utxosOf } from '#http/mempool/address-utxos.routes.ts';
import { exampleAddress, payableScriptOf, scriptOf } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { satributeSpellings } from '#kernel/satributes/definitions.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SpecialRange } from '#kernel/satributes/special-ranges.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { type Coin, type ExtractionTerms, planExtraction, type Refusal } from '#utxos/plan-extraction.ts';
import { unsignedTransaction } from '#utxos/unsigned-transaction.ts';
import { outpointText, type Utxo } from '#utxos/utxo.ts';
import { whyNotSpendable } from '#utxos/why-not-spendable.ts';
import { satributesInForce } from './satributes-in-force.ts';
import { specialRangeJson, specialRangeSchema } from './scan-outputs.ts';

/**
 * Bounds of a fee rate in sats per virtual byte. Nodes do not relay transactions below the lower bound, and no one has
 * ever paid more than the upper bound.
 */
const feeRateLeast = 0.1;
const feeRateMost = 10_000;
const feeText = '^[0-9]{1,5}(\\.[0-9]{1,8})?$';

const address = (description: string) =>
  Type.String({ description, acceptedForm: acceptedForms.address, examples: [exampleAddress] });

const extractBody = Type.Object({
  scanAddress: address('the address whose outputs are scanned and spent'),
  addressToSendSpecialSats: address('the address that gets the special sats'),
  addressToSendCommonSats: address('the address that gets all other sats, except the fee'),
  feePerByte: Type.Union([Type.Number(), Type.String({ pattern: feeText })], {
    description: `sats per virtual byte, ${feeRateLeast} to ${feeRateMost}`,
    acceptedForm: { type: 'number', minimum: feeRateLeast, maximum: feeRateMost },
    examples: [5],
  }),
  filterSatributes: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: 'ids of satributes; absent or empty: all satributes that can be found',
      acceptedForm: { type: 'array', items: { enum: satributeSpellings }, maxItems: 100 },
    }),
  ),
});

const extractAnswer = Type.Object({
  specialRanges: Type.Array(specialRangeSchema),
  tx: Type.String({ description: 'an unsigned transaction in hex' }),
  leftOut: Type.Array(Type.Object({ output: Type.String(), reason: Type.String() }), {
    description: 'outputs of the address that are not spent although they may contain special sats',
  }),
});

/** Route of the public interface's extractor, which moves special sats into separate outputs (docs/satributes.md). */
export function satextractorRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/satextractor/extract',
    schema: {
      operationId: 'extractSats',
      summary:
        'An unsigned transaction that takes the special sats out of an address’s outputs; needs a node',
      tags: ['sats'],
      body: extractBody,
      response: { 200: extractAnswer },
    },
    config: { errors: 'serviceRead', guard: builds, failures: [422], answersLarge: true },
    handler: (request, reply) => extract(deps, request.body, askerOf(reply)),
  });
}

/**
 * Maximum number of reasons in the message of a 404. There are few different reasons, because most reasons name no
 * transaction.
 */
const reasonsShown = 5;

/** An output that is left unspent although it may contain special sats, and the reason. */
interface LeftOut {
  readonly output: string;
  readonly reason: string;
}

/** An output, with the sats in it that the client wants. */
interface Candidate extends Coin {
  readonly utxo: Utxo;
  readonly special: readonly SpecialRange[];
}

async function extract(
  deps: AppDependencies,
  body: Static<typeof extractBody>,
  asker: Asker,
): Promise<Static<typeof extractAnswer>> {
  const terms: ExtractionTerms = {
    fromScript: scriptOf(body.scanAddress, 'scanAddress', deps.network),
    specialScript: payableScriptOf(body.addressToSendSpecialSats, 'addressToSendSpecialSats', deps.network),
    commonScript: payableScriptOf(body.addressToSendCommonSats, 'addressToSendCommonSats', deps.network),
    feeRate: feeRateOf(body.feePerByte),
  };
  const satributes = satributesOf(body.filterSatributes ?? [], deps);
  const { candidates, leftOut } = await candidatesOf(deps, body.scanAddress, terms, satributes, asker);
  if (candidates.every(({ wanted }) => wanted.length === 0))
    throw new AppError('not_found', nothingWanted(leftOut));
  const plan = planExtraction(candidates, terms);
  if ('kind' in plan) throw refusal(plan);
  const outputs = plan.outputs.map(({ kind, value }) => ({
    value,
    script: kind === 'special' ? terms.specialScript : terms.commonScript,
  }));
  const bytes = unsignedTransaction(
    plan.inputs.map(({ utxo }) => utxo),
    outputs,
  );
  return {
    specialRanges: plan.inputs.flatMap(({ utxo, special }) =>
      special.map((range) => specialRangeJson(nameOf(utxo), range)),
    ),
    tx: Buffer.from(bytes).toString('hex'),
    leftOut,
  };
}

/** The message of a 404. It does not list outputs, but lists each of their reasons once. */
function nothingWanted(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return 'the address has no such special sats';
  const counts = new Map<string, number>();
  for (const { reason } of leftOut) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].sort(([, a], [, b]) => b - a);
  const shown = reasons.slice(0, reasonsShown).map(([reason, count]) => `${count}: ${reason}`);
  if (reasons.length > reasonsShown) shown.push('and others');
  return `no spendable output of the address is known to have such special sats; ${leftOut.length} left out (${shown.join('; ')})`;
}

const nameOf = ({ txid, vout }: Utxo): string => outpointText(displayHash(txid), vout);

/** The spendable outputs with their wanted sats, and each other output with the reason why it is left out. */
async function candidatesOf(
  deps: AppDependencies,
  scanAddress: string,
  { fromScript: script }: ExtractionTerms,
  satributes: readonly Satribute[],
  asker: Asker,
): Promise<{ candidates: Candidate[]; leftOut: LeftOut[] }> {
  const reader = utxosOf(deps);
  if (deps.satTracer == null)
    throw new AppError(
      'no_node',
      'only a node knows which outputs are unspent, but this server has no node; start it with --node',
    );
  const { utxos } = await reader.unspent([{ script, address: scanAddress }], asker);
  const holdings = await reader.holdings(utxos, asker);
  const leftOut: LeftOut[] = [];
  const spendable = utxos.filter((utxo, place) => {
    const reason = whyNotSpendable(utxo, holdings[place]);
    if (reason !== null) leftOut.push({ output: nameOf(utxo), reason: `it ${reason}` });
    return reason === null;
  });
  const sats = await reader.sats(spendable, asker, satributes);
  const candidates = spendable.flatMap((utxo, place): Candidate[] => {
    const held = sats[place];
    if (held?.state === 'known' && held.special.isComplete) {
      const special = held.special.ranges;
      const wanted = special.map(({ offset, start, end }) => ({ offset, size: end - start }));
      return [{ utxo, value: utxo.value, wanted, special }];
    }
    const reason = held?.state === 'unknown' ? held.reason : 'it has too many special ranges';
    leftOut.push({ output: nameOf(utxo), reason });
    return [];
  });
  return { candidates, leftOut };
}

/** The fee rate in a body. Throws `request_invalid`. */
function feeRateOf(given: number | string): number {
  const rate = Number(given);
  if (rate >= feeRateLeast && rate <= feeRateMost) return rate;
  throw new AppError('request_invalid', `feePerByte must be from ${feeRateLeast} to ${feeRateMost}`, {
    parameter: 'feePerByte',
  });
}

/**
 * Finds the satributes with these names. Throws `request_invalid` for an unknown name, and for a satribute with unknown
 * sats.
 */
function satributesOf(names: readonly string[], deps: AppDependencies): readonly Satribute[] {
  const book = satributesInForce(deps);
  const { findable } = book;
  if (names.length === 0) return findable;
  const wanted = new Set(
    names.map((name) => {
      const satribute = book.find(name);
      const why =
        satribute === null
          ? 'is not a satribute'
          : book.isFindable(satribute)
            ? null
            : 'is a satribute whose sats are unknown here';
      if (satribute !== null && why === null) return satribute.id;
      const shown = name.length <= 50 ? name : `${name.slice(0, 50)}…`;
      throw new AppError('request_invalid', `filterSatributes: ${shown} ${why}; /satributes lists them`, {
        parameter: 'filterSatributes',
      });
    }),
  );
  return findable.filter(({ id }) => wanted.has(id));
}

function refusal(plan: Refusal): AppError {
  const invalid = (message: string): AppError => new AppError('request_invalid', message);
  switch (plan.kind) {
    case 'size-unknown':
      return invalid('scanAddress has a type whose input size is unknown; use an address of another type');
    case 'too-large':
      return invalid(
        'these special ranges do not fit into one transaction; name fewer satributes in filterSatributes',
      );
    case 'fee-unpaid':
      // the exact message that public clients show
      return invalid(
        `Not enough cardinal spendable funds.\nAddress has: ${plan.there} sats\nNeeded: ${plan.needed} sats`,
      );
    default:
      return unreachable(plan);
  }
}
