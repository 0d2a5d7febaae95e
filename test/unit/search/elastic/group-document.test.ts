import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentsOf, type Group, mediaTypeOf, tombstone } from '#search/elastic/group-document.ts';
import { indexPair } from '#search/elastic/index-term.ts';
import { mappings } from '#search/elastic/search-index.ts';

const group = (changed: Partial<Group> = {}): Group => ({
  keys: [7],
  days: [19_500],
  contentType: 'text/plain',
  cursed: false,
  metaprotocol: null,
  parents: [],
  properties: null,
  content: { sha256: 'aa', decodedSha256: null, sizeBytes: 5, folded: 'hello' },
  metadata: null,
  ...changed,
});

test('every key is in one document, none of two spans or of more keys than allowed', () => {
  const keys = fc
    .uniqueArray(fc.nat({ max: 300 }), { minLength: 1 })
    .map((list) => list.sort((a, b) => a - b));
  fc.assert(
    fc.property(
      keys,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (list, spanKeys, most) => {
        const days = list.map((key) => key * 2);
        const documents = documentsOf(group({ keys: list, days }), 3, { spanKeys, keysPerDocument: most });
        const sources = documents.map(({ source }) => source as Record<string, never[]>);
        expect(sources.flatMap(({ keys: own }) => own)).toEqual(list);
        expect(sources.flatMap(({ member }) => member)).toEqual(list.map((key) => ({ key, day: key * 2 })));
        for (const [at, { source, id, version }] of documents.entries()) {
          const own = sources[at]!['keys'] as number[];
          expect([id, version, source['firstKey'], source['count']]).toEqual([
            String(own[0]),
            3,
            own[0],
            own.length,
          ]);
          expect(own.length).toBeLessThanOrEqual(most);
          expect(Math.floor(own[0]! / spanKeys)).toBe(Math.floor(own.at(-1)! / spanKeys));
        }
      },
    ),
  );
});

test('fields that are not there are left out, and all others are in the mapping', () => {
  const empty = { contentType: null, cursed: null, content: null };
  expect(Object.keys(documentsOf(group(empty), 1)[0]!.source)).toEqual([
    'firstKey',
    'count',
    'keys',
    'sequence',
    'member',
  ]);
  const id = `${'ab'.repeat(32)}i0`;
  const full = group({
    metaprotocol: 'cbrc-20:deploy',
    parents: [3, 4],
    content: { sha256: 'aa', decodedSha256: 'bb', sizeBytes: 5, folded: 'hello' },
    metadata: { json: '{"K":"V"}', folded: '{"k":"v"}' },
    properties: JSON.stringify({
      gallery: [{ id }, { id }],
      attributes: { title: 'TITLE', traits: { Eyes: 'Blue', n: 1 } },
    }),
  });
  const { source } = documentsOf(full, 9)[0]!;
  for (const field of Object.keys(source)) expect(mappings.properties).toHaveProperty(field);
  expect(source).toMatchObject({
    text: 'hello\0\0',
    metadata: '{"k":"v"}\0\0',
    title: 'title\0\0',
    hashes: ['aa', 'bb'],
    metadataKeys: ['k'],
    traits: [indexPair('eyes', 'blue'), indexPair('n', '1')],
    gallery: [id],
    media: 'text/plain',
    parents: [3, 4],
    sequence: 9,
  });
});

test('a content that is no text is found by its hash alone', () => {
  const { source } = documentsOf(
    group({ content: { sha256: 'aa', decodedSha256: null, sizeBytes: 5, folded: null } }),
    1,
  )[0]!;
  expect(source).not.toHaveProperty('text');
  expect(source).toHaveProperty('hashes', ['aa']);
});

test('a tombstone has nothing that a search could find', () => {
  expect(tombstone('7', 12)).toEqual({ id: '7', version: 12, source: { sequence: 12 } });
});

test('types are compared without their parameters', () => {
  expect(mediaTypeOf('Text/HTML; charset=UTF-8')).toBe('text/html');
});

test('no value, however long a miner lets it be, makes a term that the server refuses', () => {
  const long = 'x'.repeat(400_000);
  const { source } = documentsOf(
    group({
      contentType: long,
      metaprotocol: long,
      metadata: { json: JSON.stringify({ [long]: long }), folded: long },
      properties: JSON.stringify({ gallery: [], attributes: { title: long, traits: { [long]: long } } }),
    }),
    1,
  )[0]!;
  for (const field of [
    'type',
    'media',
    'metaprotocol',
    'metadataKeys',
    'metadataValues',
    'metadataPairs',
    'traits',
  ]) {
    for (const term of [source[field]].flat() as string[]) {
      expect(Buffer.byteLength(term)).toBeLessThan(32_766);
    }
  }
});
