import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joined, transactionJson } from '#http/ord/answers/transaction-json.ts';
import { decodeJson } from '#http/ord/transactions/decode.ts';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { trustedSats } from '#kernel/primitives/sats.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { writePush } from '#test/builders/envelope.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = trustedTxid(Buffer.alloc(32, 7));

/** A transaction whose witness contains a script. The bytes of the transaction are not used. */
function transactionWith(script: Uint8Array, outputs: RawTransaction['outputs'] = []): RawTransaction {
  const input = { previousTxid: txid, previousVout: 0, scriptSig: Buffer.alloc(0), sequence: 0 };
  const witness = [script, Buffer.alloc(33)];
  return {
    version: 2,
    lockTime: 0,
    inputs: [{ ...input, witness }],
    outputs,
    txid,
    weight: 0,
    bytes: Buffer.alloc(0),
  };
}

/** Makes an envelope with these items. A number is pushed by its opcode. */
function envelopeOf(items: readonly (Uint8Array | number)[]): Buffer {
  const out = new ByteWriter();
  out.u8(0);
  out.u8(0x63);
  writePush(out, Buffer.from('ord'));
  for (const item of items) {
    if (typeof item === 'number') out.u8(0x50 + item);
    else writePush(out, item);
  }
  out.u8(0x68);
  return out.bytes.subarray(0, out.length);
}

const repeated = (count: number, ...items: readonly (Uint8Array | number)[]): (Uint8Array | number)[] =>
  Array.from({ length: count }, () => items).flat();

const bytesOf = (item: Uint8Array | number): number[] => (typeof item === 'number' ? [item] : [...item]);

/** ord's response for the items of one envelope. Follows ord's rules in the simplest way, whatever it costs. */
function expectedPayload(items: readonly (Uint8Array | number)[]): object {
  const bytes = items.map(bytesOf);
  const body = bytes.findIndex((item, place) => place % 2 === 0 && item.length === 0);
  const end = body === -1 ? bytes.length : body;
  const fields = new Map<string, number[][]>();
  for (let place = 0; place + 1 < end; place += 2) {
    const key = String(bytes[place]);
    const values = fields.get(key) ?? [];
    values.push(bytes[place + 1] ?? []);
    fields.set(key, values);
  }
  const first = (tag: number): number[] | null => fields.get(String(tag))?.[0] ?? null;
  const whole = (tag: number): number[] | null => fields.get(String(tag))?.flat() ?? null;
  return {
    body: body === -1 ? null : bytes.slice(body + 1).flat(),
    content_encoding: first(9),
    content_type: first(1),
    delegate: first(11),
    duplicate_field: [...fields.values()].some((values) => values.length > 1),
    incomplete_field: end % 2 === 1,
    metadata: whole(5),
    metaprotocol: first(7),
    parents: fields.get('3') ?? [],
    pointer: first(2),
    properties: whole(17),
    property_encoding: first(19),
    rune: first(13),
    unrecognized_even_field: [...fields].some(
      ([key, values]) => Number(key.split(',', 1)[0]) % 2 === 0 && (key !== '2' || values.length > 1),
    ),
  };
}

const decoded = (script: Uint8Array): string => [...joined(decodeJson(transactionWith(script)))].join('');

describe('the envelopes of a transaction', () => {
  test('are answered as in ord, with any items', () => {
    const key = fc.oneof(
      fc.integer({ min: 1, max: 16 }),
      fc.constantFrom(17, 19, 255).map((tag) => Buffer.of(tag)),
    );
    const value = fc.uint8Array({ maxLength: 4 });
    const items = fc.array(fc.oneof({ weight: 3, arbitrary: key }, value), { maxLength: 24 });
    fc.assert(
      fc.property(items, (of) => {
        const [envelope] = (JSON.parse(decoded(envelopeOf(of))) as { inscriptions: object[] }).inscriptions;
        expect(envelope).toMatchObject({ payload: expectedPayload(of) });
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  const items = 100_000;
  test.each([
    ['fields of two bytes', repeated(items / 2, 1, 1)],
    [
      'fields with keys that all differ',
      Array.from({ length: items }, (_, place) => Buffer.from([9, 9, place >> 16, place >> 8, place])),
    ],
    ['parents of a byte', repeated(items / 2, 3, 1)],
    ['metadata of a byte', repeated(items / 2, 5, 1)],
    ['a body of bytes', [Buffer.alloc(0), ...repeated(items, 1)]],
    ['a body of nothing', [Buffer.alloc(0), ...repeated(items, Buffer.alloc(0))]],
  ])('are made in steps: %s', (_name, of) => {
    const script = envelopeOf(of);
    const pieces = [...joined(decodeJson(transactionWith(script)))];
    expect(pieces.length).toBeGreaterThanOrEqual(items / 2 / 8192);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300_000);
    const [envelope] = (JSON.parse(pieces.join('')) as { inscriptions: { payload: object }[] }).inscriptions;
    // compared as texts, because comparing lists of a million numbers takes seconds
    expect(JSON.stringify(envelope?.payload) === JSON.stringify(expectedPayload(of))).toBe(true);
  });
});

test('the outputs of a transaction are made in pieces', () => {
  const outputs = Array.from({ length: 100_000 }, (_, place) => ({
    value: trustedSats(place),
    script: Buffer.from([0x6a, place & 0xff]),
  }));
  const pieces = [...joined(transactionJson(transactionWith(Buffer.alloc(0), outputs)))];
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300_000);
  const { output } = JSON.parse(pieces.join('')) as { output: unknown[] };
  expect(output).toHaveLength(outputs.length);
  expect(output[258]).toEqual({ value: 258, script_pubkey: '6a02' });
});
