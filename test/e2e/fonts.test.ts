import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const executable = browserForTests();

let latin: HttpApp;
let runic: HttpApp;
let browser: Browser;
let page: Page;

/** An application with one inscribed text. */
async function appWith(body: string): Promise<{ readonly http: HttpApp; readonly base: string }> {
  const http = await createHttpApp([{ height: 0, rows: [{ name: 'text', body }] }]);
  return { http, base: await http.app.listen({ host: '127.0.0.1', port: 0 }) };
}

describe.skipIf(executable === null)('the fonts of pages', () => {
  let latinBase: string;
  let runicBase: string;
  beforeAll(async () => {
    ({ http: latin, base: latinBase } = await appWith('a text in Latin letters'));
    ({ http: runic, base: runicBase } = await appWith('ᚠᚢᚦ'));
    browser = await launchChromium(executable ?? '');
  });
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await latin.close();
    await runic.close();
  });

  /** Number of bytes that the first view loads, by path. */
  async function loaded(base: string): Promise<Map<string, number>> {
    const bytes = new Map<string, number>();
    const reading: Promise<void>[] = [];
    page.on('response', (response) => {
      const path = new URL(response.url()).pathname;
      // this response does not end
      if (path === '/live') return;
      reading.push(response.body().then((body) => void bytes.set(path, body.length)));
    });
    await page.goto(base);
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    await page.waitForLoadState('load');
    await Promise.all(reading);
    return bytes;
  }

  const fontsOf = (bytes: ReadonlyMap<string, number>): string[] =>
    [...bytes.keys()].flatMap((path) => /\/fonts\/(.*)\.woff2$/u.exec(path)?.[1] ?? []).toSorted();

  test('a page in Latin letters loads one, and the first view has less than 200 kB', async () => {
    const bytes = await loaded(latinBase);
    expect(fontsOf(bytes)).toEqual(['serif-latin']);
    const total = [...bytes].reduce((sum, [, length]) => sum + length, 0);
    expect(total).toBeLessThan(200_000);
  });

  test('a page with runes loads those of runes, unless the system has some', async () => {
    const fonts = fontsOf(await loaded(runicBase));
    expect([['runic', 'serif-latin'], ['serif-latin']]).toContainEqual(fonts);
    const faces = `document.fonts.load('16px "Satscribe Scripts"', 'ᚠ').then((found) => found.length)`;
    expect(await page.evaluate(faces)).toBe(1);
  });

  test('nothing moves when a font arrives late', async () => {
    await page.route('**/fonts/*', async (route) => {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, 500);
      });
      await route.continue();
    });
    await page.addInitScript(`
      self.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) self.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
    `);
    await page.goto(latinBase);
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    expect(await page.evaluate('document.fonts.check("600 16px Satscribe Serif")')).toBe(true);
    // Web Vitals call values below 0.1 good
    expect(await page.evaluate('self.shift')).toBeLessThan(0.01);
  });
});
