import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type TestContent, type TestInscription, testTxid, text } from './search-rows.ts';

// Fragments for needles and texts. They contain everything that could confuse a query language, an encoding or a
// database.
export const fragments = [
  'a',
  'b',
  'A',
  'B',
  'ab',
  'ba',
  'aaa',
  ' ',
  '\n',
  '\t',
  '0',
  '1',
  '"',
  "'",
  '\\',
  '\\\\',
  '%',
  '_',
  '%%',
  '.*',

  '?',
  '*',
  '+',
  '(',
  ')',
  '[a-z]',
  '^',
  '$',
  '|',
  'AND',
  'OR',
  'NOT',
  '~1',
  '&&',
  '"p":"',
  '":"',
  '{"',
  '"}',
  ',',

  '<b>',
  '</',
  'é',
  'É',
  'e\u0301',
  'ß',
  'ẞ',
  'ss',
  'İ',
  'i',
  'ı',
  'I',
  'K',
  '\u212a',
  'k',
  'ſ',
  's',
  'Σ',
  'ς',
  'σ',

  '\0',
  '\u2400',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '😀',
  '😁',
  '𐐀',
  '𐐨',
  'Ⱥ',
  'ⱥ',
  'ᏸ',
  'Ᏸ',
  '漢',
  '字',
  "'; DROP TABLE x; --",
  '\\u0041',
  '&amp;',
  'brc-20',
  'BRC-20',
];
export const fragment = fc.constantFrom(...fragments);
const oddText = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fragment },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''));
const jsonText = fc
  .record({
    p: fc.constantFrom('brc-20', 'sns'),
    op: fc.constantFrom('mint', 'Transfer', 'deploy'),
    tick: fragment,
    amt: fc.nat({ max: 1000 }).map(String),
  })
  .map((value) => JSON.stringify(value));
const htmlText = oddText.map((value) => `<!DOCTYPE html><body class="a">${value}</body>`);

/** Letters of several scripts for similar words. Some have one UTF-16 unit, some have two. */
const wordLetters = [
  'a',
  'b',
  'c',
  'A',
  'é',
  'e\u0301',
  'ß',
  'ẞ',
  '漢',
  '𐐀',
  '𐐨',
  '7',
  'ſ',
  's',
  'K',
  '\u212a',
];
export const word = fc
  .array(fc.constantFrom(...wordLetters), { minLength: 1, maxLength: 8 })
  .map((letters) => letters.join(''));
