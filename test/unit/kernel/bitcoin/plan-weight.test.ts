import { Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannedWeight, type WeighedPlan } from '#kernel/bitcoin/plan-weight.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

// lengths around those at which a count or a length takes more bytes
const leafBytes = fc.oneof(fc.constantFrom(34, 252, 253, 65_535, 65_536), fc.integer({ min: 34, max: 1000 }));
const p2tr = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));
const p2wpkh = Uint8Array.of(0x00, 0x14, ...new Uint8Array(20));
const anchor = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
const input = (...scripts: readonly Uint8Array[]) =>
  fc
    .record({
      script: fc.constantFrom(...scripts),
      path: fc.constantFrom<'key' | 'leaf'>('key', 'leaf'),
      leafScript: fc.option(leafBytes.map((length) => new Uint8Array(length))),
    })
    // P2WPKH has no leaf script
    .map((made) => (made.script === p2wpkh ? { ...made, leafScript: null } : made));
const output = fc.record({
  script: fc.integer({ min: 0, max: 300 }).map((length) => new Uint8Array(length)),
});
const plan: fc.Arbitrary<WeighedPlan> = fc.record({
  // an anchor cannot pay the fee, so there is at least one other input
  inputs: fc
    .tuple(input(p2tr, p2wpkh), fc.array(input(p2tr, p2wpkh, anchor), { maxLength: 3 }))
    .map(([one, more]) => [one, ...more]),
  outputs: fc.oneof(
    fc.array(output, { minLength: 1, maxLength: 4 }),
    output.map((one) => Array.from({ length: 253 }, () => one)),
  ),
});

/** The weight of the signed transaction. The signatures have the right lengths, but sign nothing. */
function signedWeight({ inputs, outputs }: WeighedPlan): number {
  const made = new Transaction();
  for (const { path, leafScript, script } of inputs) {
    const index = made.addInput(Buffer.alloc(32), 0);
    if (script === anchor) continue;
    if (script === p2wpkh) {
      // a DER signature with both numbers in 32 bytes and the hash type, and a compressed key
      made.setWitness(index, [Buffer.alloc(71), Buffer.alloc(33)]);
      continue;
    }
    const revealed = path === 'leaf' && leafScript !== null ? [leafScript, Buffer.alloc(33)] : [];
    made.setWitness(index, [Buffer.alloc(64), ...revealed]);
  }
  for (const { script } of outputs) made.addOutput(script, 330n);
  return made.weight();
}

test('the weight of a plan is that of the transaction that bitcoinjs-lib makes of it', () => {
  fc.assert(
    fc.property(plan, (planned) => {
      expect(plannedWeight(planned)).toBe(signedWeight(planned));
    }),
    { numRuns: propertyRuns(200) },
  );
});
