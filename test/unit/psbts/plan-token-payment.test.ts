import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { chooseCoins } from '#psbts/planning/choose-coins.ts';
import { planTokenPayment, type TokenPayment, tokenPaymentFrame } from '#psbts/tokens/plan-token-payment.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';

const ordinals = signerOf(customerAddress(1), 'ordinals');
const payer = signerOf(customerAddress(2, 'p2wpkh'));
const shopToken = customerAddress(3).script;
const shopFee = customerAddress(4, 'p2wpkh').script;
const idOf = (tx: number) => ({ block: asU128(5), tx });

/** Outputs with up to three runes each. The first rune is the one that the payment needs. */
const held = fc.array(
  fc.record({
    value: fc.bigInt(330n, 5_000n),
    runes: fc.uniqueArray(
      fc.record({ tx: fc.integer({ min: 1, max: 3 }), amount: fc.bigInt(1n, 2n ** 100n) }),
      { selector: ({ tx }) => tx },
    ),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('a payment of an order of a shop', () => {
  test('gives the shop its requested units and sats, and returns all other units', () => {
    fc.assert(
      fc.property(
        held,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.bigInt(1n, 50_000n)),
        fc.bigInt(1_000n, 50_000n),
        (outputs, part, sats, feeRate) => {
          const runes = outputs.flatMap((output) =>
            output.runes.map(({ tx, amount }) => ({ id: idOf(tx), amount: asU128(amount) })),
          );
          const sumOf = (tx: number): bigint =>
            runes.filter(({ id }) => id.tx === tx).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
          const amount = (sumOf(1) * BigInt(Math.round(part * 1_000))) / 1_000n;
          fc.pre(amount > 0n);
          const payment: TokenPayment = {
            signers: { ordinals, payment: payer },
            inputs: outputs.map(({ value }, place) => ({
              txid: trustedTxid(Buffer.alloc(32, place + 1)),
              vout: 0,
              value,
              signer: ordinals,
              blockHash: null,
            })),
            runes,
            units: { id: idOf(1), amount, script: shopToken },
            sats: sats === null ? null : { amount: sats, script: shopFee },
            feeRate,
          };
          const coin = {
            txid: trustedTxid(Buffer.alloc(32, 0xff)),
            vout: 1,
            value: 10_000_000n,
            signer: payer,
            blockHash: null,
          };
          const chosen = chooseCoins([coin], tokenPaymentFrame(payment), true);
          if (chosen.kind !== 'chosen') throw new Error(chosen.kind);
          const plan = planTokenPayment(payment, chosen);
          const { given, burned } = runeFlow(plan.outputs, runes);
          expect(burned).toEqual([]);
          const got = (output: number, tx: number): bigint =>
            given
              .filter((one) => one.output === output && one.id.tx === tx)
              .reduce((sum, one) => sum + BigInt(one.amount), 0n);
          expect(got(1, 1)).toBe(amount);
          expect(got(0, 1)).toBe(sumOf(1) - amount);
          for (const tx of [2, 3]) expect([got(0, tx), got(1, tx)]).toEqual([sumOf(tx), 0n]);
          // all sats of the runes' outputs stay in the first output
          expect(plan.outputs[0]!.value).toBe(outputs.reduce((sum, { value }) => sum + value, 0n));
          const paid = plan.outputs.find(({ script }) => Buffer.compare(script, shopFee) === 0)?.value ?? 0n;
          expect(paid).toBe(sats === null ? 0n : sats < 294n ? 294n : sats);
        },
      ),
    );
  });
});
