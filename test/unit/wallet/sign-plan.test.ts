import { inspect } from 'node:util';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { payments, script as scripts, Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nothingHeld } from '#kernel/contracts/holdings.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  directPlan,
  inputOf,
  knownSeed,
  orderLeaf,
  plainInputs,
  testWallet,
} from '#test/support/wallet/plans.ts';
import { accountOf } from '#wallet/account-key.ts';
import type { SignedTransaction } from '#wallet/signer.ts';

const made = testWallet();
const { wallet, signer } = made;
const p2a = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
const opReturn = Uint8Array.of(0x6a, 0x01, 0x07);
const leafVersion = 0xc0;

/**
 * Checks the witnesses like a node, with the signature hash and the leaf hash of bitcoinjs-lib. Each signature must be
 * made with the output key, or with the key in the leaf to which the output key commits. public-wallet.test.ts proves
 * this commitment.
 */
function expectSigned(plan: TransactionPlan, { bytes, txid, weight, fee }: SignedTransaction): void {
  const signed = Transaction.fromBuffer(Uint8Array.from(bytes));
  expect([signed.version, signed.locktime]).toEqual([plan.version, plan.lockTime]);
  expect(Buffer.from(txid)).toEqual(Buffer.from(signed.getHash()));
  expect(weight).toBe(signed.weight());
  expect(signed.outs.map(({ script, value }) => ({ script: Buffer.from(script), value }))).toEqual(
    plan.outputs.map(({ script, value }) => ({ script: Buffer.from(script), value })),
  );
  const sum = (parts: readonly { value: bigint }[]) => parts.reduce((all, { value }) => all + value, 0n);
  expect(fee).toBe(sum(plan.inputs) - sum(plan.outputs));
  const spentScripts = plan.inputs.map(({ script }) => script);
  const values = plan.inputs.map(({ value }) => value);
  for (const [place, input] of plan.inputs.entries()) {
    const { hash, index, sequence, witness } = signed.ins[place]!;
    expect([Buffer.from(hash), index, sequence]).toEqual([
      Buffer.from(input.txid),
      input.vout,
      input.sequence,
    ]);
    const [signature, leaf, controlBlock] = witness;
    const { leafScript } = input;
    if (input.key.branch === 3) {
      expectEcdsa(signed, place, input);
    } else if (input.path === 'key') {
      expect(witness).toHaveLength(1);
      const message = signed.hashForWitnessV1(place, spentScripts, values, 0);
      expect(schnorr.verify(signature!, message, input.script.subarray(2))).toBe(true);
    } else {
      expect(Buffer.from(leaf!)).toEqual(Buffer.from(leafScript!));
      expect(controlBlock).toHaveLength(33);
      expect(controlBlock![0]! & 0xfe).toBe(leafVersion);
      const message = signed.hashForWitnessV1(place, spentScripts, values, 0, leafHashOf(leafScript!));
      expect(schnorr.verify(signature!, message, leafScript!.subarray(1, 33))).toBe(true);
    }
  }
}

/**
 * Checks that the key is that of the script. The signature must have the form that nodes relay, and the size that
 * computed weights assume.
 */
function expectEcdsa(signed: Transaction, place: number, { script, value }: PlannedInput): void {
  const [signed71, publicKey, ...others] = signed.ins[place]!.witness;
  expect(others).toEqual([]);
  expect(signed71).toHaveLength(71);
  const { output, hash } = payments.p2wpkh({ pubkey: publicKey! });
  expect(Buffer.from(output!)).toEqual(Buffer.from(script));
  expect(scripts.isCanonicalScriptSignature(signed71!)).toBe(true);
  const { signature, hashType } = scripts.signature.decode(signed71!);
  expect(hashType).toBe(Transaction.SIGHASH_ALL);
  // R is low; the library checks that S is low too
  expect(signature[0]! & 0x80).toBe(0);
  const scriptCode = payments.p2pkh({ hash: hash! }).output!;
  const message = signed.hashForWitnessV0(place, scriptCode, value, hashType);
  expect(secp256k1.verify(signature, message, publicKey!, { prehash: false, lowS: true })).toBe(true);
}

