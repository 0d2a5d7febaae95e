import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf, type RowSpec } from '#test/support/chain/rows/chain-rows.ts';
import { fillProperties } from '#test/support/chain/rows/property-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const json = { accept: 'application/json' };
const html = { accept: 'text/html,*/*;q=0.8' };
const none = '{"title":null,"traits":{}}';
const shownId = (item: number): string =>
  `${item.toString(16).padStart(64, '0')}i${item % 3 === 0 ? item : 0}`;

/** The properties of an inscription in ord's form. */
function propertiesOf(items: readonly string[], attributes: string): string {
  const gallery = items.map((own, item) => `{"id":"${shownId(item)}","attributes":${own}}`);
  return `{"gallery":[${gallery.join(',')}],"attributes":${attributes}}`;
}

const long = (length: number): string =>
  `{"title":"${'é"'.replace('"', '\\"').repeat(length / 3)}","traits":{}}`;

const large: Readonly<Record<string, string>> = {
  'only a title': propertiesOf(
    [],
    '{"title":"T\\u0000\\"","traits":{"2":9223372036854775807,"1":null,"a":"b"}}',
  ),
  'one item': propertiesOf([none], none),
  'a page': propertiesOf(
    Array.from({ length: 100 }, () => none),
    none,
  ),
  'a page and one': propertiesOf(
    Array.from({ length: 101 }, () => none),
    none,
  ),
  'many pieces': propertiesOf(
    Array.from({ length: 6_543 }, (_, item) =>
      item % 7 === 0 ? `{"title":"${item}","traits":{"n":${item}}}` : none,
    ),
    none,
  ),
  'as many as a piece': propertiesOf(
    Array.from({ length: 4_000 }, () => none),
    none,
  ),
  // galleries of less than a piece, of one piece, and of more than one piece
  'long items': propertiesOf(
    Array.from(
      { length: 300 },
      (_, item) => [long(3), long(30_000), long(262_113), long(300_000), none, none][item % 53] ?? none,
    ),
    long(700_000),
  ),
  'first is long': propertiesOf([long(300_000), none], none),
  'last is long': propertiesOf([none, long(900_000)], none),
};

/** All responses about a gallery, as text. */
async function answersOf({ app }: HttpApp, name: string): Promise<Record<string, string>> {
  const id = idOf(name);
  const items = (JSON.parse(large[name] ?? '') as { gallery: unknown[] }).gallery.length;
  const pages = Math.ceil(items / 100);
  const answers: Record<string, string> = {};
  const paths = [
    `/inscription/${id}`,
    `/r/inscription/${id}`,
    ...[0, 1, pages - 1, pages, pages + 1, 4_294_967_295].map((page) => `/gallery/${id}/page/${page}`),
    ...[0, 1, 2, 3, 99, 100, items - 1, items, items + 1, 4_294_967_295].map(
      (item) => `/gallery/${id}/${item}`,
    ),
  ];
  for (const url of paths.filter((path) => !path.includes('/-'))) {
    const { statusCode, body } = await app.inject({ url, headers: json });
    answers[url] = `${statusCode} ${body}`;
  }
  answers['page'] = (await app.inject({ url: `/inscription/${id}`, headers: html })).body;
  return answers;
}

describe('properties in the form of an earlier version, and as rows', () => {
  let http: HttpApp;
  const before = new Map<string, Record<string, string>>();
  let batchBefore = '';
  const batch = async (names: readonly string[]): Promise<string> =>
    (
      await http.app.inject({
        method: 'POST',
        url: '/inscriptions',
        headers: json,
        payload: names.map((name) => idOf(name)),
      })
    ).body;
  const names = Object.keys(large);

  beforeAll(async () => {
    const rows: RowSpec[] = names.map((name) => ({
      name,
      type: 'image/png',
      properties: large[name] as string,
    }));
    http = await createHttpApp([{ height: 767_430, rows: [{ name: 'without' }, ...rows] }]);
    for (const name of names) before.set(name, await answersOf(http, name));
    batchBefore = await batch(['without', ...names]);
    const lists = await http.app.inject({ url: '/galleries', headers: json });
    expect(lists.json<{ ids: string[] }>().ids).toHaveLength(names.length - 1);
    await fillProperties(http.database.pool);
    const { rows: left } = await http.database.pool.query(
      'SELECT FROM chain.inscription_details WHERE properties_json IS NOT NULL',
    );
    expect(left).toEqual([]);
  });
  afterAll(() => http.close());

  test.each(names)('have the same answer: %s', async (name) => {
    const after = await answersOf(http, name);
    expect(Object.keys(after)).toEqual(Object.keys(before.get(name) ?? {}));
    for (const [url, answer] of Object.entries(before.get(name) ?? {})) {
      // compare only whether they are equal, because a failure must not print megabytes
      expect(after[url] === answer, url).toBe(true);
    }
    expect(after[`/inscription/${idOf(name)}`]?.includes(`"properties":${large[name]},"rune":`)).toBe(true);
  });

  test('have the same answer for many at once', async () => {
    const after = await batch(['without', ...names]);
    expect(after === batchBefore).toBe(true);
    for (const name of names) expect(after.includes(`"properties":${large[name]},"rune":`), name).toBe(true);
  });

  test('show the items that they have', async () => {
    const item = await http.app.inject({ url: `/gallery/${idOf('many pieces')}/6541`, headers: json });
    expect(item.body).toContain(`"i":6541,"item":{"id":"${shownId(6541)}","attributes":`);
    const page = await http.app.inject({ url: `/gallery/${idOf('many pieces')}/page/65`, headers: json });
    expect(page.json()).toEqual({
      ids: Array.from({ length: 43 }, (_, at) => shownId(6500 + at)),
      more: false,
      page: 65,
    });
  });
});

test('any properties are answered unchanged from rows', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('"', '\\', '\0', '\u2028', '1'),
  );
  const scalar = fc.oneof(
    fc.boolean().map(String),
    fc.constant('null'),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    text.map((value) => JSON.stringify(value)),
  );
  const attributes = fc
    .tuple(
      fc.option(text),
      fc.uniqueArray(fc.tuple(text, scalar), { maxLength: 4, selector: ([name]) => name }),
    )
    .map(
      ([title, traits]) =>
        `{"title":${JSON.stringify(title)},"traits":{${traits.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}}`,
    );
  const shown = fc
    .tuple(fc.array(fc.oneof(fc.constant(none), attributes), { maxLength: 230 }), attributes)
    .map(([items, own]) => propertiesOf(items, own));
  await fc.assert(
    fc.asyncProperty(fc.array(shown, { minLength: 12, maxLength: 12 }), async (all) => {
      const rows: RowSpec[] = all.map((properties, at) => ({ name: `${at}`, properties }));
      const http = await createHttpApp([{ height: 767_430, rows }]);
      try {
        await fillProperties(http.database.pool);
        for (const [at, properties] of all.entries()) {
          const { body } = await http.app.inject({ url: `/inscription/${idOf(`${at}`)}`, headers: json });
          const shown = body.slice(body.indexOf('"properties":'), body.lastIndexOf(',"rune":'));
          expect(shown).toBe(`"properties":${properties}`);
        }
      } finally {
        await http.close();
      }
    }),
    { numRuns: propertyRuns(2) },
  );
});
