import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const executable = browserForTests();

let http: HttpApp;
let browser: Browser;
let page: Page;
let base: string;
let problems: string[];

describe.skipIf(executable === null)('the search box in a real browser', () => {
  beforeAll(async () => {
    http = await createHttpApp([
      { height: 0, rows: ['a', 'b', 'c', 'picture'].map((name) => ({ name, body: `text ${name}` })) },
      { height: 3, rows: [] },
    ]);
    base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
  });
  afterAll(async () => {
    await browser.close();
    await http.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
  });
  afterEach(() => page.close());

  test('the id of an order never leaves the browser, and opens the order', async () => {
    const id = '0F8FAD5B-d9cb-469f-a165-70867728950e';
    const sent: string[] = [];
    // the page of orders would itself request the order, but this test is about the search box
    await page.route('**/order', (route) => route.fulfill({ contentType: 'text/html', body: 'orders' }));
    page.on('request', (request) => sent.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
    for (const typed of [` ${id} `, `${base}/order#${id}`]) {
      await page.goto(base);
      await page.fill('input[name=q]', typed);
      expect(await page.textContent('[role=option]')).toBe('Open this orderorder');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/order#${id.toLowerCase()}`);
    }
    expect(sent.filter((url) => url.toLowerCase().includes(id.toLowerCase()))).toEqual([]);
  });

  test('things that a text names are cards, reached by the keyboard, that fit a phone', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(`${base}/?text=3`);
    const cards = page.locator('.meaning a');
    expect(await cards.count()).toBe(3);
    expect(await cards.first().textContent()).toContain('#3');
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    expect(widths).toEqual([320, 320]);
    await cards.first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/inscription/${idOf('picture')}`);
    expect(problems).toEqual([]);
  });
});
