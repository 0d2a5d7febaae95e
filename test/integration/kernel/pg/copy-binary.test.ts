import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CopyEncoder, copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { readCopy, readCopyBytes } from '#kernel/pg/copy-read.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `CREATE TABLE public.copied (row_number serial, b boolean, i2 int2, i4 int4, i8 int8, halves int8, bytes bytea,
       words text, at timestamptz)`,
  );
});
afterAll(() => database.drop());

interface Row {
  readonly b: boolean;
  readonly i2: number;
  readonly i4: number;
  readonly i8: number;
  readonly halves: readonly [high: number, low: number];
  readonly bytes: Uint8Array;
  readonly words: string;
  readonly at: number;
  /** A bit for each column that is null. */
  readonly nulls: number;
}

const target = { table: 'public.copied', columns: 'b, i2, i4, i8, halves, bytes, words, at' };
const bytesTarget = { table: 'public.copied', columns: 'bytes' };
const int2Target = { table: 'public.copied', columns: 'i2' };
const row: fc.Arbitrary<Row> = fc.record({
  b: fc.boolean(),
  i2: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  i4: fc.integer(),
  i8: fc.maxSafeInteger(),
  halves: fc.tuple(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1)),
  bytes: fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ minLength: 60_000, maxLength: 70_000 })),
  words: fc.string({ unit: 'binary', maxLength: 50 }).map((text) => text.replaceAll('\0', '')),
  at: fc.integer({ min: -1e12, max: 4e12 }),
  nulls: fc.nat(255),
});

function encode(encoder: CopyEncoder, { b, i2, i4, i8, halves, bytes, words, at, nulls }: Row): void {
  const writes = [
    () => encoder.boolean(b),
    () => encoder.int2(i2),
    () => encoder.int4(i4),
    () => encoder.int8(i8),
    () => encoder.int8Halves(...halves),
    () => {
      // the bytes are a range of a larger array
      const around = new Uint8Array(bytes.length + 20).fill(0xee);
      around.set(bytes, 7);
      encoder.range(around, 7, bytes.length);
    },
    () => encoder.text(words),
    () => encoder.timestamptz(at),
  ];
  encoder.row();
  writes.forEach((write, index) => {
    if ((nulls & (1 << index)) === 0) write();
    else encoder.null();
  });
}

function expected({ b, i2, i4, i8, halves, bytes, words, at, nulls }: Row): unknown[] {
  const signed = BigInt.asIntN(64, (BigInt(halves[0]) << 32n) | BigInt(halves[1])).toString();
  return [b, i2, i4, i8, signed, Buffer.from(bytes), words, new Date(at)].map((value, index) =>
    (nulls & (1 << index)) === 0 ? value : null,
  );
}

describe('binary COPY', () => {
  // one encoder for all cases, like in a writer
  const encoder = encoderOf(target);

  test('stores the rows that are then selected', async () => {
    const client = await database.pool.connect();
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
          await client.query('TRUNCATE public.copied RESTART IDENTITY');
          encoder.reset();
          for (const each of rows) encode(encoder, each);
          expect(encoder.rows).toBe(rows.length);
          expect(await copyBinary(client, target, encoder)).toBe(rows.length);
          const found = await client.query<unknown[]>({
            text: `SELECT b, i2, i4, i8, halves::text, bytes, words, at FROM public.copied ORDER BY row_number`,
            rowMode: 'array',
          });
          expect(found.rows).toEqual(rows.map(expected));
        }),
        { numRuns: propertyRuns(15) },
      );
    } finally {
      client.release();
    }
  });

  test('stores more than the socket takes at once', async () => {
    const client = await database.pool.connect();
    const large = encoderOf(bytesTarget);
    const body = new Uint8Array(3_000_000).fill(0x61);
    for (let count = 0; count < 10; count++) {
      large.row();
      large.range(body, 0, body.length - count);
    }
    expect(large.byteLength).toBeGreaterThan(29_000_000);
    await client.query('TRUNCATE public.copied');
    await copyBinary(client, bytesTarget, large);
    const { rows } = await client.query<{ length: number }>(
      'SELECT length(bytes) AS length FROM public.copied ORDER BY length DESC',
    );
    expect(rows.map(({ length }) => length)).toEqual(
      Array.from({ length: 10 }, (_, index) => 3_000_000 - index),
    );
    client.release();
  });

  test('fails if the server refuses it, stores nothing, and leaves the connection usable', async () => {
    const client = await database.pool.connect();
    await client.query('TRUNCATE public.copied');
    const wrong = encoderOf(int2Target);
    for (let count = 0; count < 100_000; count++) {
      wrong.row();
      wrong.int4(count);
    }
    await expect(copyBinary(client, int2Target, wrong)).rejects.toMatchObject({ code: '22P03' });
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM public.copied',
    );
    expect(rows).toEqual([{ count: 0 }]);
    client.release();
  });

  test('is read back row by row, wherever the stream is cut', async () => {
    const client = await database.pool.connect();
    const seen: number[] = [];
    const count = await readCopy(
      client,
      'SELECT n, n::int8 * 3 AS triple FROM generate_series(1, 100000) AS n',
      2 + 8 + 12,
      (bytes, at) => {
        const n = bytes.readInt32BE(at + 4);
        if (Number(bytes.readBigInt64BE(at + 12)) === n * 3) seen.push(n);
      },
    );
    expect(count).toBe(100_000);
    expect(seen).toEqual(Array.from({ length: 100_000 }, (_, index) => index + 1));
    client.release();
  });
});

test('the bytes of one value are read as stored, whatever their number', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('CREATE TEMPORARY TABLE stored (bytes bytea NOT NULL)');
    const none = await readCopyBytes(client, 'SELECT bytes FROM stored');
    expect(none).toBeNull();
    await fc.assert(
      fc.asyncProperty(fc.nat(300_000), fc.uint8Array({ maxLength: 50 }), async (zeros, end) => {
        const bytes = Buffer.concat([Buffer.alloc(zeros, 0xff), end]);
        await client.query('DELETE FROM stored');
        await client.query('INSERT INTO stored VALUES ($1)', [bytes]);
        const read = await readCopyBytes(client, 'SELECT bytes FROM stored');
        expect(read?.equals(bytes)).toBe(true);
      }),
      { numRuns: propertyRuns(30), examples: [[0, new Uint8Array()]] },
    );
  } finally {
    client.release(true);
  }
});
