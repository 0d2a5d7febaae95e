import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { charms } from '#kernel/primitives/charm.ts';
import { curses } from '#kernel/primitives/curse.ts';
import { blockHashOf, idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const json = { accept: 'application/json' };
const nullTxid = '0'.repeat(64);

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp(
    [
      {
        height: 767_430,
        islandHeight: 767_430,
        rows: [
          { name: 'parent', body: 'I am <b>first</b>' },
          { name: 'child 1', parents: [idOf('parent')] },
          { name: 'child 2', parents: [idOf('parent')], delegate: idOf('child 1'), body: null, type: null },
          { name: 'typed', type: 'text/own', delegate: idOf('missing') },
          ...Array.from({ length: 4 }, (_, index) => ({
            name: `sibling ${index}`,
            parents: [idOf('parent')],
          })),
          {
            name: 'cursed',
            charms: charms.cursed | charms.reinscription,
            curse: curses.reinscription,
            metaprotocol: 'brc-20',
            metadata: '{"big":12345678901234567890}',
            properties: '{"gallery":[],"attributes":{"title":"T","traits":{"n":9223372036854775807}}}',
          },
          { name: 'lost', location: { place: 1, offset: 77 } },
          { name: 'unbound', location: { place: 2, offset: 3 }, charms: charms.unbound },
          {
            name: 'recursive',
            type: 'text/html',
            body: `<script src="/content/${idOf('parent')}"></script><img src=/content/${idOf('missing')}>`,
          },
          {
            name: 'whole',
            type: 'text/html',
            body: `<img src="/content/${idOf('parent')}">`,
          },
          { name: 'burned', location: { script: Buffer.from([0x6a, 0x00]), value: 0, vout: 2, offset: 9 } },
        ],
      },
      {
        height: 800_000,
        islandHeight: 800_000,
        anchored: false,
        hasSpent: false,
        rows: Array.from({ length: 130 }, (_, index) => ({
          name: `later ${index}`,
          number: null,
          fee: null,
          parents: index === 0 ? [idOf('missing')] : [],
          location: { spentHeight: 800_001 },
        })),
      },
    ],
    { network: 'mainnet' },
  );
});

afterAll(async () => {
  await http.close();
});

const get = async (url: string, headers: Record<string, string> = html) => http.app.inject({ url, headers });

/** Ids of the cards of a page and of all following pages. */
async function idsOfPages(first: string): Promise<string[]> {
  const ids: string[] = [];
  for (let url: string | undefined = first; url !== undefined; ) {
    const { body }: { body: string } = await get(url);
    ids.push(...[...body.matchAll(/class="card"><a href="\/inscription\/([^"]+)"/gu)].map(([, id]) => id!));
    const links = [...body.matchAll(/<a href="([^"]+)" rel="next">Next/gu)];
    url = links[0]?.[1]?.replaceAll('&amp;', '&');
  }
  return ids;
}
const inscription = async (query: string | number) =>
  (await get(`/inscription/${query}`, json)).json<Record<string, unknown>>();

describe('GET /inscription/<id> as JSON', () => {
  test('has ord’s fields', async () => {
    const answer = await get(`/inscription/${idOf('parent')}`, json);
    expect(answer.headers).toMatchObject({
      vary: 'Accept, accept-encoding',
      'content-type': 'application/json; charset=utf-8',
      'x-indexed-height': '800000',
    });
    expect(answer.json()).toEqual({
      address: 'bc1qqurswpc8qurswpc8qurswpc8qurswpc89fe3yv',
      charms: [],
      // missing blocks may have other children
      child_count: null,
      children: null,
      content_length: 17,
      content_type: 'text/plain;charset=utf-8',
      effective_content_type: 'text/plain;charset=utf-8',
      fee: 321,
      height: 767_430,
      id: idOf('parent'),
      metaprotocol: null,
      next: idOf('child 1'),
      number: 0,
      parents: [],
      previous: null,
      properties: { gallery: [], attributes: { title: null, traits: {} } },
      // the first blocks with runes are missing
      rune: null,
      sat: null,
      satpoint: `${idOf('parent').slice(0, 64)}:0:0`,
      timestamp: 1_700_000_000 + 767_430 * 600,
      value: 546,
    });
  });

  test('knows delegates, and their absence', async () => {
    expect(await inscription(idOf('child 2'))).toMatchObject({
      content_length: null,
      content_type: null,
      effective_content_type: 'text/plain;charset=utf-8',
      parents: [idOf('parent')],
    });
    expect(await inscription(idOf('typed'))).toMatchObject({ effective_content_type: 'text/own' });
  });

  test('knows charms by reveal and by place', async () => {
    expect(await inscription(-1)).toMatchObject({
      id: idOf('cursed'),
      number: -1,
      charms: ['reinscription', 'cursed'],
      metaprotocol: 'brc-20',
    });
    expect(await inscription(idOf('lost'))).toMatchObject({
      charms: ['lost'],
      satpoint: `${nullTxid}:4294967295:77`,
      address: null,
      value: null,
    });
    expect(await inscription(idOf('unbound'))).toMatchObject({
      charms: ['unbound'],
      satpoint: `${nullTxid}:0:3`,
      address: null,
    });
    expect(await inscription(idOf('burned'))).toMatchObject({
      charms: ['burned'],
      satpoint: `${idOf('burned').slice(0, 64)}:2:9`,
      address: null,
      value: 0,
    });
  });

  test('keeps integers that a JavaScript number cannot hold', async () => {
    const { body } = await get(`/inscription/${idOf('cursed')}`, json);
    expect(body).toContain('"traits":{"n":9223372036854775807}');
  });

  test('has null for missing facts', async () => {
    expect(await inscription(idOf('later 0'))).toMatchObject({
      address: null,
      fee: null,
      next: null,
      number: null,
      parents: null,
      previous: null,
      satpoint: null,
      value: null,
    });
    // no parent is claimed, so no parent is valid
    expect(await inscription(idOf('later 1'))).toMatchObject({ parents: [] });
  });

  test('is found by number', async () => {
    expect(await inscription(1)).toMatchObject({ id: idOf('child 1') });
  });

  test.each([
    [idOf('missing'), 404],
    ['999999', 404],
    ['2147483648', 400],
    // the text is the name of a sat, which needs a sat index
    ['x', 404],
    ['X', 400],
    ['-', 400],
    ['1.5', 400],
  ])('of %s is %i', async (query, status) => {
    const answer = await get(`/inscription/${query}`, json);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ status: 'error', error: expect.any(String) as string });
    expect(answer.headers.vary).toBe('Accept, accept-encoding');
  });
});

