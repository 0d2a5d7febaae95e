import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockFlags, decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import {
  expandFingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  blockOf,
  coinbase,
  columnsOf,
  compactSize,
  inscriptionScript,
  parse,
  readEnvelopes,
  reveal,
  testKey,
  transaction,
} from './synthetic-block.ts';

const text = inscriptionScript('text/plain', Buffer.from('hello'));
const maxMoney = 2_100_000_000_000_000n;

describe('transactions and inputs', () => {
  const legacy = transaction(
    [{ outpoint: Buffer.alloc(36, 3), script: Buffer.alloc(300, 9) }],
    [{ value: 5n, script: Buffer.alloc(4) }, { value: 2n ** 40n }],
  );
  const segwit = transaction(
    [
      { outpoint: Buffer.alloc(36, 4), witness: [] },
      { outpoint: Buffer.alloc(36, 5), witness: [text, Buffer.alloc(0)] },
    ],
    [{ value: 7n }],
  );
  const block = blockOf([legacy, segwit], coinbase([{ value: 1n }]));
  const columns = columnsOf(block);

  test('have the place of every transaction and its outputs', () => {
    const starts = [81, 81 + coinbase().length, 81 + coinbase().length + legacy.length, block.length];
    expect([...columns.txStart]).toEqual(starts);
    expect([...columns.txFirstInput]).toEqual([0, 1, 2, 4]);
    expect([...columns.txOutputValue]).toEqual([1, 5 + 2 ** 40, 7]);
    expect([...columns.txOutputs].map((at) => block[at])).toEqual([1, 2, 1]);
  });

  test('have the fingerprint of each outpoint, and unknown values', () => {
    const key = expandFingerprintKey(testKey);
    const outpoints = [3, 4, 5].map((byte) => Buffer.alloc(36, byte));
    const expected = outpoints.map((outpoint) => {
      fingerprintOutpoint(new DataView(outpoint.buffer, outpoint.byteOffset, 36), 0, key);
      return { ...fingerprint };
    });
    const found = expected.map((_, index) => ({
      low: columns.inputFingerprintLow[index + 1],
      high: columns.inputFingerprintHigh[index + 1],
    }));
    expect(found).toEqual(expected);
    expect([...columns.inputValue]).toEqual([0, Number.NaN, Number.NaN, Number.NaN]);
    expect([...columns.txInputValue]).toEqual([0, Number.NaN, Number.NaN]);
    expect(columns.blockFlags[0]).toBe(0);
  });

  test('give the hash of the header and the header', () => {
    expect(Buffer.from(columns.header)).toEqual(Buffer.alloc(80));
    expect(Buffer.from(columns.blockHash)).toEqual(Buffer.from(doubleSha256(Buffer.alloc(80))));
  });

  test('hash a reveal without its witness, however long it is', () => {
    for (const scriptLength of [0, 600, 5000]) {
      const outputs = [{ value: 1n, script: Buffer.alloc(scriptLength, 1) }];
      const [envelope] = readEnvelopes(
        columnsOf(blockOf([transaction([{ witness: [text, text] }], outputs)])),
      );
      const stripped = doubleSha256(transaction([{}], outputs));
      expect(envelope?.txid).toBe(Buffer.from(stripped).reverse().toString('hex'));
    }
  });

  test('list only reveals, with the input of each envelope', () => {
    expect([...columns.revealTx]).toEqual([2]);
    expect([...columns.revealFirstEnvelope]).toEqual([0, 1]);
    expect([...columns.envelopeInput]).toEqual([1]);
  });

  test('of a coinbase are never searched for envelopes', () => {
    const first = coinbase([{ value: 0n }], [text, Buffer.alloc(0)]);
    expect(readEnvelopes(columnsOf(blockOf([], first)))).toEqual([]);
    expect(readEnvelopes(columnsOf(blockOf([reveal(text)], first)))).toHaveLength(1);
  });

  test('may be absent', () => {
    const none = Buffer.concat([Buffer.alloc(80), Buffer.from([0])]);
    expect([...columnsOf(none).txStart]).toEqual([81]);
  });

  test('flag values that cannot exist', () => {
    const flagsOf = (...values: bigint[]): number =>
      columnsOf(
        blockOf([
          transaction(
            [{}],
            values.map((value) => ({ value })),
          ),
        ]),
      ).blockFlags[0]!;
    expect(flagsOf(maxMoney)).toBe(0);
    expect(flagsOf(maxMoney + 1n)).toBe(blockFlags.valueOutOfRange);
    expect(flagsOf(2n ** 64n - 1n)).toBe(blockFlags.valueOutOfRange);
    expect(flagsOf(maxMoney, 1n)).toBe(blockFlags.valueOutOfRange);
  });
});