function leafHashOf(script: Uint8Array): Uint8Array {
  const { length } = script;
  const size = length < 0xfd ? [length] : [0xfd, length & 0xff, length >> 8];
  return schnorr.utils.taggedHash('TapLeaf', Uint8Array.of(leafVersion, ...size), script);
}

const refusalOf = (plan: TransactionPlan): string => {
  try {
    signer.signPlan(plan, plainInputs(plan));
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('plan_refused');
    return (error as AppError).message;
  }
  throw new Error('the plan was signed');
};

const spent = fc.record({
  branch: fc.constantFrom<0 | 1 | 3>(0, 1, 3),
  index: fc.nat({ max: 2 ** 31 - 1 }),
  body: fc.option(fc.uint8Array({ maxLength: 600 })),
  isByKey: fc.boolean(),
  value: fc.bigInt({ min: 10_000n, max: 10n ** 12n }),
  sequence: fc.constantFrom(0xffff_ffff, 0xffff_fffd, 0x8000_0001),
});

/** A plan that spends all of these inputs to one script, with a fee of at most 1,000 sats. */
const goodPlan: fc.Arbitrary<TransactionPlan> = fc
  .record({
    version: fc.constantFrom<2 | 3>(2, 3),
    lockTime: fc.nat({ max: 0xffff_ffff }),
    spent: fc.array(spent, { minLength: 1, maxLength: 4 }),
    fee: fc.bigInt({ min: 0n, max: 1000n }),
    hash: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  })
  .map(({ version, lockTime, spent: all, fee, hash }) => {
    const inputs = all.map(({ branch, index, body, isByKey, value, sequence }, place): PlannedInput => {
      const leafScript = body === null || branch !== 0 ? null : orderLeaf(wallet, index, body);
      const path = leafScript === null || isByKey ? 'key' : 'leaf';
      return { ...inputOf(wallet, place, { key: { branch, index }, leafScript, value, path }), sequence };
    });
    const value = inputs.reduce((sum, input) => sum + input.value, -fee);
    const outputs = [{ kind: 'refund' as const, script: Uint8Array.of(0, 20, ...hash), value }];
    return { version, lockTime, inputs, outputs, feeMax: 1000n };
  });

