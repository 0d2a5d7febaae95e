import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  asBlockHash,
  asBlockHashHex,
  asTxid,
  type BlockHash,
  type BlockHashHex,
  displayHash,
  parseBlockHash,
  parseBlockHashHex,
  parseTxid,
  type Txid,
  type TxidHex,
} from '#kernel/primitives/hash.ts';

const shown = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';

describe('txids and block hashes', () => {
  test('do not compile in place of each other, nor does the shown form in place of the bytes', () => {
    expectTypeOf<Uint8Array>().not.toExtend<Txid>();
    expectTypeOf<Txid>().not.toExtend<BlockHash>();
    expectTypeOf<string>().not.toExtend<BlockHashHex>();
    expectTypeOf(displayHash(asTxid(new Uint8Array(32)))).toEqualTypeOf<TxidHex>();
    expectTypeOf(displayHash(asBlockHash(new Uint8Array(32)))).toEqualTypeOf<BlockHashHex>();
  });

  test('are read from hex of either case and shown reversed, in lower case', () => {
    const hash = parseBlockHash(shown.toUpperCase());
    expect(hash?.at(-1)).toBe(0);
    expect(hash?.at(0)).toBe(0x6f);
    expect(hash && displayHash(hash)).toBe(shown);
    expect(parseTxid(shown)).toEqual(hash);
    expect(parseBlockHashHex(shown.toUpperCase())).toBe(shown);
    expect(asBlockHashHex(shown)).toBe(shown);
  });

  test.each(['', shown.slice(1), `${shown}0`, ` ${shown.slice(1)}`, shown.replace('f', 'g')])(
    'are not read from %j',
    (text) => {
      expect(parseTxid(text)).toBeNull();
      expect(parseBlockHash(text)).toBeNull();
      expect(parseBlockHashHex(text)).toBeNull();
      expect(() => asBlockHashHex(text)).toThrow('is not a block hash');
    },
  );

  test.each([0, 31, 33])('are never %d bytes', (length) => {
    expect(() => asTxid(new Uint8Array(length))).toThrow('a txid of');
    expect(() => asBlockHash(new Uint8Array(length))).toThrow('a block hash of');
  });
});
