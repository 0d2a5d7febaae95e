import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { taprootTweakPubkey } from '@scure/btc-signer/utils.js';
import { Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { AccountKeys, accountOf } from '#wallet/account-key.ts';
import { signatureMessages } from '#wallet/signature-messages.ts';
import { leafHashOf, taprootOutput } from '#wallet/taproot.ts';

interface Vectors {
  readonly outputs: readonly {
    readonly internalKey: string;
    readonly leaf: string | null;
    readonly merkleRoot: string | null;
    readonly script: string;
    readonly controlBlock: string | null;
  }[];
  readonly keyPathSpend: {
    readonly unsignedTransaction: string;
    readonly spent: readonly (readonly [script: string, value: number])[];
    readonly input: number;
    readonly sigHash: string;
  };
}

/** test/fixtures/wallet/ORIGIN.md */
const vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/wallet/bip341.json'), 'utf8'),
) as Vectors;
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hexOf = (value: Uint8Array | null): string | null =>
  value === null ? null : Buffer.from(value).toString('hex');

test.each(vectors.outputs)(
  'an output has the script, root and control block of BIP 341: $script',
  (vector) => {
    const { internalKey, leaf, merkleRoot, script, controlBlock } = vector;
    const output = taprootOutput(bytes(internalKey), { leafScript: leaf === null ? null : bytes(leaf) });
    expect(hexOf(output.merkleRoot)).toBe(merkleRoot);
    expect(hexOf(output.script)).toBe(script);
    expect(hexOf(output.controlBlock)).toBe(controlBlock);
    if (leaf === null) return;
    // without the leaf, its hash is enough
    const leafHash = leafHashOf(bytes(leaf));
    expect(taprootOutput(bytes(internalKey), { leafScript: null, leafHash })).toEqual(output);
  },
);

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('the output key and its parity are those of another library, for any key and root', () => {
  const root = fc.option(bytes32);
  const index = fc.integer({ min: 0, max: 0x7fff_ffff });
  fc.assert(
    fc.property(bytes32, index, root, (seed, at, leafHash) => {
      const key = new AccountKeys(accountOf(seed, 'regtest').key).xOnlyKey({ branch: 0, index: at });
      const output = taprootOutput(key, { leafScript: null, ...(leafHash === null ? {} : { leafHash }) });
      const [expected, parity] = taprootTweakPubkey(key, leafHash ?? new Uint8Array(0));
      expect(hexOf(output.outputKey)).toBe(hexOf(expected));
      if (leafHash !== null) expect(output.controlBlock![0]! & 1).toBe(parity);
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('a key that is not a point of the curve has no output', () => {
  // no point has x = 5, because 5³ + 7 is not a square
  const key = Uint8Array.of(...new Uint8Array(31), 5);
  expect(() => taprootOutput(key, { leafScript: null })).toThrow();
});

test('an input that is spent by key signs the message of BIP 341', () => {
  const { unsignedTransaction, spent, input, sigHash } = vectors.keyPathSpend;
  const { version, locktime, ins, outs } = Transaction.fromHex(unsignedTransaction);
  expect(version).toBe(2);
  const inputs = ins.map(({ hash, index, sequence }, place) => ({
    txid: asTxid(hash),
    vout: index,
    sequence,
    script: bytes(spent[place]![0]),
    value: BigInt(spent[place]![1]),
    key: { branch: 0, index: 0 } as const,
    leafScript: null,
    path: 'key' as const,
  }));
  const outputs = outs.map(({ script, value }) => ({ script, value, kind: 'postage' as const }));
  const messageOf = signatureMessages({ version: 2, lockTime: locktime, inputs, outputs });
  expect(hexOf(messageOf(input))).toBe(sigHash);
});