describe('a plan that breaks no rule', () => {
  test('is signed, so that another library verifies each signature', () => {
    fc.assert(
      fc.property(goodPlan, (plan) => expectSigned(plan, signer.signPlan(plan, plainInputs(plan)))),
      { numRuns: propertyRuns(40) },
    );
  });

  test('may pay the customer, the wallet and an anchor, and burn', () => {
    const plan = directPlan(made);
    expectSigned(plan, signer.signPlan(plan, plainInputs(plan)));
    const leafScript = orderLeaf(wallet, 9);
    const commit = { key: { branch: 0, index: 9 } as const, leafScript };
    const change = { key: { branch: 1, index: 2 } as const, leafScript: null };
    const outputs: PlannedOutput[] = [
      { kind: 'commit', script: wallet.addressOf(commit).script, value: 9000n, own: commit },
      { kind: 'change', script: wallet.addressOf(change).script, value: 9000n, own: change },
      { kind: 'parent', script: wallet.ownAddress(3).script, value: 330n },
      { kind: 'anchor', script: p2a, value: 240n },
      { kind: 'burn', script: opReturn, value: 0n },
      { kind: 'burn', script: p2a, value: 546n },
    ];
    const mixed = { ...plan, outputs, feeMax: 10_000n };
    expectSigned(mixed, signer.signPlan(mixed, plainInputs(mixed)));
  });

  test('may spend by key an output that commits to a deleted leaf, with only its hash', () => {
    const plan = directPlan(made);
    const [, byKey] = plan.inputs;
    const leafHash = leafHashOf(byKey!.leafScript!);
    const deleted = { ...byKey!, value: 25_000n, leafScript: null, leafHash };
    expectSigned(
      { ...plan, inputs: [deleted] },
      signer.signPlan({ ...plan, inputs: [deleted], feeMax: 3_000n }, [nothingHeld]),
    );
  });

  test('may spend fee charges beside other outputs, and never to pay for others', () => {
    const plan = directPlan(made);
    const key = { branch: 3, index: 8 } as const;
    const charge = inputOf(wallet, 5, { key, leafScript: null, value: 9_000n, path: 'key' });
    const beside = { ...plan, inputs: [...plan.inputs, charge], feeMax: 12_000n };
    expectSigned(beside, signer.signPlan(beside, plainInputs(beside)));
    const own = { key: { branch: 1, index: 2 } as const, leafScript: null };
    const bump = { kind: 'bump' as const, script: wallet.addressOf(own).script, value: 8_000n, own };
    expect(refusalOf({ ...plan, inputs: [charge], outputs: [bump] })).toMatch(
      /not of the service's own keys/u,
    );
  });

  test('may burn sats of anchors, which no one signs for', () => {
    const { inputs } = directPlan(made);
    const anchor = { ...inputs[1]!, script: p2a, value: 25_000n, leafScript: null };
    const burn = { kind: 'burn' as const, script: opReturn, value: 25_000n };
    const plan = { ...directPlan(made), inputs: [anchor, inputs[0]!], outputs: [burn], feeMax: 20_000n };
    const { bytes, weight } = signer.signPlan(plan, plainInputs(plan));
    const signed = Transaction.fromBuffer(Uint8Array.from(bytes));
    expect(signed.ins[0]!.witness).toEqual([]);
    expect(weight).toBe(signed.weight());
    expect(refusalOf({ ...plan, outputs: [{ ...burn, value: 25_001n }] })).toMatch(/would be lost/u);
    expect(refusalOf({ ...plan, inputs: [anchor] })).toMatch(/no input of the wallet/u);
  });

  test('has the same txid each time, and a witness that differs', () => {
    const plan = directPlan(made);
    const [one, other] = [signer.signPlan(plan, plainInputs(plan)), signer.signPlan(plan, plainInputs(plan))];
    expect(other.txid).toEqual(one.txid);
    expect(other.wtxid).not.toEqual(one.wtxid);
  });

  test('may reveal the largest leaf that nodes relay', () => {
    const leafScript = orderLeaf(wallet, 5, new Uint8Array(390_000));
    const input = inputOf(wallet, 0, {
      key: { branch: 0, index: 5 },
      leafScript,
      value: 500_000n,
      path: 'leaf',
    });
    const plan = { ...directPlan(made), inputs: [input], feeMax: 490_000n };
    expect(signer.signPlan(plan, plainInputs(plan)).weight).toBeGreaterThan(390_000);
  });
});

test('a signer shows no key to logs', () => {
  const { privateExtendedKey } = accountOf(knownSeed, 'regtest').key;
  const shown = [JSON.stringify(signer), inspect(signer, { depth: null, showHidden: true })].join();
  expect(privateExtendedKey).toMatch(/^tprv/u);
  expect(shown).not.toMatch(/prv|[Kk]ey/u);
});

/** P2TR with a key that is not a point of the curve. */
const offCurve = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));

