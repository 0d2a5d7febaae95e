import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { hostilePage, type Report } from './hostile-page.ts';
import { type Listeners, openListeners } from './listeners.ts';

const executable = browserForTests();

let http: HttpApp;
let listeners: Listeners;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;

describe.skipIf(executable === null)('hostile inscriptions in a real browser', () => {
  beforeAll(async () => {
    listeners = await openListeners();
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.document.title = 'svg'</script></svg>`;
    http = await createHttpApp([
      {
        height: 0,
        rows: [
          { name: 'library', type: 'text/javascript', body: '1' },
          { name: 'data', type: 'application/json', body: '{}' },
          { name: 'hostile', type: 'text/html;charset=utf-8', body: hostilePage(listeners) },
          { name: 'hostile svg', type: 'image/svg+xml', body: svg },
        ],
      },
    ]);
    base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
  });

  afterAll(async () => {
    await browser.close();
    await http.close();
    await listeners.close();
  });

  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
  });

  afterEach(async () => {
    await context.close();
  });

  const frameOf = async (name: string): Promise<Frame> => {
    const handle = await page.waitForSelector(`iframe[src="/preview/${idOf(name)}"]`);
    const frame = await handle.contentFrame();
    await frame!.waitForLoadState('load');
    return frame!;
  };

  test('reach nothing from their page', async () => {
    await context.addCookies([{ name: 'session', value: 'secret', url: base }]);
    await page.goto(`${base}/inscription/${idOf('hostile')}`);
    const before = { url: page.url(), title: await page.title() };
    const frame = await frameOf('hostile');
    await frame.waitForFunction('window.report?.done', undefined, { timeout: 60_000 });
    const report = (await frame.evaluate('window.report')) as Report;
    expect(report.reached).toEqual([]);
    expect(report.tried.length).toBeGreaterThan(25);
    expect(page.url()).toBe(before.url);
    expect(await page.title()).toBe(before.title);
    expect(context.pages()).toHaveLength(1);
    // then it tries to leave by itself
    for (const way of report.waysOut) {
      await page.reload();
      const again = await frameOf('hostile');
      await again.evaluate(`window.leave(${JSON.stringify(way)})`).catch(() => undefined);
      await page.waitForTimeout(300);
    }
    expect(page.url()).toBe(before.url);
    expect(listeners.seen).toEqual([]);
  });

  test('reach nothing as SVG', async () => {
    await page.goto(`${base}/inscription/${idOf('hostile svg')}`);
    await frameOf('hostile svg');
    expect(await page.title()).toBe('Inscription #3 · Satscribe');
  });

  test('take no focus and no clicks in a list', async () => {
    await page.goto(`${base}/block/0`);
    const selector = `iframe[src="/preview/${idOf('hostile')}"]`;
    expect(await page.getAttribute(selector, 'sandbox')).toBe('allow-scripts');
    expect(await page.getAttribute(selector, 'tabindex')).toBe('-1');
    const clicks = `getComputedStyle(document.querySelector('${selector}')).pointerEvents`;
    expect(await page.evaluate(clicks)).toBe('none');
  });
});
