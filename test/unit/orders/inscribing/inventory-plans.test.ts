import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import type { PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import type { InventoryTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { pointerOf, postageOf, settleTerms } from '#orders/inscribing/settled-terms.ts';
import { excessOf, givenByInventory, settlementsOf } from '#orders/ledger/settlements.ts';
import { storedPlan } from '#orders/making/sign-and-store.ts';
import type { Settlement } from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { ChainSigner, plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import {
  dummyKeys,
  inscriptionId,
  inventoryOrders,
  keysOf,
  makeOrder,
  oneFile,
  p2tr,
  prices,
  somePrices,
} from './made-orders.ts';

/**
 * Destinations of the inputs' sats, first in, first out. Each piece says how many sats go to which output, and from
 * which position of the input.
 */
function flow({ inputs, outputs }: TransactionPlan) {
  const pieces: { input: number; output: number; at: bigint; sats: bigint }[] = [];
  let output = 0;
  let at = 0n;
  for (const [input, { value }] of inputs.entries()) {
    for (let left = value; left > 0n && output < outputs.length; ) {
      const room = outputs[output]!.value - at;
      const sats = left < room ? left : room;
      if (sats > 0n) pieces.push({ input, output, at, sats });
      left -= sats;
      at += sats;
      if (at === outputs[output]!.value) {
        output++;
        at = 0n;
      }
    }
  }
  return pieces;
}

/**
 * Checks a reveal that spends an output of the inventory. A postage must begin with the wanted sat, and all other sats
 * must return to the output's key.
 */
function expectOnSat(reveal: TransactionPlan, { value, place }: InventoryTerms, postage: bigint): void {
  const kinds = reveal.outputs.map(({ kind }) => kind);
  let before = 0n;
  for (const { input, output, at, sats } of flow(reveal)) {
    const kind = kinds[output]!;
    if (input === 0) {
      expect(['inventory', 'postage']).toContain(kind);
      if (kind === 'postage') expect([before, at, sats]).toEqual([place, 0n, postage]);
      before += sats;
    } else expect(['service', 'anchor']).toContain(kind);
  }
  expect(before).toBe(value);
  const back = reveal.outputs.filter(({ kind }) => kind === 'inventory');
  expect(valueOf(back)).toBe(value - postage);
  for (const { own, script } of back) {
    expect(own?.key).toEqual({ branch: 2, index: 4 });
    expect(script).toEqual(reveal.inputs[0]!.script);
  }
}

/** A planned transaction as it is stored. */
const storedAs = (plan: TransactionPlan, kind: 'commit' | 'reveal', index: number) => ({
  txid: dummyKeys.txidOf(plan),
  kind,
  index: Math.max(0, index),
  files: kind === 'commit' ? 0 : 1,
  plan: storedPlan(plan, []),
  // an excess payment can turn an anchor into an output of ours, which weighs more, so the fee is computed
  fee: Number(valueOf(plan.inputs) - valueOf(plan.outputs)),
  height: null,
  madeAt: new Date(),
  sentAt: null,
  refusal: null,
});

/** Balances after settlements. Before them, this amount is owed. */
function balancesAfter(owed: bigint, settlements: readonly Settlement[]): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>([['owed', owed]]);
  const add = (account: string, sats: bigint) => balances.set(account, (balances.get(account) ?? 0n) + sats);
  for (const { from, parts } of settlements) {
    for (const { to, sats } of parts) {
      add(from, -sats);
      add(to, sats);
    }
  }
  return balances;
}

describe('an order of sats of the inventory', () => {
  test('puts each file on its sat, takes the postage, and returns all other sats to the inventory, at the quoted price', () => {
    let several = 0;
    let committed = 0;
    fc.assert(
      fc.property(inventoryOrders, somePrices, (terms, given) => {
        const quote = quoteOrder(terms, given);
        if (quote.kind === 'refused') return;
        const { commit, reveals } = makeOrder(terms, quote);
        const inventory = terms.inventory!;
        const postage = postageOf(terms);
        expect(reveals).toHaveLength(terms.files.length);
        expect(commit === null).toBe(terms.type === 'direct' && terms.files.length === 1);
        if (commit !== null) committed++;
        if (reveals.length > 1) several++;
        for (const [file, reveal] of reveals.entries()) {
          const sat = inventory[file]!;
          // By ord's rules the pointer counts sats from the start of all outputs. These are the sats of the inputs, in
          // order.
          expect(pointerOf(settleTerms(terms), { first: file }, 0)).toBe(sat.place);
          expectOnSat(reveal, sat, postage);
          const postages = reveal.outputs.filter(({ kind }) => kind === 'postage');
          expect(postages.map(({ script }) => script)).toEqual([
            terms.receivers[terms.receivers.length === 1 ? 0 : file],
          ]);
        }
        // the price is exactly what the transactions cost
        const plans = [...(commit === null ? [] : [commit]), ...reveals];
        expect(plans.map(plannedWeight)).toEqual(quote.transactions.map(({ weight }) => weight));
        expect(plans.map((plan) => valueOf(plan.inputs) - valueOf(plan.outputs))).toEqual(
          quote.transactions.map(({ fee }) => fee),
        );
        const paid = reveals.flatMap(({ inputs }) => inputs.slice(1));
        expect(valueOf(paid) + (commit === null ? 0n : quote.layout.commit!.fee)).toBe(quote.amount);
        // if our share would be dust, it is an anchor
        const own = reveals.map(
          ({ outputs }) => outputs.find(({ kind }) => kind === 'service' || kind === 'anchor')!,
        );
        expect(valueOf(own)).toBe(quote.amount - quote.transactions.reduce((sum, { fee }) => sum + fee, 0n));
      }),
      { numRuns: propertyRuns(300) },
    );
    expect(several).toBeGreaterThan(18);
    expect(committed).toBeGreaterThan(several);
  });

  test('has a ledger in which the inventory gives the postage, and an excess payment is the customer’s', () => {
    fc.assert(
      fc.property(
        inventoryOrders,
        somePrices,
        fc.bigInt({ min: 0n, max: 100_000n }),
        (terms, given, more) => {
          const quote = quoteOrder(terms, given);
          if (quote.kind === 'refused') return;
          const payments = [quote.amount + more];
          const { commit, reveals } = makeOrder(terms, quote, dummyKeys, { payments, parents: [] });
          const plans = commit === null ? reveals : [commit, ...reveals];
          const made = plans.map((plan) =>
            storedAs(plan, plan === commit ? 'commit' : 'reveal', reveals.indexOf(plan)),
          );
          const excess = excessOf({ amount: quote.amount }, made);
          const own =
            plans[0]!.outputs.find(({ kind }) => kind === 'service' || kind === 'change')?.value ?? 0n;
          // our share of a low price is dust without the excess payment, so the refund contains it, too
          const owed = own - more < 330n ? own : more;
          expect(excess?.owed ?? 0n).toBe(more < 330n ? 0n : owed);
          const facts = {
            excess,
            given: new Set<string>(),
            deposits: new Set<string>(),
            ours: new Set<string>(),
          };
          const balances = balancesAfter(quote.amount + more, settlementsOf(made, facts));
          const postage = postageOf(terms);
          const postages = made.map(({ plan }) => givenByInventory(plan)).filter((sats) => sats > 0n);
          expect(postages).toEqual(terms.files.map(() => postage));
          const all = postage * BigInt(terms.files.length);
          expect(balances.get('inventory')).toBe(-all);
          expect(balances.get('postage')).toBe(all);
          expect(balances.get('owed')).toBe(excess?.owed ?? 0n);
          expect(balances.get('fee')).toBe(BigInt(made.reduce((sum, { fee }) => sum + fee, 0)));
        },
      ),
      { numRuns: propertyRuns(100) },
    );
  });

  const terms: OrderTerms = { ...oneFile, inventory: [{ value: 10_000n, place: 4_000n }] };
  const [sat] = terms.inventory!;

  test.each<[string, Partial<OrderTerms>]>([
    [
      'batchMode shared-output',
      { files: [...oneFile.files, ...oneFile.files], inventory: [sat!, sat!], batchMode: 'shared-output' },
    ],
    ['parents', { parents: [{ id: inscriptionId(5), value: 10_000n, returnScript: p2tr(1) }] }],
    ['uncurseIt', { uncurse: true }],
    ['burnAfterInscribe', { burn: true }],
  ])('is refused with fields that %s does not allow', (word, more) => {
    expect(quoteOrder({ ...terms, ...more }, prices)).toMatchObject({
      code: 'inventory-alone',
      reason: expect.stringContaining(word) as string,
    });
  });

  test('has no more files than an order has reveals', () => {
    const files = Array.from({ length: 151 }, () => oneFile.files[0]!);
    expect(quoteOrder({ ...terms, files, inventory: files.map(() => sat!) }, prices)).toMatchObject({
      code: 'inventory-files',
      reason: expect.stringContaining('at most 150 files and delegates, because') as string,
    });
  });

  test('has a warning that it would have been cursed before the jubilee', () => {
    const quote = quoteOrder(terms, prices);
    expect(quote.kind === 'quote' && quote.warnings.map(({ code }) => code)).toContain('vindicated');
  });

  describe('is signed by the wallet', () => {
    const { wallet, signer } = testWallet();
    const keys = keysOf(wallet);

    test('for any output and any files', () => {
      fc.assert(
        fc.property(inventoryOrders, somePrices, (each, given) => {
          const quote = quoteOrder(each, given);
          if (quote.kind === 'refused') return;
          const { commit, reveals } = makeOrder(each, quote, keys);
          const chain = new ChainSigner(signer);
          for (const plan of [...(commit === null ? [] : [commit]), ...reveals])
            expect(chain.sign(plan).fee).toBe(plan.feeMax);
        }),
        { numRuns: propertyRuns(15) },
      );
    });

    const quote = quoteOrder(terms, prices);
    const reveal = quote.kind === 'quote' ? makeOrder(terms, quote, keys).reveals[0]! : null;
    const own = { key: { branch: 1, index: 3 }, leafScript: null } as const;
    const ownScript = wallet.addressOf(own).script;
    const other = (plan: TransactionPlan, place: number, more: Partial<PlannedOutput>): TransactionPlan => ({
      ...plan,
      outputs: plan.outputs.map((output, at) => (at === place ? { ...output, ...more } : output)),
    });
    const faults: readonly (readonly [string, RegExp, (plan: TransactionPlan) => TransactionPlan])[] = [
      ['gives less back', /all of its other sats/u, (plan) => other(plan, 0, { value: 3_999n })],
      [
        'gives back to revenue',
        /an output of kind change/u,
        (plan) => other(plan, 0, { kind: 'change', own }),
      ],
      [
        'gives back to other keys',
        /other keys of the wallet/u,
        (plan) => other(plan, 2, { own, script: ownScript }),
      ],
      [
        'pays revenue to a key of the inventory',
        /other sats to a key of the inventory/u,
        (plan) => other(plan, 3, { own: plan.outputs[0]!.own!, script: plan.outputs[0]!.script }),
      ],
      [
        'burns sats beside its runestone',
        /an output of kind burn/u,
        (plan) => ({
          ...plan,
          outputs: [...plan.outputs, { kind: 'burn', script: Buffer.from('6a5d', 'hex'), value: 1n }],
        }),
      ],
      ['is a refund', /an output of kind refund/u, (plan) => other(plan, 3, { kind: 'refund' })],
      ['takes two postages', /one postage/u, (plan) => other(plan, 2, { kind: 'postage' })],
      ['takes more than a postage', /one postage/u, (plan) => other(plan, 1, { value: 10_001n })],
      [
        'puts revenue among its sats',
        /all of its other sats/u,
        (plan) => ({ ...plan, outputs: [plan.outputs[3]!, ...plan.outputs.slice(0, 3)] }),
      ],
      [
        'comes after the payment',
        /first input alone/u,
        (plan) => ({ ...plan, inputs: plan.inputs.toReversed() }),
      ],
      [
        'spends two outputs of the inventory',
        /first input alone/u,
        (plan) => ({ ...plan, inputs: [...plan.inputs, { ...plan.inputs[0]!, vout: 9 }] }),
      ],
      ['pays it for nothing', /spends nothing of it/u, (plan) => ({ ...plan, inputs: plan.inputs.slice(1) })],
      [
        'is a bump',
        /not of the service's own keys/u,
        (plan) => ({
          ...plan,
          inputs: plan.inputs.slice(0, 1),
          outputs: [{ kind: 'bump', own, script: ownScript, value: 9_000n }],
        }),
      ],
    ];

    test('with a runestone, which takes no sats', () => {
      const runestone: PlannedOutput = { kind: 'burn', script: Buffer.from('6a5d021601', 'hex'), value: 0n };
      const paying = other(reveal!, 3, { value: reveal!.outputs[3]!.value - 100n });
      const route = routeRunestone({ edicts: [], pointer: 1 });
      const runes = { held: [], given: [], burned: [], rest: 1, runestone: route };
      const plan = {
        ...paying,
        outputs: [...paying.outputs, runestone],
        feeMax: reveal!.feeMax + 100n,
        runes,
      };
      expect(signer.signPlan(plan, plainInputs(plan)).fee).toBe(plan.feeMax);
      const { runes: _, ...unnamed } = plan;
      expect(() => signer.signPlan(unnamed, plainInputs(plan))).toThrow(/a runestone that it does not name/u);
    });

    test.each(faults)('unless it %s', (_name, reason, change) => {
      expect(() => signer.signPlan(change(reveal!), plainInputs(change(reveal!)))).toThrow(reason);
    });
  });
});