/** Changes of one input or output, each with the rule that it breaks. */
const inputFaults: readonly (readonly [Partial<PlannedInput>, RegExp])[] = [
  [{ script: wallet.ownAddress(1).script }, /does not belong to key/u],
  [{ key: { branch: 0, index: 6 } }, /something other than the key/u],
  [{ leafScript: null }, /has no leaf/u],
  [{ leafScript: orderLeaf(wallet, 5, 'another text') }, /does not belong to key/u],
  [{ leafScript: orderLeaf(wallet, 6) }, /something other than the key/u],
  [{ leafScript: Uint8Array.of(...orderLeaf(wallet, 5), 0x50) }, /opcode 0x50/u],
  [{ leafScript: null, leafHash: leafHashOf(orderLeaf(wallet, 5)) }, /has no leaf/u],
  [{ leafScript: null, path: 'key', leafHash: new Uint8Array(32) }, /does not belong to key/u],
  [{ leafScript: null, path: 'key', leafHash: new Uint8Array(31) }, /does not have 32 bytes/u],
  [{ leafHash: leafHashOf(orderLeaf(wallet, 5)) }, /both a leaf and the hash of a leaf/u],
  [{ value: 0n }, /cannot be spent/u],
  [{ value: -20_000n }, /cannot be spent/u],
  [{ value: 2_100_000_000_000_001n }, /cannot be spent/u],
  [{ value: 18_000n }, /more than its inputs/u],
  [{ value: 30_000n }, /its own maximum of 2000/u],
  [{ vout: -1 }, /four bytes/u],
  [{ vout: 2 ** 32 }, /four bytes/u],
  [{ sequence: 0.5 }, /four bytes/u],
  [{ key: { branch: 0, index: -1 } }, /names no key/u],
  [{ key: { branch: 0, index: 2 ** 31 } }, /names no key/u],
  [{ key: { branch: 4 as 0, index: 1 } }, /names no key/u],
  [{ key: { branch: 3, index: 5 } }, /a fee charge through a leaf/u],
  [{ key: { branch: 3, index: 5 }, path: 'key' }, /a fee charge through a leaf/u],
  [{ key: { branch: 3, index: 5 }, path: 'key', leafScript: null }, /does not belong to key/u],
  [{ script: wallet.feesAddress(5).script, path: 'key', leafScript: null }, /does not belong to key/u],
];
const p2wpkhScript = Uint8Array.of(0, 20, ...new Uint8Array(20).fill(3));
const own = directPlan(made).outputs[1]!.own!;
const service = directPlan(made).outputs[1]!;
const outputFaults: readonly (readonly [PlannedOutput, RegExp])[] = [
  [{ ...service, value: 329n }, /dust/u],
  [{ ...service, value: -1n }, /not an amount/u],
  [{ ...service, script: wallet.ownAddress(8).script }, /does not belong to key/u],
  [{ ...service, own: { ...own, key: { branch: 1, index: 8 } } }, /does not belong to key/u],
  [{ ...service, own: { ...own, key: { branch: 0, index: 7 } } }, /does not belong to key/u],
  [{ ...service, kind: 'parent', own: { ...own, key: { branch: 1, index: 8 } } }, /does not belong to key/u],
  [{ ...service, own: { ...own, leafScript: orderLeaf(wallet, 7) } }, /something other than the key/u],
  [{ kind: 'service', script: service.script, value: 22_000n }, /names no key/u],
  [{ kind: 'change', script: service.script, value: 22_000n }, /names no key/u],
  [{ kind: 'commit', script: service.script, value: 22_000n }, /names no key/u],
  [{ kind: 'anchor', script: service.script, value: 22_000n }, /not P2A/u],
  [{ kind: 'anchor', script: p2a, value: 22_000n }, /would be lost/u],
  [{ kind: 'anchor', script: p2a, value: 239n }, /dust/u],
  [{ kind: 'burn', script: opReturn, value: 22_000n }, /would be lost/u],
  [{ kind: 'burn', script: service.script, value: 22_000n }, /not OP_RETURN/u],
  [{ kind: 'postage', script: p2a, value: 22_000n }, /no one owns/u],
  [{ kind: 'refund', script: opReturn, value: 22_000n }, /no one owns/u],
  [{ kind: 'refund', script: offCurve, value: 22_000n }, /owns the script/u],
  [
    { kind: 'postage', script: Uint8Array.of(0x52, 0x20, ...new Uint8Array(32)), value: 22_000n },
    /owns the script/u,
  ],
  [{ kind: 'parent', script: Uint8Array.of(0x51), value: 22_000n }, /no one owns/u],
  [{ kind: 'postage', script: new Uint8Array(0), value: 22_000n }, /no one owns/u],
  [
    {
      ...service,
      script: wallet.feesAddress(7).script,
      own: { key: { branch: 3, index: 7 }, leafScript: null },
    },
    /pays a key of fee charges/u,
  ],
  [{ ...service, script: wallet.feesAddress(7).script }, /does not belong to key/u],
  [
    { kind: 'refund', script: directPlan(made).inputs[0]!.script, value: 22_000n },
    /sends nothing to itself/u,
  ],
  [{ kind: 'parent', script: p2wpkhScript, value: 293n }, /at least 294/u],
  [{ kind: 'tip' as 'refund', script: service.script, value: 22_000n }, /kind tip is unknown/u],
];

