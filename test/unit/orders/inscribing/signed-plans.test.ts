import * as btc from '@scure/btc-signer';
import { signSchnorr } from '@scure/btc-signer/utils.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { ChainSigner, testWallet } from '#test/support/wallet/plans.ts';
import {
  inscriptionId,
  keysOf,
  makeOrder,
  oneFile,
  orders,
  p2pkh,
  p2tr,
  prices,
  somePrices,
  textFile,
} from './made-orders.ts';

const secret = new Uint8Array(32).fill(11);

interface Signed {
  readonly weight: number;
  readonly fee: bigint;
}

/** Signs a plan by BIP 341. All inputs get signatures of the same key, whatever their scripts contain. */
function signed({ version, lockTime, inputs, outputs }: TransactionPlan): Signed {
  const made = new btc.Transaction({
    version,
    lockTime,
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
  });
  const spent = inputs.map(({ txid, vout, sequence }) => ({
    txid: Uint8Array.from(txid).reverse(),
    index: vout,
    sequence,
    finalScriptSig: new Uint8Array(),
  }));
  const paid = outputs.map(({ script, value }) => ({ script, amount: value }));
  for (const { finalScriptSig: _, ...input } of spent) made.addInput(input);
  for (const output of paid) made.addOutput(output);
  const parts = { version, lockTime, inputs: spent, outputs: paid };
  const witnesses = inputs.map((input, index) => witnessOf(made, index, inputs, input));
  const whole = btc.RawTx.encode({ ...parts, segwitFlag: true, witnesses }).length;
  const stripped = btc.RawTx.encode({ ...parts, segwitFlag: false, witnesses: undefined }).length;
  return { weight: stripped * 3 + whole, fee: valueOf(inputs) - valueOf(outputs) };
}

function witnessOf(
  made: btc.Transaction,
  index: number,
  inputs: readonly PlannedInput[],
  { path, leafScript, script }: PlannedInput,
): Uint8Array[] {
  if (scriptType(script) === 'p2a') return [];
  const scripts = inputs.map((input) => input.script);
  const values = inputs.map(({ value }) => value);
  const leaf = path === 'leaf' ? leafScript! : undefined;
  const hash = made.preimageWitnessV1(index, scripts, btc.SigHash.DEFAULT, values, undefined, leaf, 0xc0);
  const signature = signSchnorr(hash, secret);
  return leaf === undefined ? [signature] : [signature, leaf, new Uint8Array(33).fill(0xc0)];
}

const parent = { id: inscriptionId(5), value: 10_000n, returnScript: p2pkh };
const files = (count: number, bytes: number) =>
  Array.from({ length: count }, () => textFile(new Uint8Array(bytes).fill(65)));

test.each<[string, Partial<OrderTerms>]>([
  ['one file', {}],
  ['300 files', { files: files(300, 20), receivers: [p2pkh] }],
  ['a shared output', { files: files(20, 700), batchMode: 'shared-output' }],
  ['two parents', { files: files(3, 100), parents: [parent, { ...parent, id: inscriptionId(6) }] }],
  ['two reveals with a parent', { files: files(2, 200_000), parents: [parent] }],
  ['an uncursed child', { uncurse: true, parents: [parent] }],
  ['burned', { burn: true, files: files(3, 10), receivers: [p2tr(1)] }],
  ['managed', { type: 'bulk', feeRate: 12_345n }],
])('a signed order has the weights and fees of its quote: %s', (_name, terms) => {
  const order = { ...oneFile, ...terms };
  const quote = quoteOrder(order, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const { commit, reveals, burns } = makeOrder(order, quote);
  const plans = [
    ...(commit === null ? [] : [commit]),
    ...reveals.flatMap((reveal, index) => [reveal, ...burns.slice(index, index + 1)]),
  ];
  const made = plans.map(signed);

  expect(made.map(({ weight }) => weight)).toEqual(plans.map(plannedWeight));
  expect(made.map(({ weight }) => weight)).toEqual(quote.transactions.map(({ weight }) => weight));
  expect(made.map(({ fee }) => fee)).toEqual(quote.transactions.map(({ fee }) => fee));
  for (const { fee, weight } of made) {
    expect(fee).toBe((BigInt(Math.ceil(weight / 4)) * order.feeRate + 999n) / 1000n);
    expect(weight).toBeLessThanOrEqual(400_000);
  }
});

test('the wallet signs every transaction of an order', () => {
  const { wallet, signer } = testWallet();
  const keys = keysOf(wallet);
  let signedPlans = 0;
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { commit, reveals, burns } = makeOrder(terms, quote, keys);
      const chain = new ChainSigner(signer);
      for (const plan of [...(commit === null ? [] : [commit]), ...reveals, ...burns]) {
        const { weight, fee } = chain.sign(plan);
        expect([weight, fee]).toEqual([plannedWeight(plan), plan.feeMax]);
        signedPlans++;
      }
    }),
    { numRuns: propertyRuns(15) },
  );
  expect(signedPlans).toBeGreaterThan(0);
});

