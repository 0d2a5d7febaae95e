import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { chooseCoins } from '#psbts/planning/choose-coins.ts';
import { planRuneBurn, type RuneBurn, runeBurnFrame } from '#psbts/tokens/plan-rune-burn.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';

const ordinals = signerOf(customerAddress(1), 'ordinals');
const payer = signerOf(customerAddress(2, 'p2wpkh'));
const block = 5;
const idOf = (tx: number) => ({ block: asU128(block), tx });

/** Outputs with up to three runes each. The first rune is burned. */
const held = fc.array(
  fc.record({
    value: fc.bigInt(1n, 5_000n),
    runes: fc.uniqueArray(
      fc.record({ tx: fc.integer({ min: 1, max: 3 }), amount: fc.bigInt(1n, 2n ** 120n) }),
      { selector: ({ tx }) => tx },
    ),
  }),
  { minLength: 1, maxLength: 20 },
);

/** Reads the integers of a runestone (LEB128). It shares no code with the code under test. */
function integersOf(script: Uint8Array): bigint[] {
  expect([...script.subarray(0, 2)]).toEqual([0x6a, 0x5d]);
  expect(script[2]).toBe(script.length - 3);
  const integers: bigint[] = [];
  let [value, shift] = [0n, 0n];
  for (const byte of script.subarray(3)) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte < 0x80) {
      integers.push(value);
      [value, shift] = [0n, 0n];
    }
  }
  expect(shift).toBe(0n);
  return integers;
}

/** The outputs to which a runestone with a pointer and one edict moves each rune's units, by index. */
function modelOf(script: Uint8Array, sums: ReadonlyMap<number, bigint>): Map<string, bigint> {
  const [pointerTag, pointer, body, ofBlock, tx, amount, output, ...more] = integersOf(script);
  expect([pointerTag, body, ofBlock, more]).toEqual([22n, 0n, BigInt(block), []]);
  const went = new Map<string, bigint>();
  for (const [rune, sum] of sums) {
    const moved = BigInt(rune) !== tx ? 0n : amount === 0n || amount! > sum ? sum : amount!;
    if (moved > 0n) went.set(`${rune} to ${output}`, moved);
    if (sum > moved) went.set(`${rune} to ${pointer}`, sum - moved);
  }
  return went;
}

describe('a burn of a rune', () => {
  test('burns the requested units, and no other unit or sat is lost', () => {
    fc.assert(
      fc.property(
        held,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.bigInt(1_000n, 50_000n),
        (outputs, part, feeRate) => {
          const sums = new Map<number, bigint>();
          for (const { runes } of outputs)
            for (const { tx, amount } of runes) sums.set(tx, (sums.get(tx) ?? 0n) + amount);
          const all = sums.get(1) ?? 0n;
          const amount = (all * BigInt(Math.round(part * 1_000))) / 1_000n;
          fc.pre(amount > 0n);
          const burn: RuneBurn = {
            signers: { ordinals, payment: payer },
            inputs: outputs.map(({ value }, place) => ({
              txid: trustedTxid(Buffer.alloc(32, place + 1)),
              vout: 0,
              value,
              signer: ordinals,
              blockHash: null,
            })),
            runes: outputs.flatMap(({ runes }) =>
              runes.map((one) => ({ id: idOf(one.tx), amount: asU128(one.amount) })),
            ),
            id: idOf(1),
            amount,
            feeRate,
          };
          const coin = {
            txid: trustedTxid(Buffer.alloc(32, 0xff)),
            vout: 1,
            value: 10_000_000n,
            signer: payer,
            blockHash: null,
          };
          const chosen = chooseCoins([coin], runeBurnFrame(burn), true);
          if (chosen.kind !== 'chosen') throw new Error(chosen.kind);
          const plan = planRuneBurn(burn, chosen);
          const [back, stone, change, ...others] = plan.outputs;
          expect(others).toEqual([]);
          expect([back!.script, stone!.value, change!.script]).toEqual([ordinals.script, 0n, payer.script]);
          const sats = outputs.reduce((sum, { value }) => sum + value, 0n);
          expect(back!.value).toBe(sats < 330n ? 330n : sats);
          const expected = new Map([['1 to 1', amount]]);
          for (const [rune, sum] of sums) {
            const left = rune === 1 ? sum - amount : sum;
            if (left > 0n) expected.set(`${rune} to 0`, left);
          }
          expect(modelOf(stone!.script, sums)).toEqual(expected);
        },
      ),
    );
  });

  test('of nothing is not planned: an edict of 0 would burn everything', () => {
    const burn = {
      signers: { ordinals, payment: payer },
      inputs: [],
      runes: [],
      id: idOf(1),
      feeRate: 1_000n,
    };
    expect(() =>
      planRuneBurn({ ...burn, amount: 0n }, { kind: 'chosen', coins: [], change: 0n, fee: 0n, overpaid: 0n }),
    ).toThrow('a burn has units');
  });
});
