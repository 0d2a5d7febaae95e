import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { launchChromium, wholeBrowserForTests } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { hostilePage, type Report } from './hostile-page.ts';
import { type Listeners, openListeners } from './listeners.ts';

const executable = wholeBrowserForTests();

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
          { name: 'library', type: 'text/javascript', body: 'export default 1;' },
          { name: 'data', type: 'application/json', body: '{}' },
          { name: 'hostile', type: 'text/html;charset=utf-8', body: hostilePage(listeners) },
          { name: 'still', type: 'text/html', body: '<p>still' },
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

  /** Runs an inscription on its page, and returns its frame. */
  const frameOf = async (name: string): Promise<Frame> => {
    await page.click('.run summary');
    const handle = await page.waitForSelector(`iframe[src="/preview/${idOf(name)}"]`);
    const frame = await handle.contentFrame();
    await frame!.waitForLoadState('load');
    return frame!;
  };

  test('reach nothing from their page', async () => {
    await context.addCookies([{ name: 'session', value: 'secret', url: base }]);
    const prompts: string[] = [];
    page.on('dialog', (dialog) => prompts.push(dialog.type()));
    page.on('download', (download) => prompts.push(download.url()));
    await page.goto(`${base}/inscription/${idOf('hostile svg')}`);
    // nothing runs before the reader asks for it
    expect(page.frames().filter((frame) => frame.url().includes('/preview/'))).toEqual([]);
    await page.goto(`${base}/inscription/${idOf('hostile')}`);
    const before = { url: page.url(), title: await page.title() };
    const frame = await frameOf('hostile');
    await frame.waitForFunction('window.report?.done', undefined, { timeout: 60_000 });
    const report = (await frame.evaluate('window.report')) as Report;
    expect(report.reached).toEqual([]);
    expect(report.tried.length).toBeGreaterThan(60);
    expect(report.allowed).toEqual(['{}', '0', idOf('data'), 1]);
    expect(page.url()).toBe(before.url);
    expect(await page.title()).toBe(before.title);
    expect(context.pages()).toHaveLength(1);
    // after that, the page tries to leave its frame
    for (const way of report.waysOut) {
      await page.reload();
      const again = await frameOf('hostile');
      await again.evaluate(`window.leave(${JSON.stringify(way)})`).catch(() => undefined);
      await page.waitForTimeout(300);
    }
    expect(page.url()).toBe(before.url);
    expect(listeners.seen).toEqual([]);
    expect(prompts).toEqual([]);
    expect(context.pages()).toHaveLength(1);
    expect(context.serviceWorkers()).toEqual([]);
    expect((await context.cookies()).map(({ name, value }) => `${name}=${value}`)).toEqual([
      'session=secret',
    ]);
  });

  test('have no origin in a tab of their own, and read nothing of ours', async () => {
    await context.addCookies([{ name: 'session', value: 'secret', url: base }]);
    for (const path of ['preview', 'content']) {
      await page.goto(`${base}/${path}/${idOf('still')}`);
      const read = await page.evaluate(`(async () => {
        const tries = {
          cookies: () => document.cookie,
          storage: () => localStorage,
          status: () => fetch('/status', { credentials: 'include' }),
          search: () => fetch('/search?text=a'),
          outside: () => fetch('http://127.0.0.1:${listeners.httpPort}/', { mode: 'no-cors' }),
          popup: () => open('http://127.0.0.1:${listeners.httpPort}/popup'),
          page: () => navigator.serviceWorker.register('/content/${idOf('library')}'),
        };
        const reached = [];
        for (const [name, what] of Object.entries(tries)) {
          try { if (await what()) reached.push(name); } catch {}
        }
        return [origin, reached];
      })()`);
      expect(read).toEqual(['null', []]);
    }
    expect(listeners.seen).toEqual([]);
    expect(context.pages()).toHaveLength(1);
  });

  test('run nothing in a list', async () => {
    await page.goto(`${base}/block/0`);
    await page.waitForLoadState('networkidle');
    expect(await page.locator(`a[href="/inscription/${idOf('hostile')}"] .badge`).textContent()).toContain(
      'runs scripts',
    );
    // a document without scripts is shown in a frame, and an SVG is a picture that this server draws
    expect(page.frames().map((frame) => new URL(frame.url()).pathname)).toEqual([
      '/block/0',
      `/preview/${idOf('still')}`,
    ]);
    expect(await page.title()).toBe('Block 0 · Satscribe');
    expect(listeners.seen).toEqual([]);
  });

  test('reach nothing as SVG', async () => {
    await page.goto(`${base}/inscription/${idOf('hostile svg')}`);
    await frameOf('hostile svg');
    expect(await page.title()).toBe('Inscription #4 · Satscribe');
  });

  test('take no focus and no clicks in a list', async () => {
    await page.goto(`${base}/block/0`);
    const selector = `iframe[src="/preview/${idOf('still')}?size=card"]`;
    expect(await page.getAttribute(selector, 'sandbox')).toBe('');
    expect(await page.getAttribute(selector, 'tabindex')).toBe('-1');
    const clicks = `getComputedStyle(document.querySelector('${selector}')).pointerEvents`;
    expect(await page.evaluate(clicks)).toBe('none');
  });
});
