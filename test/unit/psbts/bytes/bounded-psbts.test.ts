import { pubSchnorr, taprootTweakPubkey } from '@scure/btc-signer/utils.js';
import { describe, expect, test } from 'vitest';
import { compactSize } from '#kernel/bitcoin/transaction-bytes.ts';
import { networks } from '#kernel/primitives/network.ts';
import { finalizePsbt } from '#psbts/bytes/finalize-psbt.ts';
import { PsbtFaults } from '#psbts/bytes/psbt-faults.ts';
import { psbtBytesMax } from '#psbts/bytes/psbt-text.ts';
import { leafHashOf } from '#psbts/bytes/tap-leaf.ts';
import { typedAddress } from '#test/builders/regtest/regtest-address.ts';

type Field = readonly [key: Uint8Array, value: Uint8Array];

const sized = (bytes: Uint8Array): Uint8Array => Buffer.concat([compactSize(bytes.length), bytes]);
const mapOf = (fields: readonly Field[]): Uint8Array =>
  Buffer.concat([...fields.flatMap(([key, value]) => [sized(key), sized(value)]), Buffer.of(0)]);

/** A PSBT with one input that has these fields and spends an output with this script. */
function psbtOf(script: Uint8Array, fields: readonly Field[]): Uint8Array {
  const output = Buffer.concat([Buffer.from('e803000000000000', 'hex'), sized(script)]);
  const unsigned = Buffer.concat([
    Buffer.from('0200000001', 'hex'),
    Buffer.alloc(36, 1),
    Buffer.from('00fdffffff01', 'hex'),
    output,
    Buffer.alloc(4),
  ]);
  const global: Field = [Buffer.of(0), unsigned];
  return Buffer.concat([
    Buffer.from('70736274ff', 'hex'),
    mapOf([global]),
    mapOf([[Buffer.of(1), output], ...fields]),
    Buffer.of(0),
  ]);
}

/** The reasons for which a PSBT is refused, one sentence each. */
function faultsOf(bytes: Uint8Array): readonly string[] {
  expect(bytes.length).toBeLessThanOrEqual(psbtBytesMax);
  try {
    const steps = finalizePsbt([bytes, bytes], networks.regtest);
    while (steps.next().done !== true);
    return [];
  } catch (error) {
    if (error instanceof PsbtFaults) return error.faults;
    throw error;
  }
}

const number = (value: number, bytes: number): Uint8Array => {
  const made = Buffer.alloc(bytes);
  made.writeUIntBE(value, bytes - 3, 3);
  return made;
};

const tooManyFields = ['psbt has more than 5000 fields for input 0'];

// without these limits, one request kept the event loop busy for up to ten seconds
describe('PSBTs that are made to keep a processor busy are refused', () => {
  test('with as many signatures of one input as fit', () => {
    const fields = Array.from(
      { length: 120_000 },
      (_, at): Field => [Buffer.concat([Buffer.of(2), number(at, 3)]), Buffer.of(1)],
    );
    expect(faultsOf(psbtOf(typedAddress(1, 'p2wpkh').script, fields))).toEqual(tooManyFields);
  });

  test('with keys of one input as long as keys are', () => {
    const fields = Array.from(
      { length: 25_000 },
      (_, at): Field => [Buffer.concat([Buffer.of(2), number(at, 33)]), Buffer.of(1)],
    );
    expect(faultsOf(psbtOf(typedAddress(1, 'p2wpkh').script, fields))).toEqual(tooManyFields);
  });

  test('with a leaf of many keys, and as many signatures', () => {
    const keys = Array.from({ length: 6_000 }, (_, at) => number(at + 1, 32));
    const script = Buffer.concat(
      keys.flatMap((key, at) => [Buffer.of(32), key, Buffer.of(at === keys.length - 1 ? 0xac : 0xad)]),
    );
    const leafHash = leafHashOf({ script, version: 0xc0 });
    const internal = pubSchnorr(Buffer.alloc(32, 1));
    const [outputKey, parity] = taprootTweakPubkey(internal, leafHash);
    const fields = Array.from(
      { length: 4_900 },
      (_, at): Field => [
        Buffer.concat([Buffer.of(0x14), number(at + 100_000, 32), leafHash]),
        Buffer.alloc(64, 1),
      ],
    );
    const leaf: Field = [
      Buffer.concat([Buffer.of(0x15, 0xc0 + parity), internal]),
      Buffer.concat([script, Buffer.of(0xc0)]),
    ];
    const committing = Buffer.concat([Buffer.of(0x51, 32), outputKey]);
    expect(faultsOf(psbtOf(committing, [leaf, ...fields]))).toEqual([
      expect.stringContaining('Finalize the input with the wallet of its owner.'),
    ]);
  });
});