describe('the witness script', () => {
  const empty = Buffer.alloc(0);
  const annex = Buffer.from([0x50, 1]);
  const found = (...witness: Uint8Array[]): number =>
    readEnvelopes(columnsOf(blockOf([transaction([{ witness }])]))).length;

  test('is the item before the last, or before an annex', () => {
    expect(found(text)).toBe(0);
    expect(found(text, empty)).toBe(1);
    expect(found(empty, text, empty)).toBe(1);
    expect(found(empty, text)).toBe(0);
    expect(found(text, empty, annex)).toBe(1);
    expect(found(empty, text, annex)).toBe(0);
    expect(found(empty, text, empty, annex)).toBe(1);
    expect(found(text, annex)).toBe(0);
  });

  test('may begin like a signature', () => {
    const envelope = Buffer.from('0063036f726468', 'hex');
    // a push of 48 bytes looks like the start of a DER signature; the envelope comes at every distance after it
    for (let distance = 0; distance < 30; distance++) {
      const script = Buffer.concat([
        Buffer.from([0x30]),
        Buffer.alloc(48),
        Buffer.alloc(distance, 0x75),
        envelope,
      ]);
      for (let behind = 0; behind < 4; behind++) {
        const whole = Buffer.concat([script, Buffer.alloc(behind, 0x75)]);
        expect(found(whole, empty), `${distance} ${behind}`).toBe(1);
        expect(found(whole, Buffer.alloc(33, 0x63)), `${distance} ${behind}`).toBe(1);
      }
      expect(found(script.subarray(0, -1), empty)).toBe(0);
    }
    expect(found(Buffer.concat([Buffer.from([0x30]), envelope]), empty)).toBe(0);
  });

  test('is found among very many items', () => {
    const items = Array.from({ length: 70_000 }, () => empty);
    expect(found(...items, text, empty)).toBe(1);
  });
});

describe('a block that is broken', () => {
  const whole = blockOf([reveal(text), transaction([{}, {}], [{ value: 1n, script: Buffer.alloc(260) }])]);

  test('is truncated, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (length) => {
        expect(parse(whole.subarray(0, length))).toMatchObject({
          kind: 'broken',
          code: 'block_truncated',
          at: length,
        });
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is oversized with bytes after it, or longer than a block can be', () => {
    const behind = Buffer.concat([whole, Buffer.from([0])]);
    expect(parse(behind)).toMatchObject({ code: 'block_oversized', at: whole.length });
    expect(parse(new Uint8Array(4_000_001))).toMatchObject({ code: 'block_oversized', at: 4_000_000 });
  });

  test('claims more than it has', () => {
    const claims = ['fdffff', 'feffffffff', 'ffffffffffffffffff', 'ff0000000001000000', 'fe0000ff7f'];
    for (const claim of claims) {
      const block = Buffer.concat([Buffer.alloc(80), Buffer.from(claim, 'hex'), Buffer.alloc(20)]);
      expect(parse(block), claim).toMatchObject({ code: 'block_truncated' });
    }
  });

  test('is corrupt where Bitcoin Core refuses its encoding', () => {
    for (const count of ['fd0100', 'fefd000000', 'fe01000000', 'ff0100000000000000']) {
      const block = Buffer.concat([Buffer.alloc(80), Buffer.from(count, 'hex'), coinbase()]);
      expect(parse(block), count).toMatchObject({ code: 'block_corrupt' });
    }
    const flagged = Buffer.from(reveal(text));
    flagged[5] = 2;
    expect(parse(blockOf([flagged]))).toMatchObject({ code: 'block_corrupt' });
  });

  test('leaves nothing behind for the next one', () => {
    const before = parse(whole);
    parse(whole.subarray(0, whole.length - 3));
    expect(parse(whole)).toEqual(before);
  });
});

