import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BlockColumns, decodeBlockColumns, encodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { blockOf, columnsOf } from './synthetic-block.ts';

const sample = columnsOf(blockOf([]));
const names = Object.keys(sample) as (keyof BlockColumns)[];

/** Columns of the right types, with any lengths and values. */
const anyColumns = fc.tuple(...names.map(() => fc.uint8Array({ maxLength: 40 }))).map((bytes) => {
  const columns: Record<string, unknown> = {};
  names.forEach((name, index) => {
    const Typed = sample[name].constructor as new (buffer: ArrayBuffer) => unknown;
    const size = sample[name].BYTES_PER_ELEMENT;
    const given = bytes[index]!;
    const whole = new Uint8Array(given.length - (given.length % size));
    whole.set(given.subarray(0, whole.length));
    columns[name] = new Typed(whole.buffer);
  });
  return columns as unknown as BlockColumns;
});

const bytesOf = (columns: BlockColumns): string[] =>
  names.map((name) => {
    const { buffer, byteOffset, byteLength } = columns[name];
    return `${name} ${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`;
  });

describe('block columns', () => {
  test('are the same after decoding', () => {
    fc.assert(
      fc.property(anyColumns, (columns) => {
        const encoded = encodeBlockColumns(columns);
        const decoded = decodeBlockColumns(encoded);
        expect(bytesOf(decoded)).toEqual(bytesOf(columns));
        for (const name of names) expect(decoded[name].constructor).toBe(sample[name].constructor);
        expect(new Uint8Array(encodeBlockColumns(decoded))).toEqual(new Uint8Array(encoded));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('are views on the encoded buffer', () => {
    const encoded = encodeBlockColumns(sample);
    for (const column of Object.values(decodeBlockColumns(encoded))) expect(column.buffer).toBe(encoded);
  });

  test('are refused if the buffer is of another version', () => {
    const encoded = encodeBlockColumns(sample);
    new DataView(encoded).setUint32(0, 999, true);
    expect(() => decodeBlockColumns(encoded)).toThrow(RangeError);
  });
});
