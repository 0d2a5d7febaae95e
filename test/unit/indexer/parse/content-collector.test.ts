import { hash } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockTables } from '#indexer/parse/block-tables.ts';
import { ContentCollector } from '#indexer/parse/content-collector.ts';
import { DerivedBudget, derivedBytesMax, wastedBytesMax } from '#indexer/parse/derived-budget.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  blockOf,
  columnsOf,
  inscriptionScript,
  type ReadContent,
  readEnvelopes,
  reveal,
  tag,
} from './synthetic-block.ts';

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes);

function contentOf(type: string, body: Uint8Array, encoding?: string, textMaxBytes?: number): ReadContent {
  const fields = encoding === undefined ? [] : [tag(9), encoding];
  const block = blockOf([reveal(inscriptionScript(type, body, ...fields))]);
  return readEnvelopes(columnsOf(block, textMaxBytes === undefined ? {} : { textMaxBytes }))[0]!.content!;
}

const text = Buffer.from('Hello Welt, äÖ');

describe('a content', () => {
  test('of a text is folded where folding changes it', () => {
    expect(contentOf('text/plain', Buffer.from('hello'))).toMatchObject({
      text: 1,
      variant: 8,
      folded: null,
    });
    const folded = contentOf('text/plain', Buffer.from('Hello'));
    expect(folded).toMatchObject({ text: 2, variant: 8 });
    expect(folded.folded?.toString()).toBe('hello');
    expect(contentOf('text/plain', text).folded?.toString()).toBe('hello welt, äö');
    expect(contentOf('text/plain', Buffer.from('a\0b')).folded?.toString()).toBe('a\u2400b');
  });

  test('that is not text is not', () => {
    expect(contentOf('image/png', text)).toMatchObject({ text: 0, variant: 0 });
    expect(contentOf('text/plain', Buffer.from([0x61, 0xff]))).toMatchObject({ text: 0, variant: 8 });
    expect(contentOf('text/plain', Buffer.from('abcd'), undefined, 3)).toMatchObject({ text: 0, variant: 8 });
    expect(contentOf('text/plain', Buffer.from('abc'), undefined, 3)).toMatchObject({ text: 1 });
  });

  test('is folded like any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (characters) => {
        const body = Buffer.from(characters);
        const content = contentOf('text/plain', body);
        const folded = foldUtf8(body);
        expect(content.text).toBe(folded === null ? 1 : 2);
        expect(content.folded).toEqual(folded === null ? null : Buffer.from(folded));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test.each([
    ['br', brotliCompressSync(text), 1],
    ['gzip', gzipSync(text), 2],
    ['zstd', zstdCompressSync(text), 3],
  ] as const)('in %s is known by both hashes', (encoding, body, variant) => {
    const content = contentOf('text/plain', body, encoding);
    expect(content).toMatchObject({
      variant: variant + 8,
      text: 2,
      hash: sha256(body),
      decodedHash: sha256(text),
    });
    expect(content.folded?.toString()).toBe('hello welt, äö');
    expect(contentOf('image/png', body, encoding)).toMatchObject({
      variant,
      text: 0,
      folded: null,
      decodedHash: sha256(text),
    });
  });

  test('in an encoding with an already folded text has that text of its own', () => {
    expect(contentOf('text/plain', gzipSync('abc'), 'gzip').folded?.toString()).toBe('abc');
  });

  test.each(['BR', 'br ', 'deflate', '', 'gzip, br'])('in an unknown encoding %j is not read', (encoding) => {
    expect(contentOf('text/plain', Buffer.from('abc'), encoding)).toMatchObject({ variant: 12, text: 0 });
  });

  test.each([
    ['cut', gzipSync(Buffer.alloc(1000, 'ab')).subarray(0, 12)],
    ['another encoding', brotliCompressSync(text)],
    ['a bomb', gzipSync(Buffer.alloc(100_000))],
    ['empty', Buffer.alloc(0)],
  ])('that is %s is kept and not decoded', (_, body) => {
    expect(contentOf('text/plain', body, 'gzip')).toMatchObject({
      text: 0,
      decodedHash: null,
      hash: sha256(body),
    });
  });

  test('whose decoding exceeds the budget of the block is left out, with all that follow it', () => {
    // each bomb is below its own limits: 1 MB, of which a hundredth is random
    const bombs = Array.from({ length: 70 }, (_, seed) => {
      const bytes = Buffer.alloc(1_000_000, seed);
      for (let at = 0; at < bytes.length; at += 180)
        bytes.writeUInt32LE(Math.imul(at + seed, 0x9e3779b1) >>> 0, at);
      return brotliCompressSync(bytes, { params: { 1: 1 } });
    });
    const scripts = bombs.map((bomb) => inscriptionScript('image/png', bomb, tag(9), 'br'));
    const { contentDecodedLength } = columnsOf(blockOf(scripts.map((script) => reveal(script))));
    const decoded = [...contentDecodedLength].map((length) => length > 0);
    expect(decoded).toEqual(bombs.map((_, index) => index < Math.floor(derivedBytesMax / 1_000_000)));
  });
});

describe('a decoding', () => {
  test.each([
    ['fails', Buffer.from('abc'), 0],
    ['finds no room any more', gzipSync('abc'), derivedBytesMax],
  ])('that %s counts as waste', (_, body, taken) => {
    const budget = new DerivedBudget();
    const { contents, arena } = new BlockTables();
    const collector = new ContentCollector(contents, arena, budget);
    collector.reset(1, 1000);
    budget.take(taken);
    budget.waste(wastedBytesMax - 1);
    expect(budget.mayWaste).toBe(true);
    arena.append(body);
    expect(collector.add(0, Buffer.from('gzip'), false)).toBe(0);
    expect(contents.decodedLength[0]).toBe(-1);
    expect(budget.mayWaste).toBe(false);
  });
});

describe('the contents of a block', () => {
  const bodies = fc.array(
    fc.tuple(
      fc.constantFrom('text/plain', 'image/png'),
      fc.oneof(
        fc.integer({ min: 0, max: 5 }).map((length) => Buffer.alloc(length, 'x')),
        fc.constantFrom(4095, 4096, 4097, 9000).map((length) => Buffer.alloc(length, 'y')),
        fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
      ),
    ),
    { maxLength: 30 },
  );

  test('are distinct by bytes and encoding, in the order of appearance', () => {
    fc.assert(
      fc.property(bodies, (inscriptions) => {
        const columns = columnsOf(
          blockOf(inscriptions.map(([type, body]) => reveal(inscriptionScript(type, body)))),
        );
        const names = inscriptions.map(([type, body]) => `${type} ${body.toString('hex')}`);
        const distinct = [...new Set(names)];
        expect([...columns.envelopeContent]).toEqual(names.map((name) => distinct.indexOf(name)));
        expect(columns.contentText).toHaveLength(distinct.length);
        readEnvelopes(columns).forEach(({ content }, index) => {
          expect(content?.body).toEqual(inscriptions[index]![1]);
          expect(content?.hash).toBe(sha256(inscriptions[index]![1]));
        });
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test('stay distinct if bodies are crafted against the quick hash', () => {
    // A body of eight bytes has two words, each mixed by its own multiplier. For any second word there is a first word
    // with the same hash.
    const inverse = (odd: number): number => {
      let guess = odd;
      for (let step = 0; step < 5; step++) guess = Math.imul(guess, 2 - Math.imul(odd, guess));
      return guess;
    };
    const aimed = (index: number): Buffer => {
      let second = Math.imul(index, 0x85ebca77);
      second ^= second >>> 13;
      const target = 0x1234567 ^ (second + (second << 7));
      const mixed = target ^ (target >>> 15) ^ (target >>> 30);
      const body = Buffer.alloc(8);
      body.writeInt32LE(Math.imul(mixed, inverse(0x9e3779b1)) ^ 8);
      body.writeInt32LE(index, 4);
      return body;
    };
    const order = Array.from({ length: 3000 }, (_, index) => index % 1000);
    const scripts = order.map((index) => inscriptionScript('image/png', aimed(index)));
    const columns = columnsOf(blockOf([reveal(Buffer.concat(scripts))]));
    expect([...columns.envelopeContent]).toEqual(order);
    readEnvelopes(columns).forEach(({ content }, index) => {
      expect(content?.hash).toBe(sha256(aimed(order[index]!)));
    });
  });

  test('stay distinct when there are tens of thousands', () => {
    const scripts = Array.from({ length: 30_000 }, (_, index) =>
      inscriptionScript('text/plain', Buffer.from(`text ${index % 20_000}`)),
    );
    const columns = columnsOf(blockOf([reveal(Buffer.concat(scripts))]));
    expect(columns.contentText).toHaveLength(20_000);
    expect([...columns.envelopeContent]).toEqual(scripts.map((_, index) => index % 20_000));
    // the memory for these contents is released, and the next block has none of them
    expect(columnsOf(blockOf([reveal(scripts[0]!)])).contentText).toHaveLength(1);
  });
});
