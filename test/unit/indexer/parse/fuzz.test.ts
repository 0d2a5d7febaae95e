import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import type { ParseResult } from '#indexer/parse/parse-block.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { fixtureLines, samplesFolder } from './fixtures.ts';
import {
  blockOf,
  columnsOf,
  envelopeScript,
  parse,
  readEnvelopes,
  reveal,
  tag,
  transaction,
} from './synthetic-block.ts';

/** Checks that the parts of a result agree. That nothing throws is tested as well. */
function check(result: ParseResult): void {
  if (result.kind === 'broken') {
    expect(result.at).toBeGreaterThanOrEqual(0);
    return;
  }
  readEnvelopes(decodeBlockColumns(result.columns));
}

const anyBytes = fc.uint8Array({ maxLength: 200 });

describe('any bytes give a value', () => {
  test('as a block', () => {
    fc.assert(
      fc.property(anyBytes, fc.option(anyBytes), (behindHeader, spent) => {
        check(parse(Buffer.concat([Buffer.alloc(80), behindHeader]), { spent }));
      }),
      { numRuns: propertyRuns(5000) },
    );
  });

  test('as a witness script', () => {
    const opening = Buffer.from('0063036f7264', 'hex');
    const script = fc.tuple(fc.constantFrom(opening, Buffer.alloc(0)), anyBytes, fc.constantFrom('68', ''));
    fc.assert(
      fc.property(script, ([start, bytes, end]) => {
        check(parse(blockOf([reveal(Buffer.concat([start, bytes, Buffer.from(end, 'hex')]))])));
      }),
      { numRuns: propertyRuns(5000) },
    );
  });

  test('as the values of every tag', () => {
    const tag = fc.constantFrom(1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 66, 255);
    const value = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('br', 'gzip', 'zstd', 'text/plain').map((text) => Uint8Array.from(Buffer.from(text))),
    );
    const push = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([bytes.length]), bytes]);
    fc.assert(
      fc.property(fc.array(fc.tuple(tag, value), { maxLength: 8 }), value, (fields, body) => {
        const items = fields.flatMap(([number, bytes]) => [Buffer.from([1, number]), push(bytes)]);
        const script = Buffer.concat([
          Buffer.from('0063036f7264', 'hex'),
          ...items,
          Buffer.from([0]),
          push(body),
          Buffer.from([0x68]),
        ]);
        const envelopes = readEnvelopes(columnsOf(blockOf([reveal(script)])));
        expect(envelopes).toHaveLength(1);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test('as real transactions with bytes changed', () => {
    const real = fixtureLines('transactions.ndjson.br')
      .map((line) => Buffer.from((JSON.parse(line) as { hex: string }).hex, 'hex'))
      .filter((bytes) => bytes.length < 4000);
    const change = fc.tuple(fc.nat(3999), fc.nat(255));
    fc.assert(
      fc.property(
        fc.constantFrom(...real),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        (bytes, changes) => {
          const changed = Buffer.from(bytes);
          for (const [at, byte] of changes) changed[at % changed.length] = byte;
          check(parse(blockOf([changed])));
        },
      ),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('as a real block that is cut anywhere: it is truncated', () => {
    const folder = join(samplesFolder, 'mainnet/blocks');
    const file = readdirSync(folder).find((name) => name.startsWith('0951658')) ?? '';
    const block = readFileSync(join(folder, file));
    expect(parse(block).kind).toBe('parsed');
    fc.assert(
      fc.property(fc.nat(block.length - 1), (length) => {
        expect(parse(block.subarray(0, length))).toMatchObject({ code: 'block_truncated' });
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe('the worst that a block can hold takes bounded time', () => {
  // each script has 3.9 MB; a hang would exceed the test's timeout
  const size = 3_900_000;
  const opening = Buffer.from('0063036f7264', 'hex');
  test.each([
    ['empty pushes', Buffer.alloc(size)],
    ['openings', Buffer.alloc(size, opening)],
    ['empty envelopes', Buffer.alloc(size, Buffer.concat([opening, Buffer.from([0x68])]))],
    ['one envelope of numbers', Buffer.concat([opening, Buffer.alloc(size, 0x52), Buffer.from([0x68])])],
    ['long tags, all different', Buffer.concat([opening, ...distinctTags(600_000), Buffer.from([0x68])])],
    [
      'metadata in chunks of one byte',
      Buffer.concat([opening, Buffer.alloc(size, Buffer.from('01050181', 'hex')), Buffer.from([0x68])]),
    ],
    [
      'metadata whose keys are maps whose keys are maps',
      Buffer.alloc(
        size,
        envelopeScript(tag(5), Buffer.concat([Buffer.alloc(17, 0xa1), Buffer.alloc(18, 0)])),
      ),
    ],
    ['bombs in bodies', bombs((bomb) => envelopeScript(tag(9), 'br', '', bomb))],
    ['bombs in properties', bombs((bomb) => envelopeScript(tag(19), 'br', tag(17), bomb))],
    ['different content types', Buffer.concat(distinctTypes(250_000))],
  ])('%s', (_, script) => {
    check(parse(blockOf([transaction([{ witness: [script, Buffer.alloc(0)] }])])));
  });

  test('one witness item a byte', () => {
    const items = Array.from({ length: 1_000_000 }, () => Buffer.alloc(0));
    check(parse(blockOf([transaction([{ witness: items }])])));
  });
});

/** Makes Brotli streams of 14 bytes that declare a window of 16 MB. All are different. */
function bombs(envelope: (bomb: Buffer) => Buffer): Buffer {
  const parameters = { [constants.BROTLI_PARAM_LGWIN]: 18, [constants.BROTLI_PARAM_QUALITY]: 1 };
  return Buffer.concat(
    Array.from({ length: 10_000 }, (_, index) => {
      const bomb = brotliCompressSync(`${index}${'0'.repeat(3000)}`, { params: parameters });
      bomb[0] = bomb[0]! | 0x0e;
      return envelope(bomb);
    }),
  );
}

function distinctTags(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    Buffer.from([3, index & 255, (index >> 8) & 255, index >> 16, 0x51]),
  );
}

function distinctTypes(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    Buffer.from([
      0x00,
      0x63,
      3,
      0x6f,
      0x72,
      0x64,
      1,
      1,
      3,
      index & 255,
      (index >> 8) & 255,
      index >> 16,
      0x68,
    ]),
  );
}
