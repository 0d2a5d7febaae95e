import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { DiscountedFee } from '#kernel/contracts/asking-key.ts';
import type { PlannedOutputKind, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { layoutOrder } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { planReveal } from '#orders/inscribing/plan-transactions.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { revealLeaf } from '#orders/inscribing/reveal-leaf.ts';
import { pointerOf, settleTerms } from '#orders/inscribing/settled-terms.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  arrived,
  inscriptionId,
  makeOrder,
  oneFile,
  orders,
  p2pkh,
  p2tr,
  prices,
  service,
  somePrices,
  textFile,
} from './made-orders.ts';

const feeOf = ({ inputs, outputs }: TransactionPlan): bigint => valueOf(inputs) - valueOf(outputs);
const ofKind = (plan: TransactionPlan, ...kinds: readonly PlannedOutputKind[]) =>
  plan.outputs.filter(({ kind }) => kinds.includes(kind));

/** The fee that a signed transaction should pay: virtual size times rate, rounded up. */
function feeAt(plan: TransactionPlan, feeRate: bigint): bigint {
  const product = BigInt(Math.ceil(plannedWeight(plan) / 4)) * feeRate;
  return product / 1000n + (product % 1000n === 0n ? 0n : 1n);
}

function expectPaid(plan: TransactionPlan, { feeRate }: OrderTerms): void {
  expect(feeOf(plan)).toBe(feeAt(plan, feeRate));
  expect(plan.feeMax).toBe(feeOf(plan));
  for (const { value, script, kind } of plan.outputs) {
    if (kind !== 'burn') expect(value).toBeGreaterThanOrEqual(BigInt(dustOf(script)));
  }
}

test('transactions built for a quoted amount match the quote to the sat', () => {
  let quoted = 0;
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      quoted++;
      const { commit, reveals, burns } = makeOrder(terms, quote);
      const { layout } = quote;

      for (const plan of [...(commit === null ? [] : [commit]), ...reveals, ...burns])
        expectPaid(plan, terms);
      expect(commit === null ? undefined : plannedWeight(commit)).toBe(layout.commit?.weight);
      // a size fee on tiny base fees can turn an anchor into an output that is kept
      const isQuoted = (index: number): boolean =>
        layout.reveals[index]?.own.kind === 'service' || quote.sizeFee === 0n;
      const weights = (plans: readonly TransactionPlan[]) =>
        plans.filter((_, index) => isQuoted(index)).map((plan) => [plannedWeight(plan), feeOf(plan)]);
      const quotedReveals = layout.reveals.filter((_, index) => isQuoted(index));
      expect(weights(reveals)).toEqual(quotedReveals.map(({ weight, fee }) => [weight, fee]));
      expect(weights(burns)).toEqual(
        quotedReveals.flatMap(({ burn }) => (burn === null ? [] : [[burn.weight, burn.fee]])),
      );
    }),
    { numRuns: propertyRuns(400) },
  );
  expect(quoted).toBeGreaterThan(40);
});

