import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '#accounts/api-key.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { Pages, says } from './orders/opened-pages.ts';
import { axeFindings, layoutFaultsOf, smallTargets } from './pages/page-checks.ts';

const executable = browserForTests();
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

describe.skipIf(executable === null)('watches in a real browser', () => {
  let http: HttpApp;
  let given: TestAccess;
  let browser: Browser;
  let pages: Pages;

  beforeAll(async () => {
    http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'hello world' }] }], {
      access: ({ accessPool }) => {
        given = testAccess(accessPool, { mode: 'open' });
        return given.access;
      },
    });
    const base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
    pages = new Pages(browser, base);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await given?.close();
    await http?.close();
  });
  afterEach(async () => {
    await pages.close();
    expect([pages.problems.splice(0), pages.strangers.splice(0)]).toEqual([[], []]);
  });

  /** Checks the layout at all widths, the targets of a finger, and contrast in light and dark. */
  async function looksRight(page: Page): Promise<void> {
    expect(await page.evaluate(smallTargets)).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFindings(page)).toEqual([]);
    }
    expect(await layoutFaultsOf(page)).toEqual([]);
  }

  /** Gives the browser a key by the form of the page. */
  async function giveKeyTo(page: Page, text: string): Promise<void> {
    await page.fill('main input[name=key]', text);
    await page.press('main input[name=key]', 'Enter');
  }

  const newKey = async (): Promise<string> => (await giveKey(http.database.pool)).key;

  test('a search is watched from its results, listed with its findings, and deleted', async () => {
    const page = await pages.open('/?text=hello&in=content', phone);
    await page.click('text=Watch this search');
    await says(page, 'main', /Watches belong to a key/u);
    await looksRight(page);
    await giveKeyTo(page, await newKey());
    await says(page, 'h1', /Watch this/u);
    await says(page, 'main', /Contents with.*hello/u);
    await looksRight(page);
    await page.click('main button:has-text("Watch")');
    await says(page, 'h1', /Your watches/u);
    await says(page, '.watch', /Contents with.*hello[\s\S]*nothing found yet/u);
    await http.database.pool.query(
      `WITH w AS (UPDATE service.watches SET last_number = 5, found = 5 WHERE kind = 'search' RETURNING id)
       INSERT INTO service.watch_findings (watch_id, thing, state, number, txid, height, block_hash, facts)
       SELECT w.id, thing, 'confirmed', number, $2, 0, $2, '{}'
         FROM w, unnest($1::text[]) WITH ORDINALITY AS t (thing, number)`,
      [['e', 'd', 'c', 'b', 'a'].map((name) => idOf(name)), Buffer.alloc(32, 1)],
    );
    await page.reload();
    await says(page, '.findings', /in block 0/u);
    expect(await page.getAttribute('.findings a', 'href')).toBe(`/inscription/${idOf('a')}`);
    const isCutOff = `(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('.findings'))`;
    expect(await page.evaluate(isCutOff)).toBe(false);
    await looksRight(page);
    const feed = await page.request.get(`${pages.base}${await page.getAttribute('text=Feed', 'href')}`);
    expect([feed.status(), await feed.text()]).toEqual([200, expect.stringContaining(idOf('a'))]);
    await page.focus('text=Delete');
    await page.keyboard.press('Enter');
    await says(page, 'main', /Nothing is watched yet/u);
    await looksRight(page);
  });

  test('the secret of a webhook is shown once', async () => {
    const page = await pages.open(`/address/${address}`, phone);
    await page.click('text=Watch its receipts');
    await giveKeyTo(page, await newKey());
    await says(
      page,
      'main',
      /in the mempool[\s\S]*Receipts of sats are not found, because this service has no index/u,
    );
    await page.fill('input[name=webhookUrl]', 'https://shop.example/hooks');
    await page.click('main button:has-text("Watch")');
    const [id = '', secret = ''] = await page.locator('main code').allInnerTexts();
    expect(secret).toMatch(/^[0-9a-f]{64}$/u);
    await looksRight(page);
    // sends the form again
    await page.reload();
    expect(await page.locator('main code').allInnerTexts()).toEqual([id, secret]);
    await page.click('main >> text=Your watches');
    await says(page, '.watch', /Receipts of[\s\S]*webhook to shop\.example/u);
    expect(await page.locator('.watch code').allInnerTexts()).toEqual([id]);
    expect(await page.content()).not.toContain(secret);
  });

  test('a wrong webhook, a key without the scope and a wrong key are told, and nothing is saved', async () => {
    const page = await pages.open('/watches/new?kind=search&text=hello', { javaScriptEnabled: false });
    await giveKeyTo(page, (await giveKey(http.database.pool, { scopes: ['orders'] })).key);
    await says(page, 'main', /has no scope “search”/u);
    await giveKeyTo(page, newApiKey().key);
    await says(page, 'main', /is not valid here/u);
    await giveKeyTo(page, await newKey());
    await page.fill('input[name=webhookUrl]', 'http://127.0.0.1:8000/');
    await page.click('main button:has-text("Watch")');
    await says(page, 'main', /Watch this[\s\S]*webhookUrl leads to an IP address that is not public/u);
    expect(await page.inputValue('input[name=webhookUrl]')).toBe('http://127.0.0.1:8000/');
    await page.context().clearCookies();
    await page.click('main button:has-text("Watch")');
    await says(page, 'main', /Watches belong to a key/u);
    await giveKeyTo(page, await newKey());
    await says(page, 'main', /Watch this[\s\S]*Contents with.*hello/u);
    await page.goto(`${pages.base}/watches`);
    await says(page, 'main', /Nothing is watched yet/u);
    await page.goto(`${pages.base}/watches/new?kind=search&text=a`);
    await says(page, 'main', /fewer than 3 bytes/u);
  });
});