/** Variants of a plan with the same inputs. Each loses something, or does not name everything that it does. */
function hostileTo(plan: TransactionPlan): TransactionPlan[] {
  const { inscriptions, runes, ...bare } = plan;
  const isHeld = runes !== undefined && runes.held.length > 0;
  return [
    ...(inscriptions === undefined && !isHeld ? [] : [bare]),
    ...(inscriptions === undefined ? [] : [{ ...plan, outputs: plan.outputs.toReversed() }]),
    ...(isHeld ? [{ ...plan, runes: { ...runes, rest: runes.rest + 1 } }] : []),
    ...(runes == null || runes.runestone === null ? [] : [{ ...plan, outputs: plan.outputs.slice(0, -1) }]),
    ...(plan.reveals === undefined
      ? []
      : [{ ...plan, reveals: plan.reveals.map((reveal) => ({ ...reveal, output: reveal.output + 1 })) }]),
  ];
}

test('the wallet signs them for any contents of parents and payments, and these go where they belong', () => {
  const { wallet, signer } = testWallet();
  const keys = keysOf(wallet);
  const runes = fc.uniqueArray(
    fc.record({
      id: fc.nat({ max: 3 }).map((tx) => ({ block: asU128(840_000), tx })),
      amount: fc.bigInt({ min: 1n, max: 2n ** 100n }).map(asU128),
    }),
    { selector: ({ id }) => id.tx, maxLength: 3 },
  );
  const contents = fc.tuple(runes, fc.uniqueArray(fc.bigInt({ min: 0n, max: 329n }), { maxLength: 3 }));
  const seen = { signed: 0, withRunes: 0, withInscriptions: 0 };
  fc.assert(
    fc.property(
      orders,
      somePrices,
      fc.array(contents, { minLength: 8, maxLength: 8 }),
      runes,
      (terms, given, parents, paid) => {
        const quote = quoteOrder(terms, { ...given, baseFee: given.baseFee + 20_000n, discounts: [] });
        if (quote.kind === 'refused') return;
        const chain = new ChainSigner(signer);
        const parentsHold = terms.parents.map((_, place): Holdings => {
          const [held = [], offsets = []] = parents[place % 8] ?? [];
          return {
            runes: held,
            inscriptions: offsets.map((offset, each) => ({ id: `${place}i${each}`, offset })),
          };
        });
        const made = makeOrder(terms, quote, keys, {
          payments: [quote.amount + 50_000n],
          parents: terms.parents.map(({ value }) => value),
          paymentsHold: [{ inscriptions: [], runes: paid }],
          parentsHold,
        });
        const plans = [...(made.commit === null ? [] : [made.commit]), ...made.reveals, ...made.burns];
        chain.know(made.came);
        for (const plan of plans) {
          for (const hostile of hostileTo(plan)) expect(() => chain.sign(hostile)).toThrow(/is refused/u);
          chain.sign(plan);
          seen.signed++;
          if (plan.runes !== undefined && plan.runes.held.length > 0) seen.withRunes++;
          if (plan.inscriptions !== undefined) seen.withInscriptions++;
        }
      },
    ),
    { numRuns: propertyRuns(15) },
  );
  expect(Math.min(seen.signed, seen.withRunes, seen.withInscriptions)).toBeGreaterThan(0);
});
