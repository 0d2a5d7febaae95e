import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemsBytesMax, readItems } from '#market/imports/read-items.ts';
import { isImportSlug, readMeta } from '#market/imports/read-meta.ts';
import { ItemSplitter, itemBytesMax, itemDepthMax } from '#market/imports/split-items.ts';

function split(bytes: Uint8Array, pieceBytes: number): string[] {
  const splitter = new ItemSplitter();
  const found: string[] = [];
  for (let begin = 0; begin < bytes.length; begin += pieceBytes)
    found.push(...splitter.push(bytes.subarray(begin, begin + pieceBytes)));
  splitter.end();
  return found;
}
const shallow = fc.jsonValue({ maxDepth: itemDepthMax - 2 });

test('the items of any list are found, whatever its spaces and pieces are', () => {
  fc.assert(
    fc.property(
      fc.array(shallow, { maxLength: 20 }),
      fc.constantFrom(0, 1, 4),
      fc.integer({ min: 1, max: 50 }),
      (items, spaces, pieceBytes) => {
        const bytes = Buffer.from(`\ufeff ${JSON.stringify(items, null, spaces)}\n`);
        const found = split(bytes, pieceBytes).map((text) => JSON.parse(text) as unknown);
        expect(found).toEqual(JSON.parse(JSON.stringify(items)));
      },
    ),
  );
});

test('any bytes give items or a typed refusal', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.constantFrom('[', ']', '{', '}', ',', '"', '\\', ':', '1', ' '), { maxLength: 60 })
      .map((all) => Buffer.from(`[${all.join('')}`)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (given) => {
      const read = readItems([given], () => undefined);
      await read.catch((error: unknown) => expect(error).toMatchObject({ code: 'collection_invalid' }));
    }),
  );
});

const id = `${'ab'.repeat(32)}i0`;
const read = (text: string) => readItems([Buffer.from(text)], () => undefined);

test.each([
  ['depth', `[${'['.repeat(10_000)}`, /nested more than 16 deep/u],
  ['one long item', `["${'x'.repeat(itemBytesMax)}`, /more than 65536 bytes/u],
  ['no list', '{}', /not a JSON list/u],
  ['no end', `[{"id":"${id}"}`, /ends before its list/u],
  ['more after it', '[] []', /something follows/u],
  ['a missing item', `[{"id":"${id}"},]`, /item 2: it is not JSON/u],
  ['an id', '[{"id":"x"}]', /item 1: its id/u],
  ['markup', `[{"id":"${id}","meta":{"name":"<b>"}}]`, /markup/u],
  ['direction', `[{"id":"${id}","meta":{"name":"a\u202eb"}}]`, /mark of direction/u],
  ['NUL', `[{"id":"${id}","meta":{"name":"a\\u0000b"}}]`, /control character/u],
  ['half a pair', `[{"id":"${id}","meta":{"name":"\\ud800"}}]`, /not valid Unicode/u],
])('refuses %s', async (_what, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
  await expect(read(text)).rejects.toMatchObject({ code: 'collection_invalid' });
});

test('more bytes than the bound are refused before they are looked at', async () => {
  const pieces = [Buffer.from('['), Buffer.alloc(itemsBytesMax)];
  await expect(readItems(pieces, () => undefined)).rejects.toThrow(/more than 268435456 bytes/u);
});

test('100,000 items are read and one more is refused; the first of doubles counts', async () => {
  const many = (count: number): string =>
    `[${Array.from({ length: count }, (_, index) => `{"id":"${'ab'.repeat(32)}i${index}"}`).join(',')}]`;
  expect((await read(many(100_000))).items).toHaveLength(100_000);
  await expect(read(many(100_001))).rejects.toThrow(/more than 100000 items/u);
  const { items, doubles } = await read(
    `[{"id":"${id}","meta":{"name":" One "}},{"id":"${id.toUpperCase().replace('I', 'i')}","meta":{"name":"Two"}}]`,
  );
  expect([items.map(({ name }) => name), doubles]).toEqual([['One'], 1]);
});

test.each(['', '..', '../x', 'a/b', 'A', 'ü', 'a\u0000', id, 'x'.repeat(101)])(
  'no slug of an import: %j',
  (slug) => {
    expect(isImportSlug(slug)).toBe(false);
    expect(() => readMeta(JSON.stringify({ name: 'N', slug }), 'folder')).toThrow(/a slug is/u);
  },
);

test('meta.json of the community is read, and the folder names the slug where it has none', () => {
  const meta = {
    name: 'Frogs',
    description: 'Green.\nMany.',
    inscription_icon: id,
    website_link: 'https://example.com/frogs',
    twitter_link: '',
    supply: 10,
  };
  expect(readMeta(JSON.stringify(meta), 'frogs')).toMatchObject({
    slug: 'frogs',
    name: 'Frogs',
    website: 'https://example.com/frogs',
    twitter: null,
    icon: { index: 0 },
  });
  const refused = (change: object) => () => readMeta(JSON.stringify({ ...meta, ...change }), 'frogs');
  expect(refused({ website_link: 'javascript:alert(1)' })).toThrow(/http or https/u);
  expect(refused({ name: '' })).toThrow(/has a name/u);
  expect(refused({ name: 'x'.repeat(201) })).toThrow(/200 characters/u);
  expect(() => readMeta('[]', 'frogs')).toThrow(/not an object/u);
});
