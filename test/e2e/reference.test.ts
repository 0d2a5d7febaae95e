import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

const executable = browserForTests();

/**
 * Time for the page, in ms. It reads the complete document three times. This takes 7 s of a free processor, but other
 * tests use the processor too.
 */
const slowPageMs = 120_000;

describe.skipIf(executable === null)('the reference in a real browser', () => {
  let app: App;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    app = createRoutesApp();
    base = await app.listen({ port: 0 });
    browser = await launchChromium(executable!);
  });

  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  const openPage = async (options?: BrowserContextOptions): Promise<Page> => {
    const page = await browser.newPage(options);
    page.setDefaultTimeout(slowPageMs);
    return page;
  };

  test('opens the path that an error links to, and tries it, without any request to another host', async () => {
    const page = await openPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:')) problems.push(request.url());
    });
    // a path with a short answer: the reference colours each word of an answer, 10 s for the document itself
    await page.goto(`${base}/docs/#/status/live`);
    await page.click('.opblock.is-open .try-out__btn');
    await page.click('.opblock.is-open .execute');
    const status = page.locator('.live-responses-table .response .response-col_status').first();
    await status.waitFor();
    expect(await status.innerText()).toContain('200');
    expect(problems).toEqual([]);
    await page.close();
  });

  test('fits a phone', { tags: ['proof'] }, async () => {
    const page = await openPage({ viewport: { width: 360, height: 740 }, isMobile: true });
    await page.goto(`${base}/docs/`);
    await page.waitForSelector('.opblock-tag');
    expect(await page.evaluate('innerWidth')).toBe(360);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.close();
  });

  test('fills the body of an order with the chosen example', { tags: ['proof'] }, async () => {
    const page = await openPage();
    await page.goto(`${base}/docs/#/orders/inscribe`);
    await page.click('.opblock.is-open .try-out__btn');
    const names = await page.locator('.opblock.is-open .examples-select option').allTextContents();
    expect(names).toContain('an address for each file');
    await page.selectOption('.opblock.is-open .examples-select select', { label: 'a delegate' });
    const body = await page.locator('.opblock.is-open textarea.body-param__text').inputValue();
    expect(JSON.parse(body)).toMatchObject({ delegates: [{}], fee: 5 });
    await page.close();
  });

  test('tries a path with filters without any that was not chosen', { tags: ['proof'] }, async () => {
    const page = await openPage();
    await page.goto(`${base}/docs/#/inscriptions/inscriptions`);
    await page.click('.opblock.is-open .try-out__btn');
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/inscriptions');
    await page.click('.opblock.is-open .execute');
    expect((await asked).url()).toBe(`${base}/inscriptions`);
    await page.close();
  });
});
