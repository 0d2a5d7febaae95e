import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Holdings, nothingHeld, unknownHoldings } from '#kernel/contracts/holdings.ts';
import type {
  PlannedInput,
  PlannedOutput,
  PlannedOutputKind,
  TransactionPlan,
} from '#kernel/contracts/transaction-plan.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { holdingsFault } from '#wallet/holdings/holdings-fault.ts';
import { outputHoldings } from '#wallet/holdings/output-holdings.ts';
import {
  anchorScript,
  givenText,
  inscriptionsOf,
  isRight,
  runeOf,
  runesOf,
  satsOf,
  unitsText,
} from './holdings-model.ts';

const ownScript = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32).fill(7));
const burnScript = Uint8Array.of(0x6a);
const inputOf = (value: bigint, vout: number, script: Uint8Array = ownScript): PlannedInput => ({
  txid: trustedTxid(new Uint8Array(32)),
  vout,
  value,
  script,
  sequence: 0xffff_fffd,
  key: { branch: 0, index: vout },
  leafScript: null,
  path: 'key',
});
const outputOf = (kind: PlannedOutputKind, value: bigint, script: Uint8Array = ownScript): PlannedOutput => ({
  kind,
  value,
  script,
});
const stoneOf = (runestone: Runestone): PlannedOutput => outputOf('burn', 0n, encipher(runestone));
const planOf = (
  inputs: readonly PlannedInput[],
  outputs: readonly PlannedOutput[],
  more: Partial<TransactionPlan> = {},
): TransactionPlan => ({ version: 2, lockTime: 0, inputs, outputs, feeMax: 0n, ...more });

/** A transaction with few sats and units, so that the model can follow each one. */
interface Case {
  readonly plan: TransactionPlan;
  readonly held: readonly Holdings[];
}

const smallRunestone = fc
  .record({
    edicts: fc.array(
      fc.record({ tx: fc.nat({ max: 3 }), amount: fc.nat({ max: 6 }), output: fc.nat({ max: 6 }) }),
      { maxLength: 3 },
    ),
    pointer: fc.option(fc.nat({ max: 5 })),
  })
  .map(({ edicts, pointer }) =>
    routeRunestone({
      edicts: edicts.map(({ tx, amount, output }) => ({ ...runeOf(tx, amount), output })),
      pointer,
    }),
  );
const kinds = fc.constantFrom<PlannedOutputKind[]>(
  'postage',
  'parent',
  'refund',
  'commit',
  'service',
  'change',
  'inventory',
);
const output = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(kinds, fc.bigInt({ min: 0n, max: 9n })).map(([kind, value]) => outputOf(kind, value)),
  },
  fc.bigInt({ min: 0n, max: 9n }).map((value) => outputOf('anchor', value, anchorScript)),
  fc.bigInt({ min: 0n, max: 9n }).map((value) => outputOf('burn', value, burnScript)),
  fc.bigInt({ min: 0n, max: 9n }).map((value) => outputOf('burn', value, anchorScript)),
);
const input = fc.record({
  value: fc.bigInt({ min: 1n, max: 9n }),
  isAnchor: fc.boolean(),
  inscriptions: fc.option(fc.array(fc.nat({ max: 8 }), { maxLength: 3 }), { freq: 9 }),
  runes: fc.option(fc.array(fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: 1, max: 9 })), { maxLength: 2 }), {
    freq: 9,
  }),
});

/** Random transactions with contents. Their plans name all effects. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    inputs: fc.array(input, { minLength: 1, maxLength: 4 }),
    outputs: fc.array(output, { minLength: 1, maxLength: 5 }),
    runestone: fc.option(smallRunestone),
    stoneAt: fc.nat({ max: 5 }),
  })
  .map(({ inputs, outputs: others, runestone, stoneAt }) => {
    const outputs =
      runestone === null
        ? others
        : [...others.slice(0, stoneAt), stoneOf(runestone), ...others.slice(stoneAt)];
    const held = inputs.map(
      ({ value, inscriptions, runes }, place): Holdings => ({
        inscriptions:
          inscriptions?.map((offset, each) => ({
            id: `${place}i${each}`,
            offset: BigInt(offset) % value,
          })) ?? null,
        runes: runes?.map(([tx, amount]) => runeOf(tx, amount)) ?? null,
      }),
    );
    const planned = inputs.map(({ value, isAnchor }, vout) =>
      inputOf(value, vout, isAnchor ? anchorScript : ownScript),
    );
    return { held, plan: named(planOf(planned, outputs), held, runestone) };
  });

/** Adds the effects to a plan, as the model computes them. */
function named(
  plan: TransactionPlan,
  held: readonly Holdings[],
  runestone: Runestone | null,
): TransactionPlan {
  const sats = satsOf(plan);
  const { given, burned, rest } = runesOf(plan, held);
  const inscriptions = inscriptionsOf(plan, held).map(({ id, at }) => ({
    id,
    at,
    output: sats[Number(at)] ?? 0,
  }));
  return {
    ...plan,
    inscriptions,
    runes: {
      held: held.flatMap(({ runes }, place) => (runes ?? []).map((rune) => ({ ...rune, input: place }))),
      given,
      burned,
      rest: rest ?? 0,
      runestone: runestone === null ? null : { ...runestone },
    },
  };
}

