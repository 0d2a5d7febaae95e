import { Psbt } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '#kernel/concurrency/work-in-steps.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type FinalTransaction, finalizePsbt } from '#psbts/bytes/finalize-psbt.ts';
import { PsbtFaults } from '#psbts/bytes/psbt-faults.ts';
import {
  type PsbtCoin,
  type PsbtPayment,
  signInput,
  unsignedPsbt,
} from '#test/builders/psbts/signed-psbts.ts';
import {
  type AddressType,
  addressTypes,
  isShared,
  typedAddress,
} from '#test/builders/regtest/regtest-address.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const finalize = (...signed: readonly Uint8Array[]): FinalTransaction => {
  const [first, ...others] = signed;
  return atOnce(finalizePsbt([first!, ...others], networks.regtest));
};
function faultsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof PsbtFaults) return error.faults;
    throw error;
  }
  return [];
}
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const taproot: readonly AddressType[] = ['p2tr', 'p2tr-leaf', 'p2tr-2of2'];
const payment = (coins: readonly PsbtCoin[], value = 1000n): PsbtPayment => ({
  coins,
  outputs: coins.map((_, place) => ({ script: typedAddress(place, 'p2wpkh').script, value })),
  lockTime: 0,
});
const coin = (type: AddressType, owner = 1, sighash: number | null = null): PsbtCoin => ({
  owner,
  type,
  value: 2000n,
  sighash,
});

const coins = fc.array(
  fc
    .record({
      owner: fc.integer({ min: 0, max: 5 }),
      type: fc.constantFrom(...addressTypes),
      value: fc.bigInt(1000n, 5_000_000_000n),
      sighash: fc.constantFrom(null, null, 1, 2, 3, 0x81, 0x82, 0x83),
    })
    .map((one) => (one.sighash === 1 && taproot.includes(one.type) ? { ...one, sighash: 0 } : one)),
  { minLength: 1, maxLength: 6 },
);
const payments: fc.Arbitrary<PsbtPayment> = coins.chain((spent) =>
  fc.record({
    coins: fc.constant(spent),
    outputs: fc.array(
      fc.record({
        script: fc.constantFrom(...addressTypes).map((type) => typedAddress(9, type).script),
        // all outputs together have fewer sats than the coins, although there may be two more outputs than coins
        value: fc.bigInt(1n, 300n),
      }),
      // each input needs an output with the same index, for SINGLE signatures
      { minLength: spent.length, maxLength: spent.length + 2 },
    ),
    lockTime: fc.integer({ min: 0, max: 0xffff_ffff }),
  }),
);