const wordText = fc
  .array(
    fc.tuple(
      fc.oneof(word, fc.constantFrom('mint', 'minting', 'bitcoin', 'bitcion', 'Bitcoins')),
      fc.constantFrom(' ', '-', '.', '"', '\n', '😀', '_', ''),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.flat().join(''));
const anyText = fc.oneof(oddText, jsonText, htmlText, wordText);

const binary: fc.Arbitrary<TestContent> = fc
  .uint8Array({ maxLength: 20 })
  .map((body) => ({ type: 'image/png', body, text: null }));
const encoded: fc.Arbitrary<TestContent> = fc
  .tuple(anyText, fc.constantFrom(1, 2))
  .map(([value, encoding]) => {
    const decoded = Buffer.from(value);
    const body = encoding === 1 ? brotliCompressSync(decoded) : gzipSync(decoded);
    return { type: 'text/html', body, text: value, encoding, decoded };
  });
const content: fc.Arbitrary<TestContent | null> = fc.oneof(
  { weight: 12, arbitrary: anyText.map((value) => text(value)) },
  { weight: 2, arbitrary: encoded },
  { weight: 2, arbitrary: binary },
  { weight: 1, arbitrary: fc.constant(null) },
);
/**
 * Content types for exact matches. They differ in case or parameters, some are parts of others, one is not UTF-8, and
 * some are close to the length limit.
 */
const contentTypes = [
  'image/png',
  'image/PNG',
  'Image/png',
  'image/svg+xml',
  'images/x',
  'image/',
  'image',
  '',
  '/',
  'a/b/c',
  'text/plain;charset=utf-8',
  'image/\xff',
  'text/\xc3\xa9',
  `text/${'x'.repeat(507)}`,
  `text/${'x'.repeat(508)}`,
  `${'y'.repeat(600)}/z`,
];

// names and values that contain escapes, characters that fold, and other names
const names = [
  'a',
  'A',
  'ab',
  'Background',
  'background',
  'straße',
  'STRAẞE',
  'k"ey',
  '\\',
  '\n',
  '\0',
  '\u2400',
  '😀',
  '1',
];
const scalars = [
  'red',
  'RED',
  'Red!',
  'true',
  'null',
  '1',
  '1.5',
  '9007199254740993',
  '-7',
  'a"b',
  '\\n',
  '\0',
  '漢',
  '',
];
const jsonScalar = fc.oneof(
  fc.constantFrom(...scalars).map((value) => JSON.stringify(value)),
  fc.constantFrom('1', '1.5', '1e+21', '9007199254740993', '-7', 'true', 'false', 'null'),
);
const jsonName = fc.constantFrom(...names).map((name) => JSON.stringify(name));
/** Canonical metadata. Names may repeat. */
const { metadataJson } = fc.letrec<{ metadataJson: string; object: string; list: string }>((tie) => ({
  metadataJson: fc.oneof({ maxDepth: 3 }, jsonScalar, tie('object'), tie('object'), tie('list')),
  object: fc
    .array(fc.tuple(jsonName, tie('metadataJson')), { maxLength: 4 })
    .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  list: fc.array(tie('metadataJson'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
}));

const title = fc.oneof(
  fc.constantFrom(null, 'Sunset', 'SUNSET n° 1', 'ſunset', '', 'a\0b', '漢字', 'x"y\\'),
  oddText,
);
const attributes = fc
  .tuple(title, fc.uniqueArray(fc.tuple(jsonName, jsonScalar), { maxLength: 3, selector: ([name]) => name }))
  .map(
    ([one, traits]) =>
      `{"title":${JSON.stringify(one)},"traits":{${traits.map(([name, value]) => `${name}:${value}`).join(',')}}}`,
  );
const galleryId = fc
  .tuple(fc.nat({ max: 12 }), fc.constantFrom(0, 0, 1))
  .map(([key, index]) => `${displayHash(testTxid(key))}i${index}`);
const galleryItem = fc
  .tuple(galleryId, attributes)
  .map(([id, itsAttributes]) => `{"id":"${id}","attributes":${itsAttributes}}`);
/** Properties as ord shows them. Some contain an id that is not the id of a gallery item. */
const properties = fc
  .tuple(fc.array(galleryItem, { maxLength: 3 }), attributes, fc.option(galleryId, { freq: 4 }))
  .map(([gallery, itsAttributes, id]) => {
    const tricky = id === null ? itsAttributes : `{"title":null,"traits":{"id":"${id}","attributes":"x"}}`;
    return `{"gallery":[${gallery.join(',')}],"attributes":${tricky}}`;
  });

const inscription: fc.Arbitrary<TestInscription> = fc
  .record({
    content,
    metadata: fc.option(fc.oneof(jsonText, metadataJson), { freq: 2 }),
    otherType: fc.option(fc.option(fc.constantFrom(...contentTypes), { freq: 6 }), {
      freq: 2,
      nil: undefined,
    }),
    numbered: fc.constantFrom('blessed', 'blessed', 'blessed', 'cursed', 'unknown'),
    curse: fc.constantFrom(null, 0, 7),
    metaprotocol: fc.option(fc.constantFrom('brc-20', 'BRC-20', 'é', ''), { freq: 1 }),
    parents: fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
    properties: fc.option(properties, { freq: 2 }),
  })
  .map(({ otherType, ...rest }): TestInscription => {
    return otherType === undefined ? rest : { ...rest, contentType: otherType };
  });

/** The inscriptions of a block, and the block's time. */
export interface CorpusBlock {
  readonly inscriptions: readonly TestInscription[];
  readonly time: number;
}

/**
 * Blocks with copies. A number in place of an inscription repeats an earlier inscription. Block times go backwards and
 * cross days.
 */
export const chain: fc.Arbitrary<CorpusBlock[]> = fc
  .array(
    fc.tuple(
      fc.array(
        fc.oneof({ weight: 3, arbitrary: inscription }, { weight: 1, arbitrary: fc.nat({ max: 1000 }) }),
        { maxLength: 30 },
      ),
      fc.constantFrom(0, 86_399, 86_400, 1_700_000_000, 1_700_086_400, 1_700_010_000, 1_699_999_999),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((blocks) => {
    const before: TestInscription[] = [];
    return blocks.map(([block, time]) => ({
      time,
      inscriptions: block.map((item) => {
        const repeated = typeof item === 'number' ? before[item % (before.length + 1)] : item;
        const made = repeated ?? { content: text('first'), metadata: null };
        before.push(made);
        return made;
      }),
    }));
  });

/**
 * A needle that is either cut from the texts of the chain (and put in another case), or made from the same fragments.
 */
export interface NeedleSeed {
  readonly kind: 'cut' | 'made';
  readonly made: string;
  readonly at: number;
  readonly from: number;
  readonly length: number;
  readonly isUpper: boolean;
}
export const needleSeed: fc.Arbitrary<NeedleSeed> = fc.record({
  kind: fc.constantFrom('cut', 'cut', 'made'),
  made: fc.array(fragment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  at: fc.nat(),
  from: fc.nat(),
  length: fc.integer({ min: 1, max: 12 }),
  isUpper: fc.boolean(),
});
export function needleOf(seed: NeedleSeed, texts: readonly string[]): string {
  const points = Array.from(texts[seed.at % Math.max(1, texts.length)] ?? '');
  const cut = points
    .slice(seed.from % Math.max(1, points.length))
    .slice(0, seed.length)
    .join('');
  const needle = seed.kind === 'made' || cut === '' ? seed.made : cut;
  // only if the case does not change the number of code points
  const upper = Array.from(needle, (point) =>
    Array.from(point.toUpperCase()).length === 1 ? point.toUpperCase() : point,
  );
  return seed.isUpper ? upper.join('') : needle;
}
