import { expect, test } from 'vitest';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import { leafFault } from '#wallet/leaf-script.ts';

const key = new Uint8Array(32).fill(3);
const lock = [0x20, ...key, 0xac];
const envelope = (body: Uint8Array | string): number[] => [
  ...envelopeScript({ contentType: 'text/plain', body }),
];
const faultOf = (...parts: readonly (readonly number[])[]): string | null =>
  leafFault(Uint8Array.from(parts.flat()), key);

test('the key alone, one envelope, several and long ones succeed', () => {
  expect(faultOf(lock)).toBeNull();
  expect(faultOf(lock, envelope('a'))).toBeNull();
  expect(faultOf(lock, envelope(new Uint8Array(10_000)), envelope(''))).toBeNull();
});

test.each<[string, number[], RegExp]>([
  ['nothing', [], /other values/u],
  ['no signature', envelope('a'), /does not begin with the key/u],
  ['another key', [0x20, ...new Uint8Array(32), 0xac], /something other than the key/u],
  [
    'a key that is not pushed in the shortest form',
    [0x4c, 0x20, ...key, 0xac],
    /something other than the key/u,
  ],
  ['no check of the signature', [0x20, ...key, ...envelope('a')], /uses/u],
  ['an envelope before the key', [...envelope('a'), ...lock], /does not begin/u],
  ['a value left over', [...lock, 0x00], /other values/u],
  ['two values left over', [...lock, 0x00, 0x00], /more values/u],
  ['two checks', [...lock, 0x20, ...key, 0xac], /does not begin/u],
  ['an envelope without an end', [...lock, 0x00, 0x63, 0x01, 0x01], /no end/u],
  ['an end without an envelope', [...lock, 0x68], /opcode 0x68/u],
  ['an envelope in an envelope', [...lock, 0x00, 0x63, 0x00, 0x63, 0x68, 0x68], /opcode 0x63/u],
  ['OP_ELSE, which would be executed', [...lock, 0x00, 0x63, 0x67, 0x68], /opcode 0x67/u],
  ['a number instead of a push', [...lock, 0x00, 0x63, 0x51, 0x68], /opcode 0x51/u],
  ['OP_SUCCESS, with which anybody may spend', [...lock, 0x50], /opcode 0x50/u],
  ['OP_SUCCESS in an envelope', [...lock, 0x00, 0x63, 0xfe, 0x68], /opcode 0xfe/u],
  ['a push that is cut off', [...lock, 0x00, 0x63, 0x05, 0x01], /within a push/u],
  [
    'a push of 521 bytes',
    [...lock, 0x00, 0x63, 0x4d, 0x09, 0x02, ...new Uint8Array(521), 0x68],
    /521 bytes/u,
  ],
])('%s fails', (_, script, fault) => {
  expect(faultOf(script)).toMatch(fault);
});