type Change = (plan: TransactionPlan) => TransactionPlan;
const others = <T>(all: readonly T[], place: number, change: (each: T) => T | null): T[] =>
  all.flatMap((each, at) => (at === place % all.length ? (change(each) ?? []) : [each]));
const withRunes = (
  plan: TransactionPlan,
  change: (runes: NonNullable<TransactionPlan['runes']>) => object,
) => (plan.runes === undefined ? plan : { ...plan, runes: { ...plan.runes, ...change(plan.runes) } });

/** Faults of a planner, or changes by a program that replaced it. */
const faultsOf: readonly ((place: number) => Change)[] = [
  () => (plan) => plan,
  (place) => (plan) => ({ ...plan, inscriptions: others(plan.inscriptions ?? [], place, () => null) }),
  (place) => (plan) => ({
    ...plan,
    inscriptions: others(plan.inscriptions ?? [], place, (each) => ({ ...each, at: each.at + 1n })),
  }),
  (place) => (plan) => ({
    ...plan,
    inscriptions: others(plan.inscriptions ?? [], place, (each) => ({ ...each, output: each.output + 1 })),
  }),
  () => (plan) => ({ ...plan, outputs: plan.outputs.toReversed() }),
  () => (plan) => ({
    ...plan,
    outputs: [...plan.outputs, stoneOf(routeRunestone({ edicts: [], pointer: 0 }))],
  }),
  () => (plan) => withRunes(plan, ({ rest }) => ({ rest: rest + 1 })),
  (place) => (plan) => withRunes(plan, ({ given }) => ({ given: others(given, place, () => null) })),
  (place) => (plan) => withRunes(plan, ({ held }) => ({ held: others(held, place, () => null) })),
  (place) => (plan) => withRunes(plan, ({ burned }) => ({ burned: others(burned, place, () => null) })),
  () => (plan) => withRunes(plan, () => ({ runestone: null })),
  () => (plan) =>
    withRunes(plan, ({ runestone }) => ({
      runestone: runestone === null ? null : { ...runestone, pointer: (runestone.pointer ?? 0) + 1 },
    })),
  () => (plan) => {
    const { runes: _, ...bare } = plan;
    return bare;
  },
];
const changes: fc.Arbitrary<Change> = fc
  .tuple(fc.nat({ max: 5 }), fc.oneof(fc.constant(0), fc.nat({ max: faultsOf.length - 1 })))
  .map(([place, which]) => faultsOf[which]!(place));