describe('signed PSBTs', () => {
  test("of any types, signed in any way, are the transactions that the signer's library makes of them", () => {
    fc.assert(
      fc.property(payments, (drawn) => {
        const psbt = unsignedPsbt(drawn);
        for (const [place, each] of drawn.coins.entries()) signInput(psbt, place, each);
        const final = finalize(psbt.toPSBT());
        psbt.finalize();
        expect(hexOf(final.bytes)).toBe(hexOf(psbt.extract()));
        expect(displayHash(final.txid)).toBe(psbt.id);
        expect(final.virtualBytes).toBe(psbt.vsize);
        expect(final.fee).toBe(psbt.fee);
        expect(final.warnings.some((warning) => warning.includes('not checked'))).toBe(false);
        const isOpen = drawn.coins.some(({ sighash }) => sighash !== null && sighash > 1);
        expect(final.warnings.some((warning) => warning.includes('do not cover'))).toBe(isOpen);
        // inputs that are already finalized are kept, and checked too
        const again = finalize(psbt.toPSBT());
        expect(hexOf(again.bytes)).toBe(hexOf(final.bytes));
        expect(again.warnings).toEqual(final.warnings);
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  test('by several signers, each with a PSBT of its own, are put together', () => {
    fc.assert(
      fc.property(payments, fc.boolean(), (drawn, isFinal) => {
        const whole = unsignedPsbt(drawn);
        const parts: Uint8Array[] = [];
        for (const [place, each] of drawn.coins.entries()) {
          for (const key of isShared(each.type) ? [1, 0] : [0]) {
            const own = unsignedPsbt(drawn);
            signInput(own, place, each, key);
            signInput(whole, place, each, key);
            if (isFinal && !isShared(each.type)) own.finalizeIdx(place);
            parts.push(own.toPSBT());
          }
        }
        whole.finalize();
        const final = finalize(...parts);
        // Taproot signatures contain random numbers, so only the txids are equal
        expect(displayHash(final.txid)).toBe(whole.id);
        expect(final.warnings.some((warning) => warning.includes('not checked'))).toBe(false);
        for (const [place] of parts.entries()) {
          const others = parts.filter((_, index) => index !== place);
          if (others.length > 0)
            expect(
              faultsOf(() => finalize(...others)),
              'without one',
            ).toHaveLength(1);
        }
      }),
      { numRuns: propertyRuns(8) },
    );
  });

  test('without a signature, or with a wrong one, name their input', () => {
    for (const type of addressTypes) {
      const drawn = payment([coin('p2wpkh', 7), coin(type)]);
      const psbt = unsignedPsbt(drawn);
      signInput(psbt, 0, drawn.coins[0]!);
      const [missing, ...others] = faultsOf(() => finalize(psbt.toPSBT()));
      expect([missing, others], type).toEqual([expect.stringContaining('Input 1 is not signed by '), []]);
      signInput(psbt, 1, drawn.coins[1]!);
      // these signatures are for a transaction that pays one sat more
      const changed = unsignedPsbt({
        ...drawn,
        outputs: drawn.outputs.map((each) => ({ ...each, value: 1001n })),
      });
      const { partialSig, tapKeySig, tapScriptSig } = psbt.getInput(1);
      changed.updateInput(1, {
        ...(partialSig === undefined ? {} : { partialSig }),
        ...(tapKeySig === undefined ? {} : { tapKeySig }),
        ...(tapScriptSig === undefined ? {} : { tapScriptSig }),
      });
      signInput(changed, 0, drawn.coins[0]!);
      const [wrong] = faultsOf(() => finalize(changed.toPSBT()));
      expect(wrong, type).toContain('Input 1: the signature of ');
      changed.finalizeIdx(1);
      const [final] = faultsOf(() => finalize(changed.toPSBT()));
      expect(final, type).toContain('Input 1: the signature of ');
    }
  });

  test('equal the transactions of bitcoinjs-lib', () => {
    const types = ['p2pkh', 'p2wpkh', 'p2sh-p2wpkh', 'p2wsh-2of2', 'p2sh-2of2'] as const;
    const drawn = payment(types.map((type, owner) => coin(type, owner)));
    const psbt = unsignedPsbt(drawn);
    for (const [place, each] of drawn.coins.entries()) signInput(psbt, place, each);
    const signed = psbt.toPSBT();
    const theirs = Psbt.fromBuffer(signed).finalizeAllInputs().extractTransaction(true);
    expect(hexOf(finalize(signed).bytes)).toBe(theirs.toHex());
  });

  test('whose wallet left out the data that it signed are kept, and not reported as checked', () => {
    const drawn = payment([coin('p2tr', 1), coin('p2wpkh', 2)]);
    const psbt = unsignedPsbt(drawn);
    for (const [place, each] of drawn.coins.entries()) signInput(psbt, place, each);
    psbt.finalize();
    const bytes = psbt.extract();
    for (const place of [0, 1]) psbt.updateInput(place, { witnessUtxo: undefined } as never, true);
    const stripped = finalize(psbt.toPSBT());
    expect(hexOf(stripped.bytes)).toBe(hexOf(bytes));
    expect(stripped.fee).toBe(null);
    expect(stripped.warnings).toEqual([
      expect.stringContaining('Signatures of inputs 0, 1 were not checked'),
    ]);
    // the original PSBT adds everything that was missing
    expect(finalize(psbt.toPSBT(), unsignedPsbt(drawn).toPSBT())).toMatchObject({ fee: 2000n, warnings: [] });
  });

  test('with an absurd fee are warned about, not refused', () => {
    const sent = (value: bigint): readonly string[] => {
      const drawn = payment([{ ...coin('p2tr'), value }]);
      const psbt = unsignedPsbt(drawn);
      signInput(psbt, 0, drawn.coins[0]!);
      return finalize(psbt.toPSBT()).warnings;
    };
    expect(sent(2000n)).toEqual([]);
    expect(sent(2001n)).toEqual(['The fee of 1001 sats is more than the total of all outputs (1000 sats).']);
    expect(sent(5_000_000n)).toEqual([expect.stringContaining('nodes send no transaction above 10000')]);
    const over = unsignedPsbt({
      ...payment([coin('p2tr')]),
      outputs: [{ script: typedAddress(1, 'p2tr').script, value: 2001n }],
    });
    expect(faultsOf(() => finalize(over.toPSBT()))).toEqual([
      'psbt has outputs of 2001 sats, but inputs of only 2000 sats',
    ]);
  });

  test('with signatures of another type than they ask for are refused', () => {
    const asked = payment([coin('p2wpkh', 1, 1)]);
    const psbt = unsignedPsbt(asked);
    const signed = unsignedPsbt(payment([coin('p2wpkh', 1, 0x82)]));
    signInput(signed, 0, asked.coins[0]!);
    psbt.updateInput(0, { partialSig: signed.getInput(0).partialSig! });
    expect(faultsOf(() => finalize(psbt.toPSBT()))).toEqual([
      'Input 0 is signed with NONE|ANYONECANPAY, but the PSBT requires ALL.',
    ]);
  });
});
