import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Arrived } from '#orders/inscribing/plan-transactions.ts';
import { planMostReturned, planReturn, type ReturnedOutput } from '#orders/parents/plan-return.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { holdingsFault } from '#wallet/holdings/holdings-fault.ts';

const p2tr = (fill: number): Uint8Array => Uint8Array.of(0x51, 0x20, ...new Uint8Array(32).fill(fill));
const own = { script: p2tr(1), own: { key: { branch: 1, index: 3 }, leafScript: null } } as const;
const arrived = (value: bigint, vout: number): Arrived => ({
  txid: trustedTxid(new Uint8Array(32)),
  vout,
  value,
  script: p2tr(2),
  key: { branch: 0, index: vout },
  leafScript: null,
});
const returnedOutput = (value: bigint, vout: number, more: Partial<ReturnedOutput> = {}): ReturnedOutput => ({
  ...arrived(value, vout),
  destination: p2tr(100 + vout),
  holds: nothingHeld,
  ...more,
});
const runestone = (): Uint8Array => Uint8Array.of(0x6a, 0x5d, 0x02, 0x16, 0x01);
const funds = { rest: null, kept: own, isOurs: false, costMax: null, feeRate: 2000n };
const refundTo = (script: Uint8Array) => ({ kind: 'refund', script }) as const;