describe('a buffer that is given for the columns', () => {
  const block = blockOf([reveal(text)]);
  const fresh = parse(block) as { columns: ArrayBuffer };

  test('is used if it is large enough, whatever is in it', () => {
    const into = new Uint8Array(fresh.columns.byteLength + 100).fill(0xee).buffer;
    const result = parse(block, { into }) as { columns: ArrayBuffer };
    expect(result.columns).toBe(into);
    expect(readEnvelopes(decodeBlockColumns(into))).toEqual(readEnvelopes(decodeBlockColumns(fresh.columns)));
    expect(decodeBlockColumns(into)).toEqual(decodeBlockColumns(fresh.columns));
  });

  test('is left alone if it is too small', () => {
    const into = new ArrayBuffer(fresh.columns.byteLength - 8);
    expect((parse(block, { into }) as { columns: ArrayBuffer }).columns).not.toBe(into);
  });
});

describe('spent outputs', () => {
  const spentOutput = (value: bigint, scriptLength = 22): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return Buffer.concat([bytes, compactSize(scriptLength), Buffer.alloc(scriptLength)]);
  };
  const of = (...transactions: Buffer[][]): Buffer =>
    Buffer.concat([
      compactSize(transactions.length),
      ...transactions.map((outputs) => Buffer.concat([compactSize(outputs.length), ...outputs])),
    ]);
  const block = blockOf([transaction([{}, {}], [{ value: 10n }]), reveal(text)]);
  const good = of([], [spentOutput(4n), spentOutput(9n, 300)], [spentOutput(100n)]);

  test('become values of inputs and sums of transactions', () => {
    const columns = columnsOf(block, { spent: good });
    expect([...columns.inputValue]).toEqual([0, 4, 9, 100]);
    expect([...columns.txInputValue]).toEqual([0, 13, 100]);
    expect(columns.blockFlags[0]).toBe(blockFlags.hasSpent);
  });

  test.each([
    ['too few transactions', of([], [spentOutput(4n), spentOutput(9n)])],
    ['too many transactions', of([], [spentOutput(4n), spentOutput(9n)], [spentOutput(100n)], [])],
    ['too few inputs', of([], [spentOutput(40n)], [spentOutput(100n)])],
    [
      'an input of the coinbase',
      of([spentOutput(1n)], [spentOutput(4n), spentOutput(9n)], [spentOutput(100n)]),
    ],
    ['less than is given', of([], [spentOutput(4n), spentOutput(5n)], [spentOutput(100n)])],
    ['an impossible value', of([], [spentOutput(4n), spentOutput(maxMoney + 1n)], [spentOutput(100n)])],
    ['bytes after the last output', Buffer.concat([good, Buffer.from([0])])],
  ])('that do not match are refused: %s', (_, spent) => {
    expect(parse(block, { spent })).toMatchObject({ kind: 'broken', code: 'spent_outputs_mismatch' });
  });

  test('that are cut are truncated', () => {
    for (let length = 0; length < good.length; length++) {
      expect(parse(block, { spent: good.subarray(0, length) })).toMatchObject({
        kind: 'broken',
        code: 'block_truncated',
      });
    }
  });
});
