import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

describe('the page of /inscriptions', () => {
  let http: HttpApp;
  const mint = '{"p":"brc-20","op":"mint","tick":"ordi","amt":"1000"}';

  beforeAll(async () => {
    http = await createHttpApp([
      {
        height: 0,
        rows: [
          { name: 'picture', type: 'image/png', body: 'x'.repeat(500) },
          { name: 'document', type: 'text/html', body: '<script>1</script>' },
          { name: 'document with a set', type: 'text/html;charset=utf-8', body: '<p>still' },
          { name: 'drawing', type: 'image/svg+xml', body: '<svg/>', parents: [idOf('picture')] },
          {
            name: 'delegating',
            type: null,
            body: null,
            delegate: idOf('document'),
            parents: [idOf('picture')],
          },
          { name: 'data', type: 'application/json', body: '{"a":1}' },
          { name: 'sound', type: 'audio/mpeg', body: 'sound' },
          ...Array.from({ length: 14 }, (_, nth) => ({ name: `greeting ${nth}`, body: 'gm' })),
          ...Array.from({ length: 60 }, (_, nth) => ({ name: `text ${nth}`, body: `text ${nth}` })),
          ...Array.from({ length: 5 }, (_, nth) => ({ name: `mint ${nth}`, body: mint })),
          { name: 'json mint', type: 'application/json', body: ` { "p" : "x", "op":"mint"}` },
        ],
      },
    ]);
    const writer = await http.database.pool.connect();
    await ensureSecondaryIndexes(writer);
    writer.release();
  });
  afterAll(async () => http.close());

  const page = async (url: string): Promise<string> => {
    const answer = await http.app.inject({ url, headers: { accept: 'text/html' } });
    expect(answer.statusCode, url).toBe(200);
    return answer.body.replaceAll('&amp;', '&');
  };
  const cards = (body: string): string[] =>
    [...body.matchAll(/<li class="card"><a href="\/inscription\/([0-9a-f]+i\d+)"/gu)].map(([, id]) => id!);
  const ids = (...names: string[]): string[] => names.map((name) => idOf(name));

  test('can be narrowed to kinds', async () => {
    expect(cards(await page('/inscriptions?kind=images'))).toEqual(ids('drawing', 'picture'));
    expect(cards(await page('/inscriptions?kind=html'))).toEqual(ids('document with a set', 'document'));
    expect(cards(await page('/inscriptions?kind=html&sort=oldest'))).toEqual(
      ids('document', 'document with a set'),
    );
    expect(cards(await page('/inscriptions?kind=json'))).toEqual(ids('data'));
    expect(cards(await page('/inscriptions?kind=json&tokens=show'))).toEqual(ids('json mint', 'data'));
    expect(cards(await page('/inscriptions?kind=audio'))).toEqual(ids('sound'));
    expect(cards(await page('/inscriptions?kind=video'))).toEqual([]);
    expect(cards(await page('/inscriptions?kind=text'))).toHaveLength(48);
    const { body } = await http.app.inject({
      url: '/inscriptions?kind=html',
      headers: { accept: 'application/json' },
    });
    expect(JSON.parse(body)).toMatchObject({ ids: ids('document with a set', 'document') });
  });

  test('hides token operations by default; ord’s list has all', async () => {
    const hidden = await page('/inscriptions');
    expect(hidden).not.toContain(idOf('mint 4'));
    expect(hidden).toContain('href="/inscriptions?tokens=show">Show token operations');
    const shown = await page('/inscriptions?tokens=show');
    expect(cards(shown).slice(0, 2)).toEqual(ids('json mint', 'mint 4'));
    const { body } = await http.app.inject({ url: '/inscriptions', headers: { accept: 'application/json' } });
    expect(JSON.parse(body)).toMatchObject({
      ids: expect.arrayContaining(ids('mint 0', 'mint 4')) as unknown,
    });
  });

  test('links from a page by number to the next one, and says if there is none', async () => {
    const first = await page('/inscriptions/1?limit=10');
    const next = /<a class="button" href="([^"]+)" rel="next">/u.exec(first)![1]!;
    const second = await page(next);
    expect(second).toContain('page 3');
    expect(cards(second)).not.toContain(cards(first).at(-1));
    const past = await page('/inscriptions/99');
    expect(past).toContain('This page is past the end.');
    expect(cards(past)).toEqual([]);
  });

  test('shows the active filters, and no other parameter of an address', async () => {
    const body = await page(`/inscriptions?parent=${idOf('picture')}&colour=red`);
    expect(cards(body)).toEqual(ids('delegating', 'drawing'));
    expect(body).toContain(`parent: <span class="mono">${idOf('picture')}</span>`);
    expect(body).not.toContain('colour: ');
  });

  test('shows equal contents once, with a link to all, on consecutive pages', async () => {
    const first = await page('/inscriptions');
    expect(cards(first)).toHaveLength(48);
    const next = /<a class="button" href="([^"]+)" rel="next">/u.exec(first)![1]!;
    const second = await page(next);
    expect(cards(second)).toEqual(
      ids(
        ...Array.from({ length: 12 }, (_, nth) => `text ${11 - nth}`),
        'greeting 13',
        'sound',
        'data',
        'delegating',
        'drawing',
        'document with a set',
        'document',
        'picture',
      ),
    );
    expect(second).toContain('aria-label="All 14 with this content">×14</a>');
    expect(second).not.toContain('rel="next"');
    expect(second).toContain('href="/inscriptions" rel="first"');
  });

  test('sorts by size and number, and refuses others', async () => {
    expect(cards(await page('/inscriptions?sort=size')).slice(0, 2)).toEqual(ids('picture', 'document'));
    expect(cards(await page('/inscriptions?sort=number'))[0]).toBe(idOf('picture'));
    for (const wrong of ['kind=x', 'sort=x', 'tokens=x']) {
      const answer = await http.app.inject({
        url: `/inscriptions?${wrong}`,
        headers: { accept: 'text/html' },
      });
      expect(answer.statusCode, wrong).toBe(400);
    }
  });

  test('says whether a document runs scripts, also that of a delegate', async () => {
    const body = await page('/inscriptions?sort=oldest&limit=5');
    expect(cards(body)).toHaveLength(5);
    expect(body.match(/HTML, runs scripts/gu)).toHaveLength(2);
    expect(body).toContain(`/preview/${idOf('document with a set')}?size=card`);
  });

  test('of relatives is at ord’s paths, only for people', async () => {
    const children = `/children/${idOf('picture')}`;
    const body = await page(children);
    expect(cards(body)).toEqual(ids('drawing', 'delegating'));
    expect(body).toContain(`Children of <a class="mono" href="/inscription/${idOf('picture')}"`);
    expect(cards(await page(`/parents/${idOf('drawing')}`))).toEqual(ids('picture'));
    expect(await page(`/gallery/${idOf('drawing')}`)).toContain('There are no inscriptions here.');
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await http.app.inject({ url: children, headers });
      expect(answer.headers['content-type']).toContain('application/json');
    }
    const unknown = await http.app.inject({
      url: `/children/${idOf('unknown')}`,
      headers: { accept: 'text/html' },
    });
    expect(unknown.statusCode).toBe(404);
  });
});
