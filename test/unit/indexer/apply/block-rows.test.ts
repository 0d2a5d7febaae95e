import { expect, test } from 'vitest';
import { encodeLocations } from '#indexer/apply/block-rows.ts';
import type { LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import { CopyEncoder } from '#kernel/pg/copy-binary.ts';

/** Makes a block whose ledger puts this many inscriptions into one output. The output's script has this many bytes. */
function inOneOutput(inscriptions: number, scriptLength: number): LedgerBlock {
  const zeros = (): number[] => Array.from({ length: inscriptions }, () => 0);
  const locations = {
    count: inscriptions,
    key: Int32Array.from(zeros(), (_, row) => row),
    step: Uint32Array.from(zeros()),
    place: Uint8Array.from(zeros()),
    txid: Int32Array.from(zeros(), () => -1),
    vout: Uint32Array.from(zeros()),
    satOffset: Float64Array.from(zeros()),
    value: Float64Array.from(zeros()),
    scriptStart: Uint32Array.from(zeros()),
    scriptLength: Uint32Array.from(zeros(), () => scriptLength),
    fingerprintLow: Uint32Array.from(zeros()),
    fingerprintHigh: Uint32Array.from(zeros()),
    spent: Uint8Array.from(zeros()),
  };
  return { height: 1, locations, txids: new Uint8Array(0) } as unknown as LedgerBlock; // only these fields are read
}

test('rows of locations grow with the inscriptions, not with the length of their shared script', () => {
  const script = new Uint8Array(50_000).fill(0x6a);
  const sizeOf = (scriptLength: number): number => {
    const out = new CopyEncoder(11);
    encodeLocations(out, script, inOneOutput(1000, scriptLength), null);
    let size = 0;
    for (const chunk of out.chunks()) size += chunk.length;
    return size;
  };
  expect(sizeOf(50_000)).toBe(sizeOf(128));
  expect(sizeOf(128) - sizeOf(42)).toBe(1000 * (128 - 42));
});
