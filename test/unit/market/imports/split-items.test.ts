import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CollectionMeta } from '#market/collections/collection.store.ts';
import { ImportFaults } from '#market/imports/import-faults.ts';
import { importSlug, isImportSlug } from '#market/imports/import-slug.ts';
import { type CollectionItems, itemsBytesMax, readItems } from '#market/imports/read-items.ts';
import { readMeta } from '#market/imports/read-meta.ts';
import { ItemSplitter, itemBytesMax, itemDepthMax } from '#market/imports/split-items.ts';

function split(bytes: Uint8Array, pieceBytes: number): string[] {
  const splitter = new ItemSplitter(new ImportFaults());
  const found: string[] = [];
  for (let begin = 0; begin < bytes.length; begin += pieceBytes)
    for (const { text } of splitter.push(bytes.subarray(begin, begin + pieceBytes))) found.push(text);
  splitter.end();
  return found;
}
/** Reads the items of a list without refusals. Returns the items and what was left out. */
async function itemsOf(
  pieces: Iterable<Uint8Array>,
): Promise<CollectionItems & Pick<ImportFaults, 'leftOut'>> {
  const faults = new ImportFaults();
  const found = await readItems(pieces, () => undefined, faults).catch((error: unknown) => {
    faults.add(error);
    return { items: [], doubles: 0 };
  });
  faults.throwRefusals();
  return { ...found, leftOut: faults.leftOut };
}

/** Reads a `meta.json` without refusals. Returns its data and what was left out. */
function metaOf(fields: object | string, folder = 'folder'): { meta: CollectionMeta; leftOut: string[] } {
  const faults = new ImportFaults();
  const meta = readMeta(typeof fields === 'string' ? fields : JSON.stringify(fields), folder, faults);
  faults.throwRefusals();
  if (meta === null) throw new Error('a file without refusals is a collection');
  return { meta, leftOut: faults.leftOut.first.map(({ where, why }) => `${where}: ${why}`) };
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
      await itemsOf([given]).catch((error: unknown) =>
        expect(error).toMatchObject({ code: 'collection_invalid' }),
      );
    }),
  );
});

const id = `${'ab'.repeat(32)}i0`;
const read = (text: string) => itemsOf([Buffer.from(text)]);

test.each([
  ['depth', `[${'['.repeat(10_000)}`, /nested more than 16 levels deep/u],
  ['one long item', `["${'x'.repeat(itemBytesMax)}`, /more than 65536 bytes/u],
  ['no list', '{}', /not a JSON list/u],
  ['no end', `[{"id":"${id}"}`, /ends before the end of its list/u],
  ['more after it', '[] []', /text after the end/u],
  ['a missing item', `[{"id":"${id}"},]`, /item 2: it is not JSON/u],
  ['an id', '[{"id":"x"}]', /item 1: its id/u],
  ['an item that is a text', `["${id}"]`, /item 1: it is not an object/u],
])('refuses %s', async (_what, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
  await expect(read(text)).rejects.toMatchObject({ code: 'collection_invalid' });
});

test.each([
  [
    'direction',
    '"a\u202eb"',
    /name: it has a control character or a character that changes the direction of the text/u,
  ],
  ['NUL', '"a\\u0000b"', /name: it has a control character/u],
  ['half a pair', '"\\ud800"', /name: it is not valid Unicode/u],
  ['length', `"${'x'.repeat(201)}"`, /name: it has more than 200 characters/u],
  ['a number', '7', /name: it is not a text/u],
])('a name with %s is left out of its item, and said', async (_what, name, message) => {
  const { items, leftOut } = await read(`[{"id":"${id}","meta":{"name":${name}}}]`);
  expect(items.map((item) => item.name)).toEqual([null]);
  expect(leftOut).toMatchObject({ count: 1 });
  expect(leftOut.first.map(({ where, why }) => `${where}: ${why}`).join()).toMatch(message);
});

test('a name with < or > is one, and a name of several lines is one line', async () => {
  const names = ['gm <3', '<b>', 'One\n Two\r\n\tThree \u2028', ' a  b '];
  const { items, leftOut } = await read(
    JSON.stringify(names.map((name, index) => ({ id: `${'ab'.repeat(32)}i${index}`, meta: { name } }))),
  );
  expect(items.map((item) => item.name)).toEqual(['gm <3', '<b>', 'One Two Three', 'a  b']);
  expect(leftOut.count).toBe(0);
  const other = await read(`[{"id":"${id}","meta":["a name"]}]`);
  expect([other.items.length, other.leftOut.first]).toEqual([
    1,
    [{ where: 'inscriptions.json, item 1, meta', why: 'it is not an object' }],
  ]);
});