describe('the contents of inputs', () => {
  test('go where the plan says, or it is refused: like by following each sat and each unit', () => {
    const seen = { signed: 0, refused: 0 };
    fc.assert(
      fc.property(cases, changes, ({ plan: right, held }, change) => {
        const plan = change(right);
        const fault = holdingsFault(plan, held);
        if (isRight(plan, held)) {
          expect(fault).toBeNull();
          seen.signed++;
        } else {
          expect(fault).not.toBeNull();
          seen.refused++;
        }
      }),
      { numRuns: propertyRuns(2000) },
    );
    expect(Math.min(seen.signed, seen.refused)).toBeGreaterThan(0);
  });

  test('are neither lost nor made up: units of each rune are in outputs, or burned as the plan names it', () => {
    fc.assert(
      fc.property(cases, ({ plan, held }) => {
        if (holdingsFault(plan, held) !== null) return;
        const after = outputHoldings(plan, trustedTxid(new Uint8Array(32)), held);
        const units = (all: readonly Holdings[]) => all.flatMap(({ runes }) => runes ?? []);
        // not all contents are known
        if (held.some(({ runes }) => runes === null)) return;
        expect(unitsText([...units(after), ...(plan.runes?.burned ?? [])])).toBe(unitsText(units(held)));
        if (held.some(({ inscriptions }) => inscriptions === null)) return;
        const ids = (all: readonly Holdings[]) =>
          all.flatMap(({ inscriptions }) => (inscriptions ?? []).map(({ id }) => id)).toSorted();
        expect(ids(after)).toEqual(ids(held));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test('are distributed like the ledger does it, for amounts of any size', () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 120n });
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 3 }), smallRunestone, (amounts, runestone) => {
        const held = amounts.map((each, tx): Holdings => ({ inscriptions: [], runes: [runeOf(tx, each)] }));
        const outputs = [outputOf('postage', 1n), stoneOf(runestone), outputOf('change', 1n)];
        const model = runesOf(planOf([], outputs), held);
        const flow = runeFlow(
          outputs,
          held.flatMap(({ runes }) => runes ?? []),
        );
        expect(givenText(flow.given)).toBe(givenText(model.given));
        expect(unitsText(flow.burned)).toBe(unitsText(model.burned));
        expect(flow.rest).toBe(model.rest);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('a plan is refused', () => {
  const inscription = { id: 'ai0', offset: 3n };
  const parent: Holdings = { inscriptions: [inscription], runes: [runeOf(1, 50)] };
  const second: Holdings = { inscriptions: [], runes: [runeOf(2, 7), runeOf(1, 4)] };
  const route = routeRunestone({
    edicts: [
      { ...runeOf(1, 4), output: 1 },
      { ...runeOf(2, 7), output: 1 },
    ],
    pointer: 0,
  });
  const held = [parent, second, nothingHeld];
  const plan = planOf(
    [inputOf(10n, 0), inputOf(10n, 1), inputOf(20n, 2)],
    [outputOf('parent', 10n), outputOf('parent', 10n), outputOf('change', 15n), stoneOf(route)],
    {
      inscriptions: [{ id: 'ai0', at: 3n, output: 0 }],
      runes: {
        held: [
          { ...runeOf(1, 50), input: 0 },
          { ...runeOf(2, 7), input: 1 },
          { ...runeOf(1, 4), input: 1 },
        ],
        given: [
          { ...runeOf(1, 50), output: 0 },
          { ...runeOf(2, 7), output: 1 },
          { ...runeOf(1, 4), output: 1 },
        ],
        burned: [],
        rest: 0,
        runestone: route,
      },
    },
  );
  const stones = (change: (runestone: Runestone) => Runestone): TransactionPlan => ({
    ...plan,
    outputs: plan.outputs.map((each, at) => (at === 3 ? stoneOf(change(route)) : each)),
  });
  const edicts = (change: Partial<Runestone['edicts'][number]>) => (runestone: Runestone) => ({
    ...runestone,
    edicts: runestone.edicts.map((edict, at) => (at === 0 ? { ...edict, ...change } : edict)),
  });
  const runesWith = (more: Partial<NonNullable<TransactionPlan['runes']>>): TransactionPlan => ({
    ...plan,
    runes: { ...plan.runes!, ...more },
  });
  const zero = edicts({ amount: asU128(0) });

  test('unless nothing is wrong with it', () => {
    expect(holdingsFault(plan, held)).toBeNull();
    expect(outputHoldings(plan, trustedTxid(new Uint8Array(32)), held)).toEqual([
      parent,
      second,
      nothingHeld,
      nothingHeld,
    ]);
  });

  const refused: readonly (readonly [string, RegExp, TransactionPlan, (readonly Holdings[])?])[] = [
    ['an edict leads to the next output', /is not read back/u, stones(edicts({ output: 2 }))],
    ['an edict leads to all outputs', /is not read back/u, stones(edicts({ output: 4 }))],
    ['an edict leads beyond all outputs', /malformed \(edict-output\)/u, stones(edicts({ output: 5 }))],
    ['the pointer is another one', /is not read back/u, stones((each) => ({ ...each, pointer: 2 }))],
    ['it mints', /is not read back/u, stones((each) => ({ ...each, mint: runeOf(1, 0).id }))],
    [
      'an edict is of 0',
      /an edict of 0/u,
      { ...stones(zero), runes: { ...plan.runes!, runestone: zero(route) } },
    ],
    [
      'it has a second runestone',
      /two of its outputs/u,
      { ...plan, outputs: [...plan.outputs, stoneOf(route)] },
    ],
    [
      'it has no runestone',
      /none of its outputs is a runestone/u,
      { ...plan, outputs: plan.outputs.slice(0, 3) },
    ],
    ['its runestone is not named', /does not name/u, runesWith({ runestone: null })],
    [
      'its outputs change places',
      /would go to output 0, of the kind change|inscription ai0/u,
      { ...plan, outputs: [plan.outputs[2]!, plan.outputs[1]!, plan.outputs[0]!, plan.outputs[3]!] },
    ],
    [
      'its inputs change places',
      /inscription ai0 at sat 3 of its inputs, but the inscription is at 23/u,
      { ...plan, inputs: [plan.inputs[2]!, plan.inputs[0]!, plan.inputs[1]!] },
      [nothingHeld, parent, second],
    ],
    ['it names no inscription', /hold inscription ai0, but it does not name/u, { ...plan, inscriptions: [] }],
    [
      'it names an inscription that is not there',
      /inscription ai1, but its inputs are not known to hold/u,
      { ...plan, inscriptions: [...plan.inscriptions!, { id: 'ai1', at: 4n, output: 0 }] },
    ],
    [
      'it names less of a rune',
      /holds 50 of rune 840000:1, but the plan names 0/u,
      runesWith({ held: plan.runes!.held.slice(1) }),
    ],
    ['it gives less of a rune', /output 0 would get 50/u, runesWith({ given: plan.runes!.given.slice(1) })],
    [
      'it burns what it does not',
      /0 of rune 840000:2 would be burned/u,
      runesWith({ burned: [runeOf(2, 1)] }),
    ],
    [
      'an inscription is in its fee',
      /part of the fee/u,
      planOf([inputOf(10n, 0)], [outputOf('refund', 3n)], {
        inscriptions: [{ id: 'ai0', at: 3n, output: 0 }],
      }),
      [{ inscriptions: [inscription], runes: [] }],
    ],
    [
      'an inscription is in its revenue',
      /of the kind service/u,
      planOf([inputOf(10n, 0)], [outputOf('service', 9n)], {
        inscriptions: [{ id: 'ai0', at: 3n, output: 0 }],
      }),
      [{ inscriptions: [inscription], runes: [] }],
    ],
    [
      'an inscription is burned that no anchor brought',
      /did not come from an anchor/u,
      planOf([inputOf(10n, 0)], [outputOf('burn', 9n, burnScript)], {
        inscriptions: [{ id: 'ai0', at: 3n, output: 0 }],
      }),
      [{ inscriptions: [inscription], runes: [] }],
    ],
    [
      'what it reveals is in its fee',
      /its inscription 0 would become a part of the fee/u,
      planOf([inputOf(10n, 0)], [outputOf('postage', 9n)], { reveals: [{ at: 9n, output: 0 }] }),
      [nothingHeld],
    ],
    [
      'runes would go to an anchor',
      /of the kind anchor/u,
      planOf([inputOf(10n, 0)], [outputOf('anchor', 9n, anchorScript)], {
        runes: {
          held: [{ ...runeOf(1, 5), input: 0 }],
          given: [{ ...runeOf(1, 5), output: 0 }],
          burned: [],
          rest: 0,
          runestone: null,
        },
      }),
      [{ inscriptions: [], runes: [runeOf(1, 5)] }],
    ],
    [
      'runes that are not known would be burned',
      /would be burned/u,
      planOf([inputOf(10n, 0)], [outputOf('burn', 9n, burnScript)]),
      [{ inscriptions: [], runes: null }],
    ],
    [
      'edicts move what is not known',
      /not all of its runes are known/u,
      { ...plan, runes: { ...plan.runes!, held: [...plan.runes!.held] } },
      [parent, second, { inscriptions: [], runes: null }],
    ],
    [
      'an output may hold inscriptions, and a larger one pays the fee after it',
      /before the sats of larger inputs/u,
      planOf([inputOf(20n, 0), inputOf(10n, 1)], [outputOf('refund', 25n)]),
      [unknownHoldings, unknownHoldings],
    ],
    ['the contents of an input are missing', /3 inputs, and the contents of 2/u, plan, held.slice(1)],
  ];

  test.each(refused.map(([name, fault, wrong, known = held]) => ({ name, fault, wrong, known })))(
    'because $name',
    ({ fault, wrong, known }) => {
      expect(holdingsFault(wrong, known)).toMatch(fault);
    },
  );
});
