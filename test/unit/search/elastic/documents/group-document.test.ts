import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inscriptionIdBytes, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { propertyTexts, textsOfAttributes } from '#kernel/text/property-texts.ts';
import { documentsOf, type Group, tombstone } from '#search/elastic/documents/group-document.ts';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { mappings } from '#search/elastic/server/search-index.ts';
import { gramNeedle, gramText } from '#search/text/gram-text.ts';
import { galleryTerm, indexTermOfBytes } from '#search/text/index-term.ts';

const noPhrases = new PhraseBook([]);

const group = (changed: Partial<Group> = {}): Group => ({
  keys: [asInscriptionKey(7)],
  days: [19_500],
  contentType: 'text/plain',
  contentClass: 'text/',
  cursed: false,
  isUnnumbered: false,
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
    .map((list) => list.sort((a, b) => a - b).map(asInscriptionKey));
  fc.assert(
    fc.property(
      keys,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (list, spanKeys, most) => {
        const days = list.map((key) => key * 2);
        const documents = [
          ...documentsOf(group({ keys: list, days }), 3, noPhrases, {
            spanKeys,
            keysPerDocument: most,
          }),
        ];
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
  const empty = { contentType: null, contentClass: null, cursed: null, content: null };
  expect(Object.keys([...documentsOf(group(empty), 1, noPhrases)][0]!.source)).toEqual([
    'firstKey',
    'lastKey',
    'count',
    'keys',
    'sequence',
    'member',
    'size',
  ]);
  const id = parseInscriptionId(`${'ab'.repeat(32)}i0`)!;
  const idBytes = inscriptionIdBytes(id);
  const full = group({
    metaprotocol: 'cbrc-20:deploy',
    parents: [3, 4].map(asInscriptionKey),
    content: { sha256: 'aa', decodedSha256: 'bb', sizeBytes: 5, folded: 'hello' },
    metadata: { json: '{"K":"V"}', folded: '{"k":"v"}' },
    properties: {
      ...textsOfAttributes('{"title":"TITLE","traits":{"Eyes":"Blue","n":9223372036854775807}}'),
      ids: Buffer.concat([idBytes, idBytes]),
    },
  });
  const { source } = [...documentsOf(full, 9, noPhrases)][0]!;
  for (const field of Object.keys(source)) expect(mappings.properties).toHaveProperty(field);
  expect(source).toMatchObject({
    text: gramText('hello'),
    metadata: gramText('{"k":"v"}'),
    title: gramText('title'),
    hashes: ['aa', 'bb'],
    metadataKeys: ['k'],
    traits: [indexPair('eyes', 'blue'), indexPair('n', '9223372036854775807')],
    gallery: [galleryTerm(id)],
    class: 'text/',
    size: 5,
    words: 'hello',
    metadataWords: 'k v',
    parents: [3, 4].map(asInscriptionKey),
    sequence: 9,
  });
});

test('a content that is no text is found by its hash alone', () => {
  const { source } = [
    ...documentsOf(
      group({ content: { sha256: 'aa', decodedSha256: null, sizeBytes: 5, folded: null } }),
      1,
      noPhrases,
    ),
  ][0]!;
  expect(source).not.toHaveProperty('text');
  expect(source).toHaveProperty('hashes', ['aa']);
});

test('a tombstone has nothing that a search could find', () => {
  expect(tombstone('7', 12)).toEqual({ id: '7', version: 12, source: { sequence: 12 } });
});

test('no value, however long a miner lets it be, makes a term that the server refuses', () => {
  const long = 'x'.repeat(400_000);
  const { source } = [
    ...documentsOf(
      group({
        contentType: indexTermOfBytes(Buffer.from(long)),
        contentClass: indexTermOfBytes(Buffer.from(long)),
        metaprotocol: indexTermOfBytes(Buffer.from(long)),
        metadata: { json: JSON.stringify({ [long]: long }), folded: long },
        properties: { ...propertyTexts(long, [[long, long]]), ids: Buffer.alloc(0) },
      }),
      1,
      noPhrases,
    ),
  ][0]!;
  for (const field of [
    'type',
    'class',
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

test('no text is much larger on its way than it is, and needles occur where they did', () => {
  const escaped = `"\\\\${Array.from({ length: 0x20 }, (_, code) => String.fromCodePoint(code)).join('')}`;
  const folded = foldText(escaped.repeat(100));
  const { source } = [
    ...documentsOf(
      group({ content: { sha256: 'aa', decodedSha256: null, sizeBytes: 5, folded } }),
      1,
      noPhrases,
    ),
  ][0]!;
  const text = source['text'] as string;
  expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(1.3 * Buffer.byteLength(folded));
  // every character maps to another one, and to none that a folded text contains
  const characters = Array.from(new Set(Array.from(foldText(`${escaped}ABCÀÆÞŸ`))));
  const mapped = new Set(characters.map((one) => gramText(one).slice(0, -2)));
  expect(mapped.size).toBe(characters.length);
  expect(gramText('').length).toBe(2);
  const letters = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom(...Array.from(escaped)),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 8,
    })
    .map(foldText);
  fc.assert(
    fc.property(letters, letters, (one, other) => {
      expect(gramText(one).slice(0, -2).indexOf(gramNeedle(other))).toBe(one.indexOf(other));
      expect(foldText(gramText(one)).includes('þþ')).toBe(true);
    }),
  );
});

test('one long name in front of very many values does not multiply itself', () => {
  const values = Array.from({ length: 20_000 }, (_, at) => String(at));
  const json = JSON.stringify({ ['k'.repeat(500)]: values });
  const { source } = [...documentsOf(group({ metadata: { json, folded: json } }), 1, noPhrases)][0]!;
  expect(source['metadataPairs']).toHaveLength(values.length);
  expect(JSON.stringify(source).length).toBeLessThan(10 * json.length);
});