test('discounts lower the fees that they name, and nothing else', () => {
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { discounts } = given;
      const after: Record<DiscountedFee, bigint> = { ...given };
      for (const { discount, parameter, type } of discounts) {
        // the customer gets a sat that a percentage would split
        const exact = BigInt(Math.round(discount * 100));
        const fee = given[parameter];
        const left = type === 'fixed' ? fee - exact / 100n : (fee * (10_000n - exact)) / 10_000n;
        after[parameter] = left < 0n ? 0n : left;
        expect(quote[parameter]).toBe(after[parameter]);
        expect(quote[parameter] >= 0n && quote[parameter] <= fee).toBe(true);
      }
      // miners' fees, postage and other parties' shares equal those of a service with these prices
      const plain = quoteOrder(terms, { ...given, ...after, discounts: [] });
      expect(quote).toEqual({ ...plain, discounts });
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('every sat of an amount is postage, a fee, or ours, as its formula says', () => {
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { commit, reveals, burns } = makeOrder(terms, quote);
      const plans = [...(commit === null ? [] : [commit]), ...reveals, ...burns];
      const fees = plans.reduce((total, plan) => total + feeOf(plan), 0n);
      const lasts = terms.burn ? burns : reveals;
      const ours = valueOf(lasts.flatMap((plan) => ofKind(plan, 'service', 'anchor')));
      const inscriptions = valueOf(lasts.flatMap((plan) => ofKind(plan, 'postage', 'burn')));
      expect(fees + ours + inscriptions).toBe(quote.amount);
      expect(inscriptions).toBe(quote.postage * BigInt(quote.count));

      const { baseFee, rareSatsFee, collectionServiceFee, price, additionalFeeCharged, sizeFee } = quote;
      const perFile = baseFee + rareSatsFee + collectionServiceFee + price + quote.postage;
      expect(quote.serviceFee).toBe(perFile * BigInt(quote.count) + additionalFeeCharged + sizeFee);
      expect(quote.amount).toBe(quote.serviceFee + quote.chainFee);
      expect(sizeFee).toBe(
        terms.type === 'direct' ? 0n : (quote.chainFee * BigInt(given.sizeFeePercent)) / 100n,
      );
      expect(additionalFeeCharged).toBe(terms.additionalFee * BigInt(terms.files.length));
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('a reveal of many files and its burn fit together into what nodes take', () => {
  const many = Array.from({ length: 10_000 }, () => textFile(20));
  const quote = quoteOrder({ ...oneFile, files: many, burn: true }, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const { reveals } = quote.layout;
  expect(reveals.length).toBeGreaterThan(5);
  for (const { weight, burn } of reveals) expect(weight + burn!.weight).toBeLessThanOrEqual(390_000);
  // each reveal except the last has as many files as fit
  for (const { weight, burn } of reveals.slice(0, -1)) expect(weight + burn!.weight).toBeGreaterThan(389_000);
});

/** The output of a plan to which a sat of its inputs moves, and the sat's offset in the output. */
function placeOf({ outputs }: TransactionPlan, sat: bigint): { vout: number; offset: bigint } {
  let start = 0n;
  for (const [vout, { value }] of outputs.entries()) {
    if (sat < start + value) return { vout, offset: sat - start };
    start += value;
  }
  throw new Error('a fee');
}

/** Destinations of a reveal's inscriptions and of all sats of its parents, by ord's rules. */
function placesIn(terms: OrderTerms, plan: TransactionPlan, first: number, count: number) {
  const leafAt = plan.inputs.findIndex(({ path }) => path === 'leaf');
  const before = valueOf(plan.inputs.slice(0, leafAt));
  const settled = settleTerms(terms);
  const inscriptions = Array.from({ length: count }, (_, place) =>
    placeOf(plan, pointerOf(settled, { first }, place) ?? before),
  );
  return { inscriptions, first, leafAt };
}

test('each inscription is on the first sat of its postage, and each parent returns whole', () => {
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { reveals } = makeOrder(terms, quote);
      for (const [index, plan] of reveals.entries()) {
        const { first, count } = quote.layout.reveals[index]!;
        const { inscriptions, leafAt } = placesIn(terms, plan, first, count);
        for (const [place, { vout, offset }] of inscriptions.entries()) {
          const isShared = terms.batchMode === 'shared-output';
          expect(offset).toBe(isShared ? quote.postage * BigInt(place) : 0n);
          const script = terms.receivers[terms.receivers.length === 1 ? 0 : first + place]!;
          expect(plan.outputs[vout]).toMatchObject(
            terms.burn ? { kind: 'burn' } : { kind: 'postage', script },
          );
        }
        const isUncursed = terms.uncurse && terms.parents.length > 0;
        const firstParent = isUncursed ? 1 : 0;
        expect(leafAt).toBe(isUncursed ? 0 : terms.parents.length);
        for (const [parent, { value }] of terms.parents.entries()) {
          const start = valueOf(plan.inputs.slice(0, firstParent + parent));
          const { vout, offset } = placeOf(plan, start);
          expect(offset).toBe(0n);
          expect(plan.outputs[vout]).toMatchObject({ kind: 'parent', value });
        }
      }
      // the last reveal returns the parents
      const last = ofKind(reveals.at(-1)!, 'parent').map(({ script }) => script);
      expect(last).toEqual(terms.parents.map(({ returnScript }) => returnScript));
    }),
    { numRuns: propertyRuns(200) },
  );
});

const key = new Uint8Array(32).fill(9);
const group = { first: 0, count: 1 };

test('a payment in parts, or above the amount, changes only our output', () => {
  const quote = quoteOrder(oneFile, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const leaf = revealLeaf(oneFile, group, key);
  const parts = [arrived(1000n, leaf), arrived(quote.amount - 1000n, leaf)] as const;
  const plan = planReveal(oneFile, group, { payments: parts, parents: [], service });
  if ('kind' in plan) throw new Error(plan.reason);
  expect(plan.inputs.map(({ path }) => path)).toEqual(['leaf', 'key']);
  expect(plan.outputs.map(({ kind }) => kind)).toEqual(['postage', 'service']);
  // 57.5 virtual bytes at 2 sat/vB, give or take the rounding
  expect(2000n - plan.outputs[1]!.value).toBeGreaterThanOrEqual(114n);
  expect(2000n - plan.outputs[1]!.value).toBeLessThanOrEqual(116n);

  const over = planReveal(oneFile, group, {
    payments: [arrived(quote.amount + 777n, leaf)],
    parents: [],
    service,
  });
  expect('kind' in over ? null : over.outputs[1]?.value).toBe(2777n);
});

test('a short payment is refused with the missing sats', () => {
  const leaf = revealLeaf(oneFile, group, key);
  const plan = planReveal(oneFile, group, { payments: [arrived(800n, leaf)], parents: [], service });
  expect(plan).toMatchObject({ kind: 'refused', code: 'payment-short' });
  const missing = 'missing' in plan ? plan.missing! : 0n;
  const enough = planReveal(oneFile, group, {
    payments: [arrived(800n + missing, leaf)],
    parents: [],
    service,
  });
  expect('kind' in enough ? enough.reason : enough.outputs[1]).toEqual({
    kind: 'anchor',
    value: 240n,
    script: Uint8Array.of(0x51, 0x02, 0x4e, 0x73),
  });
});

const family: OrderTerms = {
  ...oneFile,
  files: [1, 2, 3].map((fill) => textFile(new Uint8Array(50).fill(fill))),
  postage: 1000n,
  parents: [{ id: inscriptionId(5), value: 10_000n, returnScript: p2tr(3) }],
};

test.each([-1000n, -600n, -1n, 1n, 454n, 670n])(
  'parents with %i sats more than named return whole, and the inscriptions stay apart',
  (differs) => {
    for (const batchMode of ['separate-outputs', 'shared-output'] as const) {
      const terms = { ...family, batchMode };
      const quote = quoteOrder(terms, prices);
      if (quote.kind === 'refused') throw new Error(quote.reason);
      const leaf = revealLeaf(terms, quote.layout.reveals[0]!, key);
      const plan = planReveal(terms, quote.layout.reveals[0]!, {
        payments: [arrived(quote.amount, leaf)],
        parents: [arrived(10_000n + differs)],
        service,
      });
      if ('kind' in plan) throw new Error(plan.reason);
      expect(plan.outputs[0]).toMatchObject({ kind: 'parent', value: 10_000n + differs });
      const { inscriptions } = placesIn(terms, plan, 0, 3);
      if (batchMode === 'separate-outputs') {
        expect(inscriptions.map(({ vout }) => vout)).toEqual([1, 2, 3]);
        expect(inscriptions.map(({ offset }) => offset)).toEqual([0n, 0n, 0n]);
      } else {
        expect(inscriptions.map(({ vout }) => vout)).toEqual([1, 1, 1]);
        expect(new Set(inscriptions.map(({ offset }) => offset)).size).toBe(3);
      }
    }
  },
);

test('a runestone for the runes of parents is the last output, and the service pays for it', () => {
  const quote = quoteOrder(family, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const leaf = revealLeaf(family, quote.layout.reveals[0]!, key);
  const funds = {
    payments: [arrived(quote.amount, leaf)],
    parents: [arrived(10_000n)],
    service,
    route: { edicts: [], pointer: 0 },
  } as const;
  const plan = planReveal(family, quote.layout.reveals[0]!, funds);
  if ('kind' in plan) throw new Error(plan.reason);
  expect(plan.outputs.map(({ kind }) => kind)).toEqual([
    'parent',
    'postage',
    'postage',
    'postage',
    'service',
    'burn',
  ]);
  expect(plan.outputs.at(-1)).toEqual({
    script: Uint8Array.of(0x6a, 0x5d, 0x02, 0x16, 0x00),
    value: 0n,
    kind: 'burn',
  });
  // 14 virtual bytes at 2 sat/vB
  expect(plan.outputs[4]?.value).toBe(3n * 2000n - 28n);
  expect(feeOf(plan)).toBe(feeAt(plan, family.feeRate));
});

test('parents whose value would move inscriptions into other outputs are refused', () => {
  const quote = quoteOrder(family, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const leaf = revealLeaf(family, quote.layout.reveals[0]!, key);
  const plan = planReveal(family, quote.layout.reveals[0]!, {
    payments: [arrived(quote.amount, leaf)],
    parents: [arrived(10_671n)],
    service,
  });
  expect(plan).toMatchObject({ code: 'parent-value-differs' });
});

const code = (terms: Partial<OrderTerms>): string => {
  const layout = layoutOrder({ ...oneFile, ...terms }, { amount: 2000n, size: { percent: 0 } });
  return layout.kind === 'refused' ? layout.code : layout.paidTo;
};
const parent = (fill: number, value = 546n) => ({
  id: inscriptionId(fill),
  value,
  returnScript: p2tr(1),
});
const files = (count: number, bytes = 1) => Array.from({ length: count }, () => textFile(bytes));

test.each<[string, Partial<OrderTerms>]>([
  ['no-files', { files: [] }],
  ['too-many-files', { files: files(10_001) }],
  ['receivers-count', { receivers: [] }],
  ['receivers-count', { files: files(2), receivers: [p2tr(1), p2tr(1), p2tr(1)] }],
  ['receivers-differ', { files: files(2), receivers: [p2tr(1), p2tr(2)], batchMode: 'shared-output' }],
  ['burn-shared', { files: files(19), burn: true, batchMode: 'shared-output' }],
  ['direct', { files: files(18), burn: true, batchMode: 'shared-output' }],
  ['postage-bounds', { postage: 329n }],
  ['postage-bounds', { postage: 10_001n }],
  ['postage-dust', { postage: 545n, receivers: [p2pkh] }],
  ['fee-rate-bounds', { feeRate: 99n }],
  ['fee-rate-bounds', { feeRate: 10_000_001n }],
  ['additional-fee-bounds', { additionalFee: -1n }],
  ['parent-repeated', { parents: [parent(1), parent(1)] }],
  ['parent-dust', { parents: [parent(1, 329n)] }],
  ['parent-dust', { parents: [{ ...parent(1, 545n), returnScript: p2pkh }] }],
  ['uncurse-impossible', { uncurse: true, parents: [parent(1), parent(2)] }],
  ['uncurse-impossible', { uncurse: true, files: [{ ...textFile(1), metadata: 521 }] }],
  ['uncurse-impossible', { uncurse: true, files: files(2), batchMode: 'shared-output' }],
  ['content-type-long', { files: [{ ...textFile(1), contentType: 'a'.repeat(521) }] }],
  ['metaprotocol-long', { files: [{ ...textFile(1), metaprotocol: 'é'.repeat(261) }] }],
  ['reveal-too-large', { files: files(1, 397_500) }],
  ['commit-too-large', { files: files(2500), uncurse: true }],
  ['direct', { files: files(1, 395_000) }],
  ['wallet', { files: files(1, 397_500), nonStandard: true }],
  ['wallet', { files: files(1, 3_800_000), nonStandard: true }],
  ['wallet', { type: 'bulk', files: files(1, 397_500), nonStandard: true }],
  ['reveal-too-large', { files: files(1, 3_900_000), nonStandard: true }],
  ['reveal-too-large', { files: files(1, 397_500), nonStandard: true, burn: true }],
  ['non-standard-alone', { files: [...files(1), ...files(1, 397_500)], nonStandard: true }],
  ['direct', { files: files(2, 150_000) }],
  ['wallet', { files: files(2, 200_000) }],
  ['wallet', { files: files(2), uncurse: true }],
  ['direct', { files: files(1), uncurse: true }],
  ['wallet', { files: files(1), uncurse: true, parents: [parent(1)] }],
  ['direct', { files: files(1), parents: [parent(1), parent(2)] }],
  ['wallet', { type: 'bulk' }],
])('%s', (expected, terms) => {
  expect(code(terms)).toBe(expected);
});

test.each<[string, Partial<OrderTerms>]>([
  ['nodes relay', {}],
  ['a block has space for', { nonStandard: true }],
  ['of a child', { parents: [parent(1), parent(2)] }],
  ['with metadata', { files: [{ ...textFile(1), metadata: 100_000 }] }],
])('the largest content in the message fits, and one more byte does not: %s', (_, terms) => {
  const [file] = terms.files ?? files(1);
  const ofSize = (body: number): OrderTerms => ({ ...oneFile, ...terms, files: [{ ...file!, body }] });
  const refused = quoteOrder(ofSize(10_000_000), prices);
  if (refused.kind !== 'refused') throw new Error('it is too large');
  const largest = Number(/The largest content that fits has (\d+) bytes\.$/u.exec(refused.reason)?.[1]);
  expect(largest).toBeGreaterThan(290_000);
  expect(quoteOrder(ofSize(largest), prices).kind).toBe('quote');
  expect(quoteOrder(ofSize(largest + 1), prices)).toMatchObject({ code: 'reveal-too-large' });
});

test('a file with too large metadata is refused with that reason', () => {
  const terms = { ...oneFile, files: [{ ...textFile(1), metadata: 500_000 }] };
  const refused = quoteOrder(terms, prices);
  expect(refused.kind === 'refused' && refused.reason).toMatch(/ The metadata alone is too large\.$/u);
});

test('no reveal is heavier than nodes relay, and no file is left out', () => {
  const terms = { ...oneFile, files: files(10_000, 100), parents: [parent(1)] };
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const { reveals } = quote.layout;
  expect(reveals.every(({ weight }) => weight <= 400_000)).toBe(true);
  expect(reveals.reduce((next, { first, count }) => (first === next ? next + count : Number.NaN), 0)).toBe(
    10_000,
  );
  expect(quote.transactions.map(({ kind }) => kind)).toEqual(['commit', ...reveals.map(() => 'reveal')]);
});
