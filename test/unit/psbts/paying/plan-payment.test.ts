import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asBlockHashHex, asTxid } from '#kernel/primitives/hash.ts';
import { type LaidOrder, layOutPayment, type PaymentLayout } from '#psbts/paying/payment-layout.ts';
import { planPayment } from '#psbts/paying/plan-payment.ts';
import { seenPayment } from '#psbts/paying/wanted-payment.ts';
import { CoinSupply } from '#psbts/planning/coin-supply.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { namedRuns } from '#test/support/property-runs.ts';
import { customerAddress, paymentTypes, signerOf } from '#test/support/psbts/customer-address.ts';

const ordinals = signerOf(customerAddress(91), 'ordinals');
const payments = paymentTypes.map((type) => signerOf(customerAddress(90, type)));
const funding = customerAddress(92).script;
const deposits = [customerAddress(93).script, customerAddress(94).script];

let made = 0;
const input = (signer: Signer, value: bigint): PsbtInput => {
  const txid = Buffer.alloc(32);
  txid.writeUInt32LE(made++);
  return { txid: asTxid(txid), vout: 0, value, signer, blockHash: asBlockHashHex('00'.repeat(32)) };
};

const order = (more: Partial<LaidOrder> = {}): LaidOrder => ({
  script: funding,
  missing: 4_000n,
  missingInTwo: 4_500n,
  postage: 546n,
  reveals: [1],
  costs: { amount: 4_000n, extraCost: 0n, input: 500n, spare: 0n, inputsMax: 100, wantsSats: false },
  allowedSatributes: null,
  takesInventory: false,
  ...more,
});

const asked = (
  special: { value: bigint; place: bigint } | null,
  payment = payments[0]!,
  charge: bigint | null = null,
) => ({
  signers: { payment, ordinals },
  parents: [],
  special: special && { input: input(ordinals, special.value), place: special.place, ranges: null },
  charge,
});

const valuesOf = (layout: ReturnType<typeof layOutPayment>): string[] => {
  if (layout.kind === 'refused') return [layout.reason];
  return layout.outputs.map(({ purpose, value }) => `${purpose} ${value}`);
};

