import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { png } from '#test/builders/images.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const executable = browserForTests();
const unknownId = `${'ab'.repeat(32)}i0`;
const alice = 11;
const bob = 12;
const picture = png(20, 10, { rows: 10 });
const markup = '<img src=x onerror="document.title=1">';

describe.skipIf(executable === null)('the market in a real browser', () => {
  let node: IndexedNode;
  let app: Awaited<ReturnType<typeof marketApp>>;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let base: string;
  let frog: string;
  let problems: string[];

  beforeAll(async () => {
    node = await startIndexedNode();
    app = await marketApp(node.database);
    const purse = new Purse(node.chain);
    const first = await inscribed(node.chain, { body: picture, contentType: 'image/png' }, { to: alice });
    const second = await inscribed(node.chain, { body: 'a text' }, { to: alice });
    frog = idOfReveal(first);
    await importItems(
      node.database,
      {
        slug: 'frogs',
        name: 'Frogs',
        description: `Green ones.\n${markup}`,
        icon: parseInscriptionId(frog),
        website: 'https://frogs.example.com/',
      },
      [
        [frog, 'Green frog'],
        [idOfReveal(second), null],
        [unknownId, 'To come'],
        ...Array.from({ length: 70 }, (_, nth): [string, null] => [`${'cd'.repeat(32)}i${nth}`, null]),
      ],
    );
    await importItems(node.database, { slug: 'toads', name: 'Toads' }, [[unknownId, null]]);
    const toBob = await purse.purchase(first.coin(0), bob, 70_000);
    const { hash } = await node.chain.mine([toBob, await purse.purchase(second.coin(0), alice, 90_000)]);
    await node.chain.mine([await purse.purchase({ ...toBob.coin(1), owner: bob }, alice, 30_000)]);
    await node.atTip();
    // make the block three days older, so that the chart has bars
    const { height } = await node.bitcoind.rpc.call<{ height: number }>('getblockheader', [hash]);
    await node.database.pool.query('UPDATE chain.blocks SET time = time - 3 * 86400 WHERE height = $1', [
      height,
    ]);
    base = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
    await node.close();
  });

  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
  });

  test('leads from the first page to a collection, its sales and its items', async () => {
    await page.goto(base);
    await page.click('header nav a[href="/market"]');
    expect(await page.textContent('h1')).toBe('Market');
    const collections = page.locator('section', { has: page.locator('#collections') });
    expect(await collections.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(
        /^Frogs\s+30,000 sats\s+30,000 sats 1 sale\s+100,000 sats 2 sales\s+100,000 sats 2 sales\s+73$/u,
      ),
      expect.stringMatching(/^Toads\s+no sale\s+no sale\s+no sale\s+no sale\s+1$/u),
    ]);
    await page.click('.sorts a >> text=name');
    await page.waitForURL('**sort=name*');
    expect(await page.locator('.sorts a[aria-current]').textContent()).toContain('name');
    await page.fill('.find input[name=q]', 'FROG');
    await page.click('.find button');
    await page.waitForURL('**/market?q=FROG*');
    await page.click('.rows a');
    await page.waitForURL('**/collection/frogs');
    expect(await page.textContent('h1')).toBe('Frogs');
    expect(await page.locator('.facts div').allInnerTexts()).toEqual([
      expect.stringMatching(/items, 2 of them indexed\s*73|73\s*items, 2 of them indexed/u),
      expect.stringMatching(/1\s*holder$|^holder\s*1/u),
    ]);
    expect(await page.locator('.chart').count()).toBe(2);
    expect(await page.locator('#price-title').textContent()).toBe('Mean price over time');
    expect(await page.locator('.chart >> nth=1 >> tbody tr').allTextContents()).toEqual([
      expect.stringContaining('70,000'),
      expect.stringContaining('30,000'),
    ]);
    await page.click('.tabs a >> text=Holders');
    await page.waitForURL('**/collection/frogs/holders');
    await page.click('.tabs a >> text=Sales by day');
    await page.waitForURL('**/collection/frogs/days');
    await page.click('.tabs a >> text=Activity');
    await page.waitForURL('**/collection/frogs/activity');
    const sales = page.locator('tbody tr');
    expect(await sales.count()).toBe(3);
    expect(await sales.first().textContent()).toContain('30,000 sats');
    await sales.first().locator('a[href^="/sale/"]').click();
    await page.waitForURL('**/sale/*');
    expect(await page.textContent('h1')).toBe('Sale of Green frog');
    await page.goBack();
    await page.click('.tabs a >> text=Items');
    await page.waitForURL('**/collection/frogs');
    await page.click('#items .card a >> nth=0');
    await page.waitForURL(`**/inscription/${frog}`);
    expect(problems).toEqual([]);
  });

  test('shows small pictures of items, and pages of items one after another', {
    tags: ['proof'],
  }, async () => {
    await page.goto(`${base}/collection/frogs`);
    const shown = page.locator(`#items img[src="/thumbnails/${frog}.webp"]`);
    await shown.scrollIntoViewIfNeeded();
    // the placeholder of all other contents is a square
    const shape = `(() => { const { naturalWidth, naturalHeight } = document.querySelector('#items img'); return naturalWidth / naturalHeight; })()`;
    await waitUntil(async () => (await page.evaluate(shape)) === 2, { limitMs: 20_000 });
    expect(await page.locator('#items .card').count()).toBe(60);
    await page.click('#items a[rel=next]');
    await page.waitForURL('**page=2');
    expect(await page.locator('#items .card').count()).toBe(13);
    expect(await page.locator('.chart').count()).toBe(0);
    await page.click('#items a[rel=first]');
    await page.waitForURL('**page=1');
    expect(problems).toEqual([]);
  });

  test('shows texts of others as text, and its links lead away without a trace', async () => {
    await page.goto(`${base}/collection/frogs`);
    expect(await page.textContent('.lines')).toBe(`Green ones.\n${markup}`);
    expect(await page.locator('.lines img').count()).toBe(0);
    expect(await page.title()).toBe('Frogs · Collection · Satscribe');
    const website = page.locator('a[href="https://frogs.example.com/"]');
    expect(await website.getAttribute('rel')).toBe('nofollow noopener noreferrer ugc');
    expect(problems).toEqual([]);
  });

  test('takes thumbnails, and nothing that was inscribed', async () => {
    await page.goto(`${base}/collection/frogs`);
    const loads = (path: string): Promise<unknown> =>
      page.evaluate(`new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve(true);
        image.onerror = () => resolve(false);
        image.src = '${path}';
      })`);
    expect(await loads(`/thumbnails/${frog}.jpeg`)).toBe(true);
    expect(await loads(`/content/${frog}`)).toBe(false);
    expect(await loads(`/thumbnails/../content/${frog}`)).toBe(false);
  });

  test('is readable without scripts, and on a phone', { tags: ['proof'] }, async () => {
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 320, height: 740 },
    });
    const still = await plain.newPage();
    for (const path of [
      '/market',
      '/market?q=none',
      '/market/activity',
      '/collection/frogs',
      '/collection/frogs/activity',
      '/collection/frogs/days',
      '/collection/frogs/holders',
      '/collection/toads',
      '/collection/none',
    ]) {
      await still.goto(`${base}${path}`);
      expect(await still.locator('h1').count()).toBe(1);
      expect([path, await still.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 320]);
    }
    await plain.close();
    expect(problems).toEqual([]);
  });

  test('shows what is wrong on a page', async () => {
    const titles: (string | null)[] = [];
    for (const path of [
      '/collection/none',
      '/collection/..%2F',
      `/collection/frogs?after=${frog}x`,
      '/market?page=-1',
    ]) {
      const answer = await page.goto(`${base}${path}`);
      titles.push(`${answer?.status()} ${(await page.textContent('main'))?.replaceAll(/\s+/gu, ' ')}`);
    }
    expect(titles).toEqual([
      expect.stringMatching(/^404 .*no collection has this slug/u),
      expect.stringMatching(/^404 .*no collection has this slug/u),
      expect.stringMatching(/^400 .*after is not an inscription id/u),
      expect.stringMatching(/^400 .*page must be >= 0/u),
    ]);
  });
});
