import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { type Coin, type Extraction, type ExtractionTerms, planExtraction } from '#utxos/plan-extraction.ts';

const scripts = {
  p2tr: Uint8Array.of(0x51, 32, ...new Uint8Array(32)),
  p2wpkh: Uint8Array.of(0, 20, ...new Uint8Array(20)),
  p2sh: Uint8Array.of(0xa9, 20, ...new Uint8Array(20), 0x87),
  p2pkh: Uint8Array.of(0x76, 0xa9, 20, ...new Uint8Array(20), 0x88, 0xac),
} as const;
const p2wsh = Uint8Array.of(0, 32, ...new Uint8Array(32));
const terms: ExtractionTerms = {
  fromScript: scripts.p2tr,
  specialScript: scripts.p2tr,
  commonScript: scripts.p2tr,
  feeRate: 1,
};
const coin = (value: number, ...wanted: readonly (readonly [offset: number, size: number])[]): Coin => ({
  value,
  wanted: wanted.map(([offset, size]) => ({ offset, size })),
});

function planned(coins: readonly Coin[], given: Partial<ExtractionTerms> = {}): Extraction<Coin> {
  const plan = planExtraction(coins, { ...terms, ...given });
  if ('kind' in plan) throw new Error(plan.kind);
  return plan;
}

const outputsOf = (plan: Extraction<Coin>): string[] =>
  plan.outputs.map(({ kind, value }) => `${kind} ${value}`);

test('a sat at the beginning gets an output of dust, and the rest is common', () => {
  const plan = planned([coin(100_000, [0, 1])]);
  expect(outputsOf(plan)).toEqual(['special 330', `common ${100_000 - 330 - plan.fee}`]);
  // one input of 57.75 virtual bytes, two outputs of 43, and 10.5 for the frame
  expect(plan.fee).toBe(155);
});

test('sats before it go to the common address, first in, first out', () => {
  const plan = planned([coin(100_000, [50_000, 10])]);
  expect(outputsOf(plan)).toEqual(['common 50000', 'special 330', `common ${100_000 - 50_330 - plan.fee}`]);
});

test('fewer sats before it than dust go with it', () => {
  expect(outputsOf(planned([coin(100_000, [329, 1])]))[0]).toBe('special 330');
  expect(outputsOf(planned([coin(100_000, [329, 500])]))[0]).toBe('special 829');
  expect(outputsOf(planned([coin(100_000, [330, 1])])).slice(0, 2)).toEqual(['common 330', 'special 330']);
});

test('sats that are near each other share an output, or fill the one before up', () => {
  expect(outputsOf(planned([coin(100_000, [0, 1], [100, 1])]))[0]).toBe('special 330');
  expect(outputsOf(planned([coin(100_000, [0, 1], [329, 100])]))[0]).toBe('special 429');
  expect(outputsOf(planned([coin(100_000, [0, 1], [500, 1])])).slice(0, 2)).toEqual([
    'special 500',
    'special 330',
  ]);
});

test('a sat at the end needs common sats after it, the largest coin first', () => {
  const last = coin(1_000, [999, 1]);
  const plan = planned([coin(2_000), last, coin(50_000), coin(3_000)]);
  expect(plan.inputs.map(({ value }) => value)).toEqual([1_000, 50_000]);
  expect(outputsOf(plan)).toEqual(['common 999', 'special 330', `common ${51_000 - 1_329 - plan.fee}`]);
  expect(planExtraction([last], terms)).toMatchObject({ kind: 'fee-unpaid', there: 1_000 });
});

test('change that would be dust stays with the special sats', () => {
  const plan = planned([coin(800, [0, 1])]);
  expect(plan.outputs).toEqual([{ kind: 'special', value: 800 - plan.fee }]);
});

test('the coin with the most sats after its special ones pays the fee', () => {
  const plan = planned([coin(100_000, [0, 1]), coin(700, [0, 1]), coin(5_000, [10, 1])]);
  expect(plan.inputs.map(({ value }) => value)).toEqual([700, 5_000, 100_000]);
});