describe('the outputs of a payment', () => {
  test('without a special sat are only the charge', () => {
    expect(valuesOf(layOutPayment(order(), asked(null)))).toEqual(['charge 4000']);
    expect(valuesOf(layOutPayment(order(), asked(null, payments[0], 5_000n)))).toEqual(['charge 5000']);
    expect(valuesOf(layOutPayment(order({ missing: 0n }), asked(null)))).toEqual([]);
  });

  test('with a special sat are its postage, the rest of its output, and the charge with the cost of its coin', () => {
    const laid = (value: bigint, place = 0n, charge: bigint | null = null) =>
      valuesOf(layOutPayment(order(), asked({ value, place }, payments[0], charge)));
    expect(laid(10_000n)).toEqual(['postage 546', 'ordinals 9454', 'charge 3954']);
    expect(laid(10_000n, 0n, 4_000n)).toEqual(['postage 546', 'ordinals 9454', 'charge 3954']);
    expect(laid(10_000n, 0n, 6_000n)).toEqual(['postage 546', 'ordinals 9454', 'charge 5454']);
    expect(laid(10_000n, 5_000n)).toEqual(['ordinals 5000', 'postage 546', 'ordinals 4454', 'charge 3954']);
    // outputs below the dust limit are padded
    expect(laid(600n)).toEqual(['postage 546', 'ordinals 330', 'charge 3954']);
    expect(laid(10_000n, 100n)[0]).toBe('ordinals 330');
    // nothing of the special output is left over, so one coin is enough
    expect(laid(546n)).toEqual(['charge 4000']);
    expect(laid(5_200n, 5_000n)).toEqual(['ordinals 5000', 'charge 4000']);
  });

  test('of several reveals that want certain sats come from one range', () => {
    const several = order({ reveals: [1, 1], allowedSatributes: ['vintage'] });
    expect(valuesOf(layOutPayment(several, asked({ value: 10_000n, place: 1_000n })))).toEqual([
      'ordinals 1000',
      'charge 4000',
      'ordinals 5000',
    ]);
    expect(valuesOf(layOutPayment(several, asked({ value: 4_500n, place: 1_000n })))[0]).toMatch(
      /makes 2 transactions, .* it must have 4000 sats, but this output has only 3500/u,
    );
  });

  test('are refused if the order would not inscribe the sat', () => {
    const refused = (more: Partial<LaidOrder>) =>
      valuesOf(layOutPayment(order(more), asked({ value: 10_000n, place: 0n })))[0];
    expect(refused({ takesInventory: true })).toMatch(/sats of this service's inventory/u);
    expect(refused({ missingInTwo: null })).toMatch(/too large to be paid in two outputs/u);
    expect(refused({ costs: { ...order().costs, input: 546n } })).toMatch(
      /costs 546 sats\. This is more than its postage/u,
    );
  });
});

const scene = fc.record({
  payer: fc.constantFrom(...payments),
  value: fc.bigInt(330n, 60_000n),
  place: fc.oneof(fc.constant(0n), fc.bigInt(0n, 400n), fc.bigInt(0n, 59_000n)),
  coins: fc.array(fc.bigInt(200n, 40_000n), { minLength: 1, maxLength: 12 }),
  rate: fc.bigInt(100n, 30_000n),
  charge: fc.oneof(fc.constant(null), fc.bigInt(4_000n, 20_000n)),
  reveals: fc.constantFrom([1], [3], [1, 1]),
  wants: fc.boolean(),
  parents: fc.array(fc.bigInt(330n, 9_000n), { maxLength: 2 }),
});

test('for random outputs: the special sat leads, the rest of its output returns, and fees are sats of coins', async () => {
  let runs = 0;
  let built = 0;
  await fc.assert(
    fc.asyncProperty(
      scene,
      async ({ payer, value, place: at, coins, rate, charge, reveals, wants, parents }) => {
        runs++;
        const place = at % value;
        const wanted = order({ reveals, allowedSatributes: wants ? ['vintage'] : null });
        const signers = { payment: payer, ordinals };
        const special = { input: input(ordinals, value), place, ranges: null };
        const lent = parents.map((each, index) => ({
          index,
          input: input(ordinals, each),
          depositScript: deposits[index]!,
          runes: [],
        }));
        const layout = layOutPayment(wanted, { signers, parents: lent, special, charge });
        if (layout.kind === 'refused') {
          expect(reveals.length > 1 && wants).toBe(true);
          return;
        }
        const free = coins.map((each) => input(payer, each));
        const supply = new CoinSupply(free, async (looked) => looked.map(() => ({ kind: 'free' as const })));
        const planned = await planPayment(layout, supply, signers, rate);
        if (planned.kind !== 'planned') return;
        built++;
        const { plan } = planned;
        const isOf = (script: Uint8Array, other: Uint8Array) => Buffer.compare(script, other) === 0;
        for (const [index, { input: parent }] of lent.entries()) {
          expect(plan.inputs[index]).toBe(parent);
          expect(plan.parts[index]).toEqual([{ input: index, offset: 0n, size: parent.value }]);
          expect(isOf(plan.outputs[index]!.script, deposits[index]!)).toBe(true);
        }
        const specialAt = plan.inputs.indexOf(special.input);
        const paid = plan.outputs.flatMap(({ script, value: sats }, vout) =>
          isOf(script, funding) ? [{ vout, sats }] : [],
        );
        expect(paid.reduce((sum, { sats }) => sum + sats, 0n)).toBe(layout.charge);
        expect(layout.charge >= layout.needed && layout.charge >= (charge ?? 0n)).toBe(true);
        expect(plan.parts[paid[0]!.vout]![0]).toMatchObject({ input: specialAt, offset: place });
        expectSpecialSats(layout, { specialAt, parts: plan.parts, outputs: plan.outputs, place, value });
        expect(plan.feeParts.every(({ input: index }) => plan.inputs[index]!.signer === payer)).toBe(true);
        const seen = seenPayment(
          plan,
          funding,
          plan.inputs.map(() => null),
          lent,
        );
        expect(seen.wanted.coins.map((coin) => coin.value)).toEqual(paid.map(({ sats }) => sats));
      },
    ),
    { numRuns: namedRuns(500, 10_000) },
  );
  // in all other cases the coins are too few
  expect(built).toBeGreaterThan(runs / 4);
});

interface SpentSpecial {
  readonly specialAt: number;
  readonly parts: readonly (readonly { input: number; offset: bigint; size: bigint }[])[];
  readonly outputs: readonly { readonly script: Uint8Array }[];
  readonly place: bigint;
  readonly value: bigint;
}

/** Checks that every sat of the special output that does not pay returns to the ordinals address. */
function expectSpecialSats(
  layout: PaymentLayout,
  { specialAt, parts, outputs, place, value }: SpentSpecial,
): void {
  let before = 0n;
  let returned = 0n;
  let paid = 0n;
  for (const [vout, own] of parts.entries()) {
    const size = own.reduce((sum, part) => sum + (part.input === specialAt ? part.size : 0n), 0n);
    if (size === 0n) continue;
    if (Buffer.compare(outputs[vout]!.script, funding) === 0) paid += size;
    else {
      expect(Buffer.compare(outputs[vout]!.script, ordinals.script)).toBe(0);
      if (paid === 0n) before += size;
      else returned += size;
    }
  }
  expect(before).toBe(place);
  expect(before + paid + returned).toBe(value);
  const isTwo = layout.outputs.some(({ purpose }) => purpose === 'postage');
  if (isTwo) expect(paid).toBe(layout.outputs.find(({ purpose }) => purpose === 'postage')!.value);
}
