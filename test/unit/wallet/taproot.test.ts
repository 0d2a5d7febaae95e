import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transaction } from 'bitcoinjs-lib';
import { expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
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
    // the hash of the leaf is enough
    const leafHash = leafHashOf(bytes(leaf));
    expect(taprootOutput(bytes(internalKey), { leafScript: null, leafHash })).toEqual(output);
  },
);

test('what an input signs by key is what BIP 341 says', () => {
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
