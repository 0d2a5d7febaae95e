import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { type OwnedOutput, planBump, type WantedBump } from '#orders/bumping/plan-bump.ts';
import { anchorScript, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { plainInputs, testWallet } from '#test/support/wallet/plans.ts';

const { wallet, signer } = testWallet();
const rules = { mempoolMinFeeRate: 100n, incrementalFeeRate: 100n };

const { script: p2tr } = wallet.ownAddress(3);

/** An output that belongs to a key of the wallet, or an anchor. Its transaction does not exist. */
function output(place: number, value: bigint, isAnchor = false): OwnedOutput {
  const txid = trustedTxid(new Uint8Array(32).fill(place % 251));
  const script = isAnchor ? anchorScript : p2tr;
  return { txid, vout: place, value, script, key: isAnchor ? null : { branch: 1, index: 3 } };
}

const restOf = (index: number) => {
  const { script, key, leafScript } = wallet.ownAddress(index);
  return { script, own: { key, leafScript } };
};
const rest = restOf(7);

/** Coins all of whose sats may be spent. */
const paying = (coins: readonly OwnedOutput[]) => ({ coins, spare: valueOf(coins) });
const alone = paying([]);

function bumpOf(more: Partial<WantedBump> = {}): WantedBump {
  const parent = { orderId: 'a', fee: 300n, virtualBytes: 300, output: output(1, 2000n), owed: 0n };
  return {
    parents: [parent],
    ancestor: { fee: 0n, virtualBytes: 0 },
    kept: [],
    replaced: null,
    feeRate: 3000n,
    paidRate: 1000n,
    budgets: new Map([['a', 20_000n]]),
    most: 1_000_000n,
    ...more,
  };
}

describe('a bump of stuck transactions', () => {
  test('spends our output of one, and raises both to the wanted rate', () => {
    const planned = planBump(bumpOf(), alone, rest, rules);
    if (planned.kind === 'none') throw new Error('there is a plan');
    // the bump has 111 virtual bytes: (300 + 111) × 3 − 300
    expect(planned.fee).toBe(933n);
    expect(planned.plan.outputs).toEqual([{ kind: 'bump', value: 1067n, ...rest }]);
    expect(planned.limit).toBeNull();
    expect(signer.signPlan(planned.plan, plainInputs(planned.plan)).fee).toBe(933n);
  });

  test('keeps runes of our output, and is refused if it does not name them', () => {
    const holds = {
      inscriptions: [],
      runes: [{ id: { block: asU128(840_000), tx: 1 }, amount: asU128(5) }],
    };
    const bump = (more: object): TransactionPlan => {
      const parent = { ...bumpOf().parents[0]!, output: { ...output(1, 2000n), ...more } };
      const planned = planBump(bumpOf({ parents: [parent] }), alone, rest, rules);
      if (planned.kind === 'none') throw new Error('there is a plan');
      return planned.plan;
    };
    expect(signer.signPlan(bump({ holds }), [holds]).holdings).toEqual([holds]);
    expect(() => signer.signPlan(bump({}), [holds])).toThrow(
      /holds 5 of rune 840000:1, but the plan names 0/u,
    );
    const inscribed = { inscriptions: [{ id: 'ai0', offset: 0n }], runes: [] };
    expect(() => signer.signPlan(bump({ holds: inscribed }), [inscribed])).toThrow(/of the kind bump/u);
  });

  test('adds the smallest sufficient coin if our output is an anchor', () => {
    const parent = { ...bumpOf().parents[0]!, output: output(1, 240n, true) };
    const coins = [output(2, 900n), output(3, 5000n), output(4, 3000n)];
    const planned = planBump(bumpOf({ parents: [parent] }), paying(coins), rest, rules);
    if (planned.kind === 'none') throw new Error('there is a plan');
    expect(planned.coins).toEqual([coins[2]]);
    signer.signPlan(planned.plan, plainInputs(planned.plan));
  });

  test('is limited by its budget or its coins, and says which', () => {
    const poor = planBump(bumpOf({ budgets: new Map([['a', 500n]]) }), alone, rest, rules);
    expect(poor).toMatchObject({ kind: 'bump', fee: 500n, limit: 'budget' });
    const bare = planBump(bumpOf({ feeRate: 9000n }), alone, rest, rules);
    expect(bare).toMatchObject({ kind: 'bump', fee: 1670n, limit: 'coins' });
    expect(planBump(bumpOf({ budgets: new Map([['a', 5n]]) }), alone, rest, rules)).toEqual({
      kind: 'none',
      limit: 'budget',
    });
  });

  test('pays no more for many orders than the signer signs', () => {
    const made = Array.from({ length: 64 }, (_, place) => ({
      ...bumpOf().parents[0]!,
      orderId: `order ${place}`,
      virtualBytes: 1500,
      output: output(place, 900n),
    }));
    const budgets = new Map(made.map(({ orderId }) => [orderId, 20_000n]));
    const wanted = bumpOf({ parents: made, budgets, feeRate: 12_000n });
    const planned = planBump(wanted, paying([output(90, 2_000_000n)]), rest, rules);
    expect(planned).toMatchObject({ kind: 'bump', fee: 1_000_000n, limit: 'budget' });
    if (planned.kind === 'bump')
      expect(signer.signPlan(planned.plan, plainInputs(planned.plan)).fee).toBe(1_000_000n);
  });

  test('leaves a customer’s sats', () => {
    const parent = { ...bumpOf().parents[0]!, output: output(1, 52_000n), owed: 50_000n };
    const planned = planBump(bumpOf({ parents: [parent], feeRate: 9000n }), alone, rest, rules);
    expect(planned).toMatchObject({ kind: 'bump', limit: 'coins', plan: { outputs: [{ value: 50_330n }] } });
  });

  test('leaves in free coins what is owed to partners, and pays with the order’s own output first', () => {
    const coin = output(2, 50_000n);
    const dear = bumpOf({ feeRate: 9000n });
    const withSpare = (spare: bigint) => planBump(dear, { coins: [coin], spare }, rest, rules);
    // the parent has 300 and the bump 169 virtual bytes; 9 sat/vB for both, minus the 300 sats that the parent paid
    expect(withSpare(50_000n)).toMatchObject({ fee: 3921n, coins: [coin], limit: null });
    // 2,000 sats of the parent's output and 1,000 of our coin
    expect(withSpare(1000n)).toMatchObject({ fee: 3000n, coins: [coin], limit: 'owed' });
    // only the sats of the parent's output, minus the dust limit of the change
    expect(withSpare(-7000n)).toMatchObject({ fee: 1670n, coins: [], limit: 'owed' });
    // the coin's input costs more than may be taken from the coin
    expect(withSpare(500n)).toMatchObject({ fee: 1670n, coins: [], limit: 'owed' });
    const poor = bumpOf({
      parents: [{ ...dear.parents[0]!, output: output(1, 240n, true) }],
      feeRate: 9000n,
    });
    expect(planBump(poor, { coins: [coin], spare: 0n }, rest, rules)).toEqual({
      kind: 'none',
      limit: 'owed',
    });
    expect(planBump(poor, { coins: [], spare: 0n }, rest, rules)).toEqual({ kind: 'none', limit: 'coins' });
    // the replacement of a bump with a coin may use only the rest of that coin
    const replacing = bumpOf({
      feeRate: 30_000n,
      kept: [coin],
      replaced: { fee: 3921n, virtualBytes: 169 },
    });
    const again = (spare: bigint) => planBump(replacing, { coins: [], spare }, rest, rules);
    expect(again(0n)).toMatchObject({ kind: 'bump', fee: 13_770n, limit: null });
    expect(again(-45_000n)).toMatchObject({ kind: 'bump', fee: 7000n, limit: 'owed' });
    expect(again(-49_000n)).toEqual({ kind: 'none', limit: 'owed' });
  });

  const amount = (max: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: 330n, max });
  const parents = fc.array(
    fc.record({
      orderId: fc.constantFrom('a', 'b', 'c'),
      fee: fc.bigInt({ min: 20n, max: 5000n }),
      virtualBytes: fc.integer({ min: 150, max: 5000 }),
      value: amount(30_000n),
      isAnchor: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  );

  test('no sat is lost, no budget is exceeded, and a replacement follows the rules of nodes', () => {
    fc.assert(
      fc.property(
        parents,
        fc.array(amount(50_000n), { maxLength: 6 }),
        fc.bigInt({ min: 100n, max: 60_000n }),
        fc.array(fc.bigInt({ min: 0n, max: 20_000n }), { minLength: 3, maxLength: 3 }),
        fc.option(fc.record({ fee: fc.bigInt({ min: 11n, max: 9000n }), virtualBytes: fc.constant(111) }), {
          nil: null,
        }),
        fc.record({
          isOwing: fc.boolean(),
          most: fc.bigInt({ min: 0n, max: 30_000n }),
          reserved: fc.bigInt({ min: 0n, max: 80_000n }),
          kept: fc.array(amount(20_000n), { maxLength: 2 }),
        }),
        (given, values, feeRate, [a = 0n, b = 0n, c = 0n], replaced, more) => {
          const { isOwing, most, reserved } = more;
          const made = given.map(({ isAnchor, value, ...parent }, place) => ({
            ...parent,
            output: output(place, isAnchor ? 240n : value, isAnchor),
            owed: isOwing && !isAnchor ? value / 2n : 0n,
          }));
          const all = new Map([
            ['a', a],
            ['b', b],
            ['c', c],
          ]);
          const budgets = new Map([...all].filter(([id]) => made.some(({ orderId }) => orderId === id)));
          const kept = replaced === null ? [] : more.kept.map((value, place) => output(40 + place, value));
          const wanted = bumpOf({ parents: made, kept, feeRate, paidRate: 100n, replaced, budgets, most });
          const coins = values.map((value, place) => output(50 + place, value));
          const free = valueOf(coins);
          const planned = planBump(wanted, { coins, spare: free - reserved }, rest, rules);
          if (planned.kind === 'none') return;
          const { plan, fee, shares, limit } = planned;
          const [left] = plan.outputs;
          expect(valueOf(plan.inputs) - left!.value).toBe(fee);
          expect(plan.feeMax).toBe(fee);
          expect(fee).toBeLessThanOrEqual(most);
          const owed = made.reduce((sum, parent) => sum + parent.owed, 0n);
          expect(left!.value).toBeGreaterThanOrEqual(owed + 330n);
          // if the bump has a coin of ours, now or in an earlier version, the sats that must stay are left
          if (plan.inputs.length > made.length)
            expect(free - valueOf(planned.coins) + left!.value - owed).toBeGreaterThanOrEqual(reserved);
          expect([...shares.values()].reduce((sum, share) => sum + share, 0n)).toBe(fee);
          for (const [id, share] of shares) expect(share).toBeLessThanOrEqual(budgets.get(id)!);
          const size = BigInt(virtualSize(plannedWeight(plan)));
          const paid = made.reduce((sum, parent) => sum + parent.fee, fee);
          const bytes = made.reduce((sum, parent) => sum + BigInt(parent.virtualBytes), size);
          if (limit === null) expect(paid * 1000n).toBeGreaterThanOrEqual(feeRate * bytes);
          expect(fee * 1000n).toBeGreaterThanOrEqual(size * rules.mempoolMinFeeRate);
          if (replaced !== null) {
            expect((fee - replaced.fee) * 1000n).toBeGreaterThanOrEqual(size * rules.incrementalFeeRate);
            expect(fee * BigInt(replaced.virtualBytes)).toBeGreaterThan(replaced.fee * size);
          }
        },
      ),
      { numRuns: propertyRuns(1000) },
    );
  });
});
