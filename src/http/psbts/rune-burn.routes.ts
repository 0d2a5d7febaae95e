import { Type } from 'typebox';
import { accepted, creationBody } from '#http/orders/order-body.schemas.ts';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { exactNumber } from '#kernel/text/exact-number.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import { readSigners } from '#psbts/signers/read-signers.ts';
import { burnRune } from '#psbts/tokens/burn-rune.ts';
import { judgeRuneBurn } from '#psbts/tokens/judge-rune-burn.ts';
import { readNamedTransaction } from '#psbts/tokens/read-named-transaction.ts';
import { readTokenAmount } from '#tokenpay/reading/read-token-amount.ts';
import { tokenAmount } from '#tokenpay/token-amount.ts';
import { tokenPsbtAnswer, tokenPsbtView } from './psbt-answer.ts';
import { faultsError, feeRateSchema, refusalError, signerSchemas } from './psbt-body.ts';
import { exampleSigners } from './psbt-examples.ts';
import { coinPartsOf } from './psbt-parts.ts';

const exampleToken = 'UNCOMMON•GOODS';
const amountFields = {
  token: accepted('the name of a rune, with or without spacers', { type: 'string' }),
  amount: accepted('display units, as a number or in digits: nothing is rounded', {
    anyOf: [{ type: 'number', exclusiveMinimum: 0 }, { type: 'string' }],
  }),
};

const burnBody = creationBody(
  { ...amountFields, ...signerSchemas, feeRate: feeRateSchema },
  'Units of the ordinals address are burned; all others, and other runes, return to it (docs/psbts.md, "Burning runes").',
  {
    burn: {
      summary: 'Burns two and a half units of a rune',
      value: { token: exampleToken, amount: 2.5, ...exampleSigners, feeRate: 5 },
    },
  },
  ['token', 'amount'],
);

const validateBody = creationBody(
  {
    txid: accepted('txid of a transaction in the mempool or in a block', {
      type: 'string',
      pattern: '^[0-9A-Fa-f]{64}$',
    }),
    hex: accepted('a transaction, signed or not; it need not be sent yet', {
      type: 'string',
      pattern: '^([0-9A-Fa-f]{2})+$',
    }),
    ...amountFields,
  },
  'either txid or hex, and the amount that the transaction should burn',
  {
    sent: {
      summary: 'A sent burn',
      value: { txid: 'ab'.repeat(32), token: exampleToken, amount: 2.5 },
    },
  },
);

const validateAnswer = Type.Object({
  valid: Type.Boolean({ description: 'true: the transaction burns exactly the amount' }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'why the burn is not valid' }),
  burned: Type.Number({ description: 'display units that it burns, all digits' }),
  burnedBase: Type.String({ description: 'the same in base units' }),
  txid: Type.String(),
  confirmations: Type.Union([Type.Integer(), Type.Null()], {
    description:
      '0: the transaction is in the mempool, where another one may replace it; null: in neither a block nor the mempool',
  }),
  warnings: Type.Array(Type.String(), { description: 'what else the transaction does' }),
});

/** Routes of PSBTs that burn runes, and of checks of transactions that burn runes (docs/psbts.md, "Burning runes"). */
export function runeBurnRoutes(app: App, deps: AppDependencies): void {
  const { network, pool } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/create-burn-rune-psbt',
    schema: {
      operationId: 'createBurnRunePsbt',
      summary: 'A PSBT that burns units of a rune',
      tags: ['psbts'],
      body: burnBody,
      response: { 200: tokenPsbtAnswer },
    },
    config: { errors: 'psbt', guard: builds, body: 'exactJson', failures: [404, 422, 503], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const values = new RequestValues();
      const fields = values.object(request.body, 'the body') ?? {};
      const sent = readTokenAmount(values, fields);
      const signers = readSigners(values, fields, network);
      const feeRate = readFeeRate(values, 'feeRate', fields['feeRate'], 'either');
      const { faults } = values;
      if (sent === null || signers === null || faults.length > 0) throw faultsError(faults);
      const asker = askerOf(reply);
      const units = await tokenAmount(pool, sent, asker.signal);
      if (units.kind === 'faulty') throw faultsError(units.faults);
      const built = await burnRune(coinPartsOf(deps), { units, signers, feeRate }, asker);
      if (built.kind === 'refused') throw refusalError(built);
      return tokenPsbtView(built, signers, network);
    },
  });
  validateRoute(app, deps);
}

function validateRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/validate-burn-rune-tx',
    schema: {
      operationId: 'validateBurnRuneTransaction',
      summary: 'Whether a transaction burns exactly an amount of a rune',
      tags: ['psbts'],
      body: validateBody,
      response: { 200: validateAnswer },
    },
    config: { errors: 'tokenpay', guard: builds, body: 'exactJson', failures: [404, 422, 503], isDear: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const values = new RequestValues();
      const fields = values.object(request.body, 'the body') ?? {};
      const named = readNamedTransaction(values, fields);
      const sent = readTokenAmount(values, fields);
      if (named === null || sent === null || values.faults.length > 0) throw refuseFaults(values.faults);
      const asker = askerOf(reply);
      const wanted = unlessFaulty(await tokenAmount(deps.pool, sent, asker.signal));
      const judged = await judgeRuneBurn(coinPartsOf(deps), named, wanted, asker);
      const { valid, reason, burned, confirmations, warnings } = judged;
      return {
        valid,
        reason,
        burned: exactNumber(shownAmount(trustedU128(burned), wanted.rune.divisibility)),
        burnedBase: String(burned),
        txid: displayHash(judged.txid),
        confirmations,
        warnings: [...warnings],
      };
    },
  });
}
