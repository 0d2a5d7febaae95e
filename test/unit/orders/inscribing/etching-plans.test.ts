import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { etchedHere } from '#kernel/runes/rune-id.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { storedTerms, termsOf } from '#orders/order/stored-terms.ts';
import { keptSizeFees, quotedLayout } from '#orders/pricing/quoted-layout.ts';
import { orderTerms } from '#test/builders/order-terms.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { ChainSigner, testWallet } from '#test/support/wallet/plans.ts';
import { commits } from '#test/unit/indexer/ledger/runes/committing.ts';
import { etchingOrders, keysOf, makeOrder, p2tr, prices, somePrices, textFile } from './made-orders.ts';

const feeOf = ({ inputs, outputs }: TransactionPlan): bigint => valueOf(inputs) - valueOf(outputs);

test('an etching costs what its two transactions pay, and its receiver gets a postage for each file and the premine', () => {
  let etched = 0;
  fc.assert(
    fc.property(etchingOrders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      etched++;
      const { commit, reveals } = makeOrder(terms, quote);
      const [reveal] = reveals;
      expect([commit === null, reveals.length]).toEqual([false, 1]);
      const plans = [commit!, reveal!];
      const fees = plans.reduce((sum, plan) => sum + feeOf(plan), 0n);
      const kept = valueOf(reveal!.outputs.filter(({ kind }) => kind === 'service' || kind === 'anchor'));
      const received = reveal!.outputs.filter(({ kind }) => kind === 'postage');
      expect(fees + kept + valueOf(received)).toBe(quote.amount);
      const hasPremine = (terms.etching!.premine ?? 0) !== 0;
      expect(valueOf(received)).toBe(quote.postage * BigInt(terms.files.length + (hasPremine ? 1 : 0)));
      expect(received.every(({ script }) => script === terms.receivers[0])).toBe(true);
      // a size fee on tiny base fees can turn the anchor into an output that is kept, which weighs more
      if (quote.sizeFee === 0n || quote.layout.reveals[0]!.own.kind === 'service')
        expect(plans.map(plannedWeight)).toEqual(quote.transactions.map(({ weight }) => weight));
    }),
    { numRuns: propertyRuns(300) },
  );
  expect(etched).toBeGreaterThan(50);
});

test('its reveal claims the name, waits five blocks, and etches the ordered rune by the rules of blocks', () => {
  fc.assert(
    fc.property(etchingOrders, (terms) => {
      const quote = quoteOrder(terms, prices);
      if (quote.kind === 'refused') return;
      const plan = makeOrder(terms, quote).reveals[0]!;
      const etching = terms.etching!;
      const revealing = plan.inputs.filter(({ path }) => path === 'leaf');
      expect(revealing).toHaveLength(1);
      const { leafScript, sequence } = revealing[0]!;
      if (etching.rune === null) expect(sequence).toBe(0xffff_fffd);
      else {
        expect(sequence).toBe(5);
        expect(commits(runeLetters(etching.rune), leafScript!)).toBe(true);
      }
      const flow = runeFlow(plan.outputs, []);
      expect(flow.artifact).toMatchObject({ kind: 'runestone', etching, edicts: [], mint: null });
      expect(flow.burned).toEqual([]);
      const premine = etching.premine ?? 0;
      expect(flow.given.map(({ id, amount }) => ({ id, amount }))).toEqual(
        premine === 0 ? [] : [{ id: etchedHere, amount: premine }],
      );
      for (const { output } of flow.given) {
        expect(plan.outputs[output]).toMatchObject({ kind: 'postage', script: terms.receivers[0] });
        // the premine is in another output than the inscriptions, so that each can be sold without the other
        expect(plan.reveals?.some((reveal) => reveal.output === output) ?? false).toBe(false);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('the wallet signs etchings, and none whose premine would go elsewhere', () => {
  const { wallet, signer } = testWallet();
  const keys = keysOf(wallet);
  let signed = 0;
  fc.assert(
    fc.property(etchingOrders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { commit, reveals } = makeOrder(terms, quote, keys);
      const [reveal] = reveals;
      const chain = new ChainSigner(signer);
      expect(chain.sign(commit!).weight).toBe(plannedWeight(commit!));
      const runes = reveal!.runes!;
      const hostile: TransactionPlan[] = [
        { ...reveal!, outputs: reveal!.outputs.slice(0, -1) },
        { ...reveal!, runes: { ...runes, rest: runes.rest + 1 } },
        { ...reveal!, runes: { ...runes, runestone: null } },
        ...(runes.given.length === 0 ? [] : [{ ...reveal!, runes: { ...runes, given: [] } }]),
      ];
      for (const plan of hostile) expect(() => chain.sign(plan)).toThrow();
      expect(chain.sign(reveal!).weight).toBe(plannedWeight(reveal!));
      signed++;
    }),
    { numRuns: propertyRuns(40) },
  );
  expect(signed).toBeGreaterThan(5);
});

test('the layout of a stored etching is that of its quote', () => {
  fc.assert(
    fc.property(etchingOrders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { sizeFees } = quote.layout;
      const stored = {
        ...keptSizeFees(quote.layout),
        chainFee: Number(quote.chainFee),
        serviceFee: Number(quote.serviceFee),
        baseFee: Number(quote.baseFee),
        additionalFeeCharged: Number(quote.additionalFeeCharged),
        postage: Number(quote.postage),
        amount: Number(quote.amount),
      };
      expect(sizeFees.all).toBe(quote.sizeFee);
      expect(quotedLayout(termsOf(storedTerms(terms)), stored)).toEqual(quote.layout);
    }),
    { numRuns: propertyRuns(100) },
  );
});

const plain = { type: 'bulk', etching: plainEtching } as const;

test('files of an etching that do not fit into one transaction are refused', () => {
  const files = [textFile(300_000), textFile(200_000)];
  const refusal = quoteOrder(orderTerms(files, [p2tr(1)], plain), prices);
  expect(refusal).toMatchObject({
    code: 'etching-files',
    reason: expect.stringContaining('space for only the first 1 files') as unknown,
  });
});

test.each<[string, Partial<OrderTerms>]>([
  ['direct', { type: 'direct' }],
  ['to two receivers', { receivers: [p2tr(1), p2tr(2)], files: [textFile(1), textFile(1)] }],
  ['burned', { burn: true }],
  ['uncursed', { uncurse: true }],
])('an etching that is %s is refused', (_words, more) => {
  expect(quoteOrder({ ...orderTerms([], [p2tr(1)], plain), ...more }, prices)).toMatchObject({
    code: 'etching-alone',
  });
});
