import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asTxid, displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  inscriptionIdFromBytes,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';

const txid = '6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799';

describe('inscription ids', () => {
  test('are the reversed txid and the index', () => {
    const id = parseInscriptionId(`${txid}i7`)!;
    expect(Buffer.from(id.txid).toString('hex')).toBe(Buffer.from(txid, 'hex').reverse().toString('hex'));
    expect(id.index).toBe(7);
  });

  test('are read again as they were written', () => {
    const arbitraryTxid = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(arbitraryTxid, fc.nat(), (bytes, index) => {
        expect(parseInscriptionId(formatInscriptionId(asTxid(bytes), index))).toEqual({ txid: bytes, index });
        expect(parseTxid(displayHash(bytes))).toEqual(bytes);
      }),
    );
  });

  test('may be upper case and have zeros before the index', () => {
    const { txid: bytes, index } = parseInscriptionId(`${txid.toUpperCase()}i007`)!;
    expect(formatInscriptionId(bytes, index)).toBe(`${txid}i7`);
  });

  test.each([
    '',
    'i0',
    txid,
    `${txid}i`,
    `${txid}i-1`,
    `${txid}i+1`,
    `${txid}i1.0`,
    `${txid}i2147483648`,
    `${txid}i99999999999`,
    ` ${txid}i0`,
    `${txid}i0\n`,
    `${txid.slice(1)}i0`,
    `${txid}ai0`,
    `g${txid.slice(1)}i0`,
    `${txid}i٣`,
  ])('are not %j', (text) => {
    expect(parseInscriptionId(text)).toBeNull();
  });

  test('of 36 bytes have their index in little endian', () => {
    const bytes = Buffer.concat([Buffer.alloc(32, 5), Buffer.from([1, 2, 0, 0xff])]);
    expect(inscriptionIdFromBytes(bytes)).toEqual({ txid: Buffer.alloc(32, 5), index: 0xff000201 });
  });
});