describe('pages', () => {
  const urls = [
    '/',
    '/?text=first',
    '/?text=zzz',
    '/?text=a,b',
    '/?text=a,b&all=1',
    '/?text=12345&in=metadata',
    `/?hash=${'0'.repeat(64)}`,
    '/?text=content&page=2',
    '/?text=content&page=99',
    '/blocks',
    '/blocks?from=770000',
    '/block/767430',
    '/block/800000?page=3',
    '/block/800000?page=4',
    `/inscription/${idOf('cursed')}`,
    `/inscription/${idOf('later 0')}`,
    `/inscription/${idOf('unbound')}`,
    `/inscription/${idOf('lost')}`,
  ];

  test.each(urls)('%s is HTML under a strict policy', async (url) => {
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policies = answer.headers['content-security-policy'] as unknown as readonly string[];
    expect(policies).toHaveLength(2);
    const [own, paths] = policies;
    expect(own).toMatch(/^default-src 'none'; script-src 'self';/u);
    expect(own).toContain("object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
    expect(paths).toMatch(/^default-src 'none'; script-src \*:\*\/assets\/;/u);
    const policy = policies.join();
    expect(policy).not.toContain('unsafe');
    expect(answer.body).not.toMatch(/<script(?![^>]* src="\/assets\/)/u);
    expect(answer.body).not.toMatch(/ on\w+=| style=|javascript:/u);
    expect(answer.body).not.toContain('allow-same-origin');
    expect(answer.body).not.toMatch(/\bundefined\b|\[object|NaN/u);
  });

  test('show inscribed texts as text, never as markup', async () => {
    const { body } = await get('/?text=first');
    expect(body).toContain('I am &lt;b&gt;<mark>first</mark>&lt;/b&gt;');
    expect(body).toContain('1 inscription whose content contains <q>first</q>');
  });

  test('show the request as text', async () => {
    const { body } = await get(`/?text=${encodeURIComponent('"><script>x</script>')}`);
    expect(body).toContain('<q>&quot;&gt;&lt;script&gt;x&lt;/script&gt;</q>');
    expect(body).toContain('value="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"');
  });

  test('name the known facts of each block, and the reason', async () => {
    const { body } = await get('/');
    expect(body).toContain('<span class="chip yes">all</span>');
    expect(body).not.toContain('all facts: its whole history');
    expect(body).toContain(
      'because the outputs that it spends are missing, and blocks before it are missing',
    );
    expect(body).toContain('32,569 blocks are not indexed');
    expect(body).toContain('blocks in 2 runs');
  });

  test('exist for all results', async () => {
    const { body } = await get('/?text=content&page=3');
    expect(body.match(/class="card"/gu)).toHaveLength(142 - 120);
    expect(body).toContain('rel="prev"');
    expect(body).not.toContain('rel="next"');
  });

  test('list the inscriptions of a block, in order and in pages', async () => {
    const { body } = await get('/block/800000?page=3');
    expect(body.match(/class="card"/gu)).toHaveLength(10);
    expect(body.indexOf(idOf('later 120'))).toBeGreaterThan(0);
    expect(body.indexOf(idOf('later 120'))).toBeLessThan(body.indexOf(idOf('later 121')));
    expect((await get(`/block/${blockHashOf(800_000).reverse().toString('hex')}`)).statusCode).toBe(200);
  });

  test('narrow a block to a kind of content, in consecutive pages', async () => {
    const all = await idsOfPages('/block/800000');
    const texts = await idsOfPages('/block/800000?kind=text');
    expect(texts.length).toBeGreaterThan(60);
    expect(texts).toEqual(all.filter((id) => texts.includes(id)));
    expect(await idsOfPages('/block/800000?kind=video')).toEqual([]);
    for (const query of ['kind=x', 'tab=x', 'kind=text&after=x', 'page=0'])
      expect([query, (await get(`/block/800000?${query}`)).statusCode]).toEqual([query, 400]);
    // programs get the same response as before
    const json = { accept: 'application/json' };
    const [plain, odd] = await Promise.all(
      ['', '?kind=x&tab=y'].map((query) => http.app.inject({ url: `/block/800000${query}`, headers: json })),
    );
    expect([odd!.statusCode, odd!.body]).toEqual([plain!.statusCode, plain!.body]);
  });

  test('name the unknown facts of a block’s fees, sales and runes', async () => {
    const { body } = await get('/block/800000');
    expect(body).toContain('unknown: there is neither a node nor the spent outputs of the block');
    const sales = await get('/block/800000?tab=sales');
    expect(sales.body).toContain('unknown: sales are not indexed here');
    expect((await get('/block/800000?tab=runes')).statusCode).toBe(200);
  });

  test('redirect from a typed text to its page', async () => {
    const target = async (typed: string, more = '') =>
      (await get(`/?q=${encodeURIComponent(typed)}${more}`)).headers.location;
    expect(await target('  ')).toBe('/');
    expect(await target('#12')).toBe('/inscription/12');
    expect(await target(idOf('lost'))).toBe(`/inscription/${idOf('lost')}`);
    expect(await target('#-1')).toBe('/inscription/-1');
    const unknown = `${'ef'.repeat(32)}i0`;
    expect(await target(unknown)).toBe(`/inscription/${unknown}`);
    expect(await target(idOf('lost').slice(0, 64).toUpperCase())).toBe(`/tx/${idOf('lost').slice(0, 64)}`);
    expect(await target(`${'ab'.repeat(32)}:0`)).toBe(`/output/${'ab'.repeat(32)}:0`);
    expect(await target('0°0′0″1‴')).toBe('/sat/1');
    expect(await target('lost')).toBe('/?text=lost');
    expect(await target('ab'.repeat(32))).toBe(`/?hash=${'ab'.repeat(32)}`);
    expect(await target('a b&c')).toBe('/?text=a+b%26c');
    expect(await target('a', '&in=metadata&all=1')).toBe('/?text=a&in=metadata&all=1');
  });

  test('offer other searches for a text that is not found, with the number of their matches', async () => {
    const offers = async (url: string) =>
      [...(await get(url)).body.matchAll(/<a class="chip" href="([^"]*)">([^<]*) <b>(\d+)<\/b>/gu)].map(
        ([, href, words, count]) => [href!.replaceAll('&amp;', '&'), words, Number(count)],
      );
    expect(await offers('/?text=first+am+I')).toEqual([
      ['/?text=first+am+I&words=1', 'any order of the words', 1],
      ['/?text=first+am+I&fuzzy=1', 'similar words', 1],
    ]);
    expect(await offers('/?text=12345678901234567890')).toEqual([
      ['/?text=12345678901234567890&in=metadata', 'in metadata', 1],
    ]);
    expect(await offers('/?text=nothing+of+all+this')).toEqual([]);
    // the text of this search has matches
    const { body } = await get('/?text=first&in=content&order=desc&contentType=text/*');
    expect(body).not.toContain('>similar words <');
    const feed = /<a href="(\/search\.atom[^"]*)"/u.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(feed).toBe('/search.atom?text=first&contentType=text%2F*');
    expect((await get(feed)).statusCode).toBe(200);
  });

  test('neither search nor repeat the id of an order', async () => {
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    for (const url of [`/?q=${id}`, `/?text=${id}`, `/?q=https://a.example/order%23${id}`]) {
      const answer = await get(url);
      expect(answer.statusCode).toBe(200);
      expect(answer.body).not.toContain(id);
      expect(answer.body).toContain('<a class="button" href="/order">');
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    }
    for (const url of [`/search/${id}`, `/search?query=${id}`])
      expect((await get(url)).headers.location).toBe('/order');
    expect((await get(`/search/suggest?text=${id}`)).json()).toEqual({ status: 'ok', words: [], names: [] });
    expect(JSON.stringify(http.logged)).not.toContain(id);
  });

  test('say that a hash is unknown, and where to inscribe its file', async () => {
    const { body } = await get(`/?hash=${'ab'.repeat(32)}`);
    expect(body).toContain('No block or transaction with this id is known here either');
    expect(body).toContain('<a class="button" href="/inscribe">');
    const transaction = (await get(`/?hash=${idOf('lost').slice(0, 64)}`)).body;
    expect(transaction).toContain(`<li class="meaning"><a href="/tx/${idOf('lost').slice(0, 64)}">`);
    expect(transaction).not.toContain('href="/inscribe">Check');
  });

  test('keep the mode of a search in the box at the top', async () => {
    const { body } = await get('/?text=12345&in=metadata&all=1');
    expect(body).toContain('<input type="hidden" name="in" value="metadata">');
    expect(body).toContain('<input type="hidden" name="all" value="1">');
    expect((await get('/?text=first')).body).not.toMatch(/type="hidden" name="(?!text)/u);
  });

  test('offer the block of a height that was searched as text', async () => {
    const { body } = await get('/?text=767430');
    expect(body).toMatch(
      /<li class="meaning"><a href="\/block\/767430">[^]*?Block 767,430[^]*?14 inscriptions/u,
    );
    expect((await get('/?text=767,430')).body).toContain('<a href="/block/767430">');
    expect((await get('/?text=767429')).body).not.toContain('<a href="/block/');
  });

  test('offer the inscription of a number that was searched as text', async () => {
    const { body } = await get('/?text=7');
    expect(body).toContain(`<li class="meaning"><a href="/inscription/${idOf('sibling 3')}">`);
    // a sat also has this number, but people rarely mean it, so it is after the texts
    expect(body.indexOf('<a href="/sat/7">')).toBeGreaterThan(body.indexOf('class="filters"'));
  });

  test('link from an inscription to its owner’s contents', async () => {
    const { body } = await get(`/inscription/${idOf('parent')}`);
    const address = 'bc1qqurswpc8qurswpc8qurswpc8qurswpc89fe3yv';
    expect(body).toContain(`<a class="mono" href="/address/${address}"`);
    const page = await get(`/address/${address}`);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain(`/inscription/${idOf('parent')}`);
  });

  test('list the known children', async () => {
    const { body } = await get(`/inscription/${idOf('parent')}`);
    expect(body).toContain(`href="/inscription/${idOf('sibling 1')}"`);
    expect(body).toContain('<h2>Children <span class="faint">6</span></h2>');
    expect(body).toContain('Others may be in missing blocks.');
  });

  test('list the references of an inscription, and mark unknown ones', async () => {
    const { body } = await get(`/inscription/${idOf('recursive')}`);
    expect(body).toContain(`<a class="mono" href="/inscription/${idOf('parent')}"`);
    expect(body).toMatch(
      new RegExp(`title="${idOf('missing')}">[^<]*</span> <span class="faint">not indexed here`, 'u'),
    );
    const home = (await get('/')).body;
    expect(home).toContain(`/inscription/${idOf('whole')}`);
    expect(home).not.toContain(`/inscription/${idOf('recursive')}`);
  });

  test('show errors as a page', async () => {
    for (const [url, status] of [
      ['/?text=', 400],
      ['/?text=a&page=0', 400],
      ['/?hash=x', 400],
      [`/?text=a&hash=${'0'.repeat(64)}`, 400],
      ['/block/999999', 404],
      ['/block/x', 400],
      [`/inscription/${idOf('missing')}`, 404],
      ['/nowhere', 404],
    ] as const) {
      const answer = await get(url);
      expect(answer.statusCode).toBe(status);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(String(answer.headers['content-security-policy'])).toContain("default-src 'none'");
    }
  });

  test('load their assets for ever, by the hash of their bytes', async () => {
    const { body } = await get('/');
    const assets = [...body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/gu)].map((match) => match[1]!);
    expect(new Set(assets).size).toBe(7);
    for (const asset of assets) {
      expect(asset).toMatch(/^\/assets\/[0-9a-f]{12}\//u);
      const answer = await get(asset);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      // a page of a process with another version names this path
      const other = await get(asset.replace(/[0-9a-f]{12}/u, '0'.repeat(12)));
      expect([other.statusCode, other.headers['location'], other.headers['cache-control']]).toEqual([
        303,
        asset,
        'no-store',
      ]);
    }
    expect((await get('/assets/000000000000/none.js')).statusCode).toBe(404);
  });

  test('name the network on every page, errors too', async () => {
    for (const url of ['/', '/no-such-page'])
      expect((await get(url)).body).toContain('<span class="site main"><b>mainnet</b>');
  });
});