describe('a return of deposits', () => {
  test('keeps every sat of a deposit in its place, pays with the money alone, and loses nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 330n, max: 100_000n }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.bigInt({ min: 1n, max: 20_000n }), { maxLength: 4 }),
        fc.bigInt({ min: 1000n, max: 100_000n }),
        fc.constantFrom(null, p2tr(9)),
        (values, coins, feeRate, refundScript) => {
          const deposits = values.map((value, vout) => returnedOutput(value, vout));
          const money = coins.map((value, place) => arrived(value, 50 + place));
          const rest = refundScript === null ? null : refundTo(refundScript);
          const plan = planReturn({ ...funds, holdings: deposits, money, feeRate, rest });
          const size = (inputs: number): bigint =>
            BigInt(
              Math.ceil(
                plannedWeight({
                  inputs: [...deposits, ...money]
                    .slice(0, inputs)
                    .map((one) => ({ ...one, path: 'key' as const })),
                  outputs: deposits.map(({ destination }) => ({ script: destination })),
                }) / 4,
              ),
            );
          if (plan.kind === 'short') {
            const fee = (size(values.length) * feeRate + 999n) / 1000n;
            expect(coins.reduce((sum, value) => sum + value, 0n)).toBeLessThan(
              fee + BigInt(coins.length) * 7000n,
            );
            expect(plan.missing).toBeGreaterThan(0n);
            return;
          }
          for (const [place, { value, destination }] of deposits.entries()) {
            expect(plan.inputs[place]).toMatchObject({ vout: place, value });
            expect(plan.outputs[place]).toEqual({ kind: 'parent', script: destination, value });
          }
          const spent = plan.inputs.reduce((sum, { value }) => sum + value, 0n);
          const paid = plan.outputs.reduce((sum, { value }) => sum + value, 0n);
          const fee = spent - paid;
          const least = (BigInt(Math.ceil(plannedWeight(plan) / 4)) * feeRate + 999n) / 1000n;
          expect(plan.feeMax).toBe(fee);
          expect(fee).toBeGreaterThanOrEqual(least);
          // the overpaid sats are too few for an output: they are less than dust plus the cost of the output
          const rests = plan.outputs.slice(deposits.length);
          if (rests.length > 0) expect(fee).toBe(least);
          else expect(fee - least).toBeLessThan(330n + (44n * feeRate) / 1000n);
          expect(rests.map(({ kind }) => kind)).toEqual(
            rests.length === 0 ? [] : [refundScript === null ? 'change' : 'refund'],
          );
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('names everything that deposits hold, and returns it: the wallet refuses another order', () => {
    const runes = fc.uniqueArray(
      fc.record({
        id: fc.nat({ max: 3 }).map((tx) => ({ block: asU128(840_000), tx })),
        amount: fc.bigInt({ min: 1n, max: 2n ** 100n }).map(asU128),
      }),
      { selector: ({ id }) => id.tx, maxLength: 3 },
    );
    const offsets = fc.uniqueArray(fc.bigInt({ min: 0n, max: 329n }), { maxLength: 3 });
    const contents = fc.array(fc.tuple(runes, offsets), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(contents, fc.boolean(), (all, isKept) => {
        const held = all.map(([each, places], place): Holdings => {
          const inscriptions = places.map((offset, index) => ({ id: `${place}i${index}`, offset }));
          return { inscriptions, runes: each };
        });
        const holdings = held.map((holds, vout) => returnedOutput(330n + BigInt(vout), vout, { holds }));
        const rest = isKept ? null : refundTo(p2tr(9));
        const plan = planReturn({ ...funds, holdings, money: [arrived(90_000n, 50)], rest });
        if (plan.kind === 'short') throw new Error('90,000 sats are enough');
        const known = [...held, nothingHeld];
        expect(holdingsFault(plan, known)).toBeNull();
        const isInscribed = held.some(({ inscriptions }) => inscriptions!.length > 0);
        if (isInscribed) {
          const moneyFirst = { ...plan, inputs: [plan.inputs.at(-1)!, ...plan.inputs.slice(0, -1)] };
          expect(holdingsFault(moneyFirst, [nothingHeld, ...held])).not.toBeNull();
        }
        for (const place of held.keys()) {
          const isEmpty = held[place]!.runes!.length === 0 && held[place]!.inscriptions!.length === 0;
          if (!isEmpty) expect(holdingsFault(plan, known.with(place, nothingHeld))).not.toBeNull();
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('says how many sats are missing', () => {
    const deposits = [returnedOutput(10_000n, 0)];
    expect(planReturn({ ...funds, holdings: deposits, money: [] })).toEqual({ kind: 'short', missing: 222n });
    const money = [arrived(400n, 7)];
    const short = planReturn({ ...funds, holdings: deposits, money, feeRate: 3000n });
    expect(short).toMatchObject({ kind: 'short' });
  });

  test('raises the last deposit to the dust limit of its destination', () => {
    const p2pkh = Uint8Array.of(0x76, 0xa9, 20, ...new Uint8Array(20), 0x88, 0xac);
    const deposits = [returnedOutput(10_000n, 0), returnedOutput(330n, 1, { destination: p2pkh })];
    const plan = planReturn({ ...funds, holdings: deposits, money: [arrived(5000n, 7)] });
    expect(plan).toMatchObject({
      outputs: [{ value: 10_000n }, { kind: 'parent', value: 546n }, { kind: 'change' }],
    });
    expect(planReturn({ ...funds, holdings: deposits, money: [] })).toMatchObject({ kind: 'short' });
  });

  test('keeps its bound of costs, and leaves an output of ours', () => {
    const holdings = [returnedOutput(10_000n, 0)];
    const money = [arrived(2000n, 7)];
    const ours = { ...funds, holdings, money, isOurs: true };
    expect(planReturn({ ...ours, costMax: 1200n })).toMatchObject({
      cost: 424n,
      outputs: [{ kind: 'parent' }, { kind: 'change', value: 2000n - 424n }],
    });
    expect(planReturn({ ...ours, costMax: 400n })).toEqual({ kind: 'short', missing: 24n });
    expect(planReturn({ ...ours, money: [arrived(700n, 7)] })).toMatchObject({ kind: 'short' });
    expect(planReturn({ ...funds, holdings, money, rest: refundTo(p2tr(9)), costMax: 400n })).toMatchObject({
      kind: 'short',
    });
  });

  test('of sats alone is one output to their address, or none', () => {
    const rest = { kind: 'parent', script: p2tr(9) } as const;
    const sats = { ...funds, holdings: [], rest };
    const money = [arrived(20_000n, 7), arrived(100n, 8), arrived(600n, 9)];
    expect(planReturn({ ...sats, money })).toMatchObject({
      inputs: [{ vout: 7 }, { vout: 9 }],
      outputs: [{ kind: 'parent', script: rest.script, value: 20_600n - 338n }],
      cost: 338n,
    });
    expect(planReturn({ ...sats, money: [arrived(330n, 1), arrived(330n, 2)] })).toMatchObject({
      kind: 'short',
    });
    expect(planReturn({ ...sats, money: [] })).toMatchObject({ kind: 'short' });
  });

  test('has fewer deposits if the money does not pay for all', () => {
    const holdings = Array.from({ length: 40 }, (_, vout) => returnedOutput(330n, vout));
    const { rest: _, ...others } = funds;
    const refund = (areAll: boolean) => (areAll ? refundTo(p2tr(9)) : null);
    const of = (value: bigint) =>
      planMostReturned({ ...others, holdings, money: [arrived(value, 90)] }, refund);
    expect(of(20_000n)).toMatchObject({ kind: 'return', count: 40 });
    const some = of(3000n);
    expect(some).toMatchObject({ kind: 'return', count: 10 });
    expect(some.kind === 'return' && some.outputs.at(-1)?.kind).toBe('change');
    expect(of(100n)).toMatchObject({ kind: 'short' });
  });

  test('has a runestone if runes would not return without it', () => {
    const runes = [{ id: { block: asU128(1n), tx: 0 }, amount: asU128(5n) }];
    const deposits = [
      returnedOutput(10_000n, 0),
      returnedOutput(600n, 1, { holds: { inscriptions: [], runes } }),
    ];
    const plan = planReturn({ ...funds, holdings: deposits, money: [arrived(2000n, 7)] });
    expect(plan.kind === 'return' && plan.outputs.at(-1)).toEqual({
      kind: 'burn',
      script: runestone(),
      value: 0n,
    });
  });
});