describe('a plan is refused that', () => {
  const plan = directPlan(made);

  test.each(inputFaults)('spends an input with %o', (change, rule) => {
    const [first, ...others] = plan.inputs;
    expect(refusalOf({ ...plan, inputs: [{ ...first!, ...change }, ...others] })).toMatch(rule);
  });

  test.each(outputFaults)('has an output %o', (output, rule) => {
    expect(refusalOf({ ...plan, outputs: [plan.outputs[0]!, output] })).toMatch(rule);
  });

  test('sends a customer an output that it keeps', () => {
    const refund = { kind: 'refund' as const, script: service.script, value: 5_000n };
    const withOutput = (...more: readonly PlannedOutput[]) => ({
      ...plan,
      outputs: [...plan.outputs, ...more],
    });
    expect(refusalOf(withOutput(refund))).toMatch(/output 2: .* sends nothing to itself/u);
    expect(refusalOf(withOutput({ ...refund, own }))).toMatch(/output 2: .* sends nothing to itself/u);
    // a parent stays at the wallet until its last reveal
    const parent = { ...refund, kind: 'parent' as const, own };
    expect(refusalOf(withOutput(parent, refund))).toMatch(/output 3: .* sends nothing to itself/u);
    expect(refusalOf(withOutput(parent))).toMatch(/sats more than its inputs/u);
  });

  test('is of another form', () => {
    expect(refusalOf({ ...plan, inputs: [] })).toMatch(/no input of the wallet/u);
    expect(refusalOf({ ...plan, outputs: [] })).toMatch(/no output/u);
    expect(refusalOf({ ...plan, version: 1 as 2 })).toMatch(/version/u);
    expect(refusalOf({ ...plan, lockTime: -1 })).toMatch(/lock time/u);
    expect(refusalOf({ ...plan, inputs: [plan.inputs[0]!, plan.inputs[0]!] })).toMatch(/spend one output/u);
  });

  test('pays more than it allows itself, or than any transaction may', () => {
    expect(refusalOf({ ...plan, feeMax: 1453n })).toMatch(/fee of 1454 sats/u);
    const [first] = plan.inputs;
    const { weight } = signer.signPlan({ ...plan, inputs: [{ ...first!, value: 25_000n }], feeMax: 3000n }, [
      nothingHeld,
    ]);
    const paid = plan.outputs.reduce((sum, { value }) => sum + value, 0n);
    // Bitcoin Core rounds virtual bytes up
    const most = 10_000n * BigInt(Math.ceil(weight / 4));
    const dear = { ...plan, inputs: [{ ...first!, value: paid + most }], feeMax: 10n ** 12n };
    expect(signer.signPlan(dear, plainInputs(dear)).fee).toBe(most);
    const dearer = { ...dear, inputs: [{ ...first!, value: paid + most + 1n }] };
    expect(refusalOf(dearer)).toMatch(/per vbyte/u);
  });

  test('has any byte of an own script or leaf changed', () => {
    const flip = (bytes: Uint8Array, at: number): Uint8Array =>
      bytes.map((byte, place) => (place === at % bytes.length ? byte ^ 0x10 : byte));
    fc.assert(
      fc.property(fc.constantFrom('input', 'leaf', 'output'), fc.nat(), (part, at) => {
        const [first, ...others] = plan.inputs;
        const inputs = [
          {
            ...first!,
            ...(part === 'input' ? { script: flip(first!.script, at) } : {}),
            ...(part === 'leaf' ? { leafScript: flip(first!.leafScript!, at) } : {}),
          },
          ...others,
        ];
        const outputs = part === 'output' ? [{ ...service, script: flip(service.script, at) }] : plan.outputs;
        expect(refusalOf({ ...plan, inputs, outputs, feeMax: 30_000n })).toMatch(/^The plan of/u);
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
