import { expect, test } from 'vitest';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { SpecialRange } from '#kernel/satributes/special-ranges.ts';
import { lostSpecials } from '#psbts/burning/special-sats.ts';
import { psbtPlan } from '#psbts/planning/psbt-plan.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';

const ordinals = signerOf(customerAddress(1), 'ordinals');
const range = (offset: number, size: number): SpecialRange => ({
  offset,
  start: 5_000 + offset,
  end: 5_000 + offset + size,
  satributes: ['uncommon'],
});
/** A plan that burns ten sats, returns 1,000, and pays 990 as the fee. */
const plan = psbtPlan({
  inputs: [{ txid: asTxid(Buffer.alloc(32, 1)), vout: 0, value: 2_000n, signer: ordinals, blockHash: null }],
  outputs: [
    { script: Uint8Array.of(0x6a), value: 10n, purpose: 'burn' },
    { script: ordinals.script, value: 1_000n, purpose: 'change' },
  ],
});

test('special sats are lost as fee or burned, beside the inscribed one', () => {
  expect(dustOf(ordinals.script)).toBe(330);
  const lost = (...special: readonly SpecialRange[]) => lostSpecials(plan, 0, 0, special);
  expect(lost()).toEqual({ paid: null, burned: null, isInscribed: false });
  expect(lost(range(0, 1))).toEqual({ paid: null, burned: null, isInscribed: true });
  expect(lost(range(0, 2))).toMatchObject({ burned: range(0, 2), isInscribed: true });
  expect(lost(range(9, 1))).toMatchObject({ burned: range(9, 1), paid: null });
  expect(lost(range(10, 1_000))).toEqual({ paid: null, burned: null, isInscribed: false });
  expect(lost(range(1_000, 20))).toMatchObject({ paid: range(1_000, 20), burned: null });
  // special sats of another input have no effect
  expect(lostSpecials(plan, 1, 0, [range(0, 2_000)])).toMatchObject({ paid: null, burned: null });
});