test('dust is by the type of the address', () => {
  for (const [name, dust] of [
    ['p2tr', 330],
    ['p2wpkh', 294],
    ['p2sh', 540],
    ['p2pkh', 546],
  ] as const) {
    expect(dustOf(scripts[name])).toBe(dust);
    const plan = planned([coin(100_000, [0, 1])], { specialScript: scripts[name] });
    expect(plan.outputs[0]).toEqual({ kind: 'special', value: dust });
  }
  expect(dustOf(p2wsh)).toBe(330);
  expect(dustOf(Uint8Array.of(0x51, 2, 0x4e, 0x73))).toBe(240);
});

test('a spend whose size is unknown, and one above the size of a standard transaction, are refused', () => {
  const coins = [coin(100_000, [0, 1])];
  expect(planExtraction(coins, { ...terms, fromScript: p2wsh })).toEqual({ kind: 'size-unknown' });
  const many = coin(
    10_000_000,
    ...Array.from({ length: 5_000 }, (_, place): [number, number] => [place * 1_000, 1]),
  );
  expect(planExtraction([many], terms)).toEqual({ kind: 'too-large' });
});

interface Place {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/**
 * The range of sats that each output gets by the rules of ordinals. Positions count from the first sat of the first
 * input.
 */
function placesOf({ outputs }: Extraction<Coin>): Place[] {
  let from = 0;
  return outputs.map(({ kind, value }) => {
    const place = { kind, from, to: from + value };
    from += value;
    return place;
  });
}

const someCoin = fc
  .record({
    value: fc.oneof(fc.integer({ min: 330, max: 3_000 }), fc.integer({ min: 330, max: 5_000_000 })),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
    isExact: fc.boolean(),
  })
  .map(({ value, cuts, isExact }): Coin => {
    const edges = [...new Set(cuts.map((cut) => Math.floor(cut * value)))].toSorted((a, b) => a - b);
    const wanted: [number, number][] = [];
    for (let index = 0; index + 1 < edges.length; index += 2) {
      const [from, to] = [edges[index]!, edges[index + 1]!];
      wanted.push([from, isExact ? to - from : 1]);
    }
    return coin(value, ...wanted);
  });
const someScript = fc.constantFrom(...Object.values(scripts));

test('sats are conserved, no output is dust, and every wanted sat is in an output of the special address', () => {
  let made = 0;
  fc.assert(
    fc.property(
      fc.array(someCoin, { minLength: 1, maxLength: 8 }),
      fc.record({
        fromScript: someScript,
        specialScript: someScript,
        commonScript: someScript,
        feeRate: fc.double({ min: 0.1, max: 50, noNaN: true }),
      }),
      (coins, given) => {
        const plan = planExtraction(coins, given);
        const wantedCoins = coins.filter(({ wanted }) => wanted.length > 0);
        const there = coins.reduce((sum, { value }) => sum + value, 0);
        if ('kind' in plan) {
          // there were no more coins to add
          expect(plan).toMatchObject({ kind: 'fee-unpaid', there });
          return;
        }
        made++;
        const value = (of: readonly { readonly value: number }[]): number =>
          of.reduce((sum, each) => sum + each.value, 0);
        expect(value(plan.inputs)).toBe(value(plan.outputs) + plan.fee);
        expect(new Set(plan.inputs).size).toBe(plan.inputs.length);
        const [first, rest] = [
          plan.inputs.slice(0, wantedCoins.length),
          plan.inputs.slice(wantedCoins.length),
        ];
        expect(new Set(first)).toEqual(new Set(wantedCoins));
        expect(rest.every(({ wanted }) => wanted.length === 0)).toBe(true);
        const places = placesOf(plan);
        for (const { kind, from, to } of places) {
          const script = kind === 'special' ? given.specialScript : given.commonScript;
          expect(to - from).toBeGreaterThanOrEqual(dustOf(script));
        }
        let start = 0;
        for (const input of plan.inputs) {
          for (const { offset, size } of input.wanted) {
            const [from, to] = [start + offset, start + offset + size];
            const holder = places.find((place) => place.from <= from && to <= place.to);
            expect(holder?.kind).toBe('special');
          }
          start += input.value;
        }
        expect(plan.fee).toBeGreaterThan(0);
      },
    ),
    { numRuns: propertyRuns(1_000) },
  );
  expect(made).toBeGreaterThan(40);
});
