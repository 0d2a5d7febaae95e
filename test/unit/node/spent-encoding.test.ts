import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeSpentOutputs } from '#node/spent-encoding.ts';

interface Output {
  readonly sats: number;
  readonly script: Uint8Array;
  readonly height: number;
}

const compactSize = (size: number): Buffer => {
  const bytes = Buffer.alloc(9);
  if (size < 0xfd) return bytes.fill(size, 0, 1).subarray(0, 1);
  const isShort = size <= 0xffff;
  bytes[0] = isShort ? 0xfd : 0xfe;
  bytes.writeUInt32LE(size, 1);
  return bytes.subarray(0, isShort ? 3 : 5);
};

/** A second implementation of the encoding of /rest/spenttxouts. */
function reference(transactions: readonly (readonly Output[])[]): Buffer {
  return Buffer.concat([
    compactSize(transactions.length + 1),
    compactSize(0),
    ...transactions.flatMap((outputs) => [
      compactSize(outputs.length),
      ...outputs.flatMap(({ sats, script }) => {
        const value = Buffer.alloc(8);
        value.writeBigUInt64LE(BigInt(sats));
        return [value, compactSize(script.length), script];
      }),
    ]),
  ]);
}

/** The block as `getblock <hash> 3` returns it, converted to JSON and back. */
function asJson(transactions: readonly (readonly Output[])[]): unknown {
  const inputs = transactions.map((outputs) => ({
    vin: outputs.map(({ sats, script, height }) => ({
      prevout: { value: sats / 1e8, height, scriptPubKey: { hex: Buffer.from(script).toString('hex') } },
    })),
  }));
  return JSON.parse(JSON.stringify({ tx: [{ vin: [{ coinbase: '51' }] }, ...inputs] }));
}

const output = fc.record({
  sats: fc.integer({ min: 0, max: 2_100_000_000_000_000 }),
  script: fc.uint8Array({ maxLength: 300 }),
  height: fc.nat(1_000_000),
});

test('gives the bytes and heights of any block', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(output, { minLength: 1, maxLength: 5 }), { maxLength: 300 }),
      (transactions) => {
        const { bytes, heights } = encodeSpentOutputs(asJson(transactions));
        expect(Buffer.from(bytes).equals(reference(transactions))).toBe(true);
        expect([...heights!]).toEqual(transactions.flat().map(({ height }) => height));
      },
    ),
  );
});

test('writes long scripts and many transactions with longer sizes', () => {
  const long = { sats: 1, script: new Uint8Array(70_000).fill(7), height: 3 };
  const transactions = [
    [long],
    ...Array.from({ length: 70_000 }, () => [{ ...long, script: new Uint8Array(0) }]),
  ];
  const { bytes } = encodeSpentOutputs(asJson(transactions));
  expect(Buffer.from(bytes).equals(reference(transactions))).toBe(true);
});

const prevout = { value: 1, height: 1, scriptPubKey: { hex: '51' } };
const blockOf = (spent: unknown): unknown => ({ tx: [{ vin: [{}] }, { vin: [{ prevout: spent }] }] });

test.each([
  ['nothing', null],
  ['a text', 'block'],
  ['no transactions', {}],
  ['transactions that are no list', { tx: {} }],
  ['a transaction without inputs', { tx: [{ vin: [] }, {}] }],
  ['an input that does not say what it spends', { tx: [{ vin: [] }, { vin: [{}] }] }],
  ['no value', blockOf({ ...prevout, value: undefined })],
  ['a value of text', blockOf({ ...prevout, value: '1' })],
  ['a negative height', blockOf({ ...prevout, height: -1 })],
  ['a height with a fraction', blockOf({ ...prevout, height: 1.5 })],
  ['half a byte of script', blockOf({ ...prevout, scriptPubKey: { hex: '515' } })],
  ['a script that is no hex', blockOf({ ...prevout, scriptPubKey: { hex: 'zz' } })],
  ['no script', blockOf({ ...prevout, scriptPubKey: {} })],
])('refuses %s', (_, block) => {
  expect(() => encodeSpentOutputs(block)).toThrow(expect.objectContaining({ code: 'node_answer_invalid' }));
});