test('all items that are refused are named at once, a hundred of them', async () => {
  const list = Buffer.from(`[{"id":"x"}, {"id":"${id}"}, 7, "\xff", {"id":1}] x`, 'latin1');
  await expect(itemsOf([list])).rejects.toMatchObject({
    code: 'collection_invalid',
    message: [
      'inscriptions.json, item 1: its id is not the id of an inscription.',
      'inscriptions.json, item 3: it is not an object.',
      'inscriptions.json, item 4: it is not UTF-8.',
      'inscriptions.json, item 5: its id is not the id of an inscription.',
      'inscriptions.json: it has text after the end of its list.',
    ].join('\n  '),
  });
  const many = itemsOf([Buffer.from(`[${'{},'.repeat(149)}{}]`)]);
  await expect(many).rejects.toThrow(/item 100: its id [^\n]*\n {2}… and 50 more faults\.$/u);
});

test('more bytes than the bound are refused before they are looked at', async () => {
  const pieces = [Buffer.from('['), Buffer.alloc(itemsBytesMax)];
  await expect(itemsOf(pieces)).rejects.toThrow(/more than 268435456 bytes/u);
});

test('100,000 items are read and one more is refused; the first of doubles counts', {
  tags: ['proof'],
}, async () => {
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
  },
);

test.each([
  ['upper-case', 'Upper-Case'],
  ['bitmap', '-bitmap'],
  ['xm', '_xm'],
  ['pixe-l-f', 'pixe.l.f'],
  ['skapes-ordinals', 'skapes ordinals'],
  ['cafe-no-1', 'Café № 1!'],
  ['up', '../up'],
  ['saori-d-', 'saori-d-'],
])('a list with the slug %j for what it calls %j is imported', (slug, listSlug) => {
  expect(metaOf({ name: 'N', slug: listSlug })).toEqual({
    meta: expect.objectContaining(slug === listSlug ? { slug } : { slug, listSlug }) as unknown,
    leftOut: [],
  });
  // the same slug if only the folder names the list
  expect(metaOf({ name: 'N' }, listSlug).meta.slug).toBe(slug);
  expect(importSlug(slug)).toBe(slug);
});

test.each(['..', '蛙', 'Of', 'a\u0000', 'a\u202eb', '\ud800', id, id.toUpperCase(), 'x'.repeat(101), 7])(
  'where no slug can be made of %j the folder names it, and if it cannot either the list is refused',
  (slug) => {
    const { meta, leftOut } = metaOf({ name: 'N', slug }, 'Folder');
    expect(meta).toMatchObject({ slug: 'folder', listSlug: 'Folder' });
    expect(leftOut).toEqual([expect.stringMatching(/^meta\.json, slug: .*a slug has/u)]);
    expect(() => metaOf({ name: 'N', slug }, '蛙')).toThrow(/^meta\.json, slug: .*a slug has/u);
  },
);

test('any text gives a slug or none, and a slug gives itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
      const slug = importSlug(text);
      expect(slug === null || isImportSlug(slug)).toBe(true);
      if (slug !== null) expect(importSlug(slug)).toBe(slug);
    }),
  );
});

test('meta.json of the community is read, and the folder names the slug where it has none', () => {
  const meta = {
    name: 'Frogs',
    description: 'Green.\nMany.',
    inscription_icon: id,
    website_link: 'https://example.com/frogs',
    twitter_link: '',
    supply: 10,
  };
  expect(metaOf(meta, 'frogs')).toMatchObject({
    meta: {
      slug: 'frogs',
      name: 'Frogs',
      website: 'https://example.com/frogs',
      twitter: null,
      icon: { index: 0 },
    },
    leftOut: [],
  });
  const refused = (change: object) => () => metaOf({ ...meta, ...change }, 'frogs');
  expect(refused({ name: '' })).toThrow(/needs a name/u);
  expect(refused({ name: 'x'.repeat(201) })).toThrow(/200 characters/u);
  expect(refused({ name: '', slug: '..' })).not.toThrow(/a slug has/u);
  expect(() => metaOf('[]', 'frogs')).toThrow(/not an object/u);
  expect(() => metaOf({ slug: '..' }, '..')).toThrow(/slug[^]*needs a name/u);
});

test('an optional field of meta.json that is wrong is left out, and said', () => {
  const { meta, leftOut } = metaOf({
    name: '<100k Club',
    description: 'a\u202eb',
    inscription_icon: 'none',
    website_link: 'javascript:alert(1)',
    twitter_link: '@example',
    discord_link: 'x'.repeat(501),
  });
  expect(meta).toEqual({
    slug: 'folder',
    name: '<100k Club',
    description: null,
    icon: null,
    website: null,
    twitter: null,
    discord: null,
  });
  expect(leftOut).toEqual([
    'meta.json, description: it has a control character or a character that changes the direction of the text',
    'meta.json, inscription_icon: it is not the id of an inscription',
    'meta.json, website_link: it is not an http or https URL',
    'meta.json, twitter_link: it is not an http or https URL',
    'meta.json, discord_link: it has more than 500 characters',
  ]);
  const typed = metaOf({
    name: 'N',
    description: 1,
    website_link: ['https://example.com'],
    discord_link: {},
  });
  expect(typed.leftOut).toHaveLength(3);
});
