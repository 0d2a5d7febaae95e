import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { png } from '#test/builders/images.ts';
import { addressFlood, bombs, hogs } from '#test/e2e/hostile-contents.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const executable = browserForTests();
const hogNames = Object.keys(hogs);
const bombBlock = 0;
const pictureBlock = 1;
const manyBlock = 2;
const hogBlock = 3;
const manyPages = 60;

let http: HttpApp;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;
/** Requests to anything but our server, dialogs and downloads. */
let outside: string[];
/** Tabs that crashed. A frame has a process of its own, and its crash is none of the tab's. */
let crashedTabs: string[];

describe.skipIf(executable === null)('lists of hostile inscriptions in a real browser', () => {
  beforeAll(async () => {
    http = await createHttpApp([
      { height: bombBlock, rows: bombs },
      {
        height: pictureBlock,
        rows: Array.from({ length: 24 }, (_, index) => ({
          name: `picture ${index}`,
          type: 'image/png',
          // as large as a card shows, and no two of the same size
          body: png(4_096, 4_096 - index, { rows: 4_096 - index }),
        })),
      },
      {
        height: manyBlock,
        rows: Array.from({ length: manyPages }, (_, index) => ({
          name: `page ${index}`,
          type: 'text/html',
          body: `<!doctype html><p>page ${index}<script>setInterval(() => {}, 1)</script>`,
        })),
      },
      {
        height: hogBlock,
        rows: [
          ...hogNames.map((name) => ({ ...hogs[name]!, name })),
          { ...addressFlood, name: 'a flood of addresses' },
          { name: 'beside', body: 'a text beside them' },
        ],
      },
    ]);
    base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    // a frame that takes all memory should not take that of the machine
    browser = await launchChromium(executable ?? '', ['--js-flags=--max-old-space-size=192']);
  });

  afterAll(async () => {
    await browser.close();
    await http.close();
  });

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    page = await context.newPage();
    outside = [];
    page.on('dialog', (dialog) => outside.push(`dialog: ${dialog.type()}`));
    page.on('download', (download) => outside.push(`download: ${download.url()}`));
    context.on('request', (request) => {
      if (!/^(?:data|blob|about):/u.test(request.url()) && !request.url().startsWith(base))
        outside.push(request.url());
    });
    crashedTabs = [];
    const targets = await browser.newBrowserCDPSession();
    const tabs = new Set<string>();
    targets.on('Target.targetCreated', ({ targetInfo }) => {
      if (targetInfo.type === 'page') tabs.add(targetInfo.targetId);
    });
    targets.on('Target.targetCrashed', ({ targetId }) => {
      if (tabs.has(targetId)) crashedTabs.push(targetId);
    });
    await targets.send('Target.setDiscoverTargets', { discover: true });
  });

  afterEach(async () => {
    expect(crashedTabs).toEqual([]);
    expect(outside).toEqual([]);
    expect(context.pages()).toHaveLength(1);
    await context.close();
  });

  /** Scrolls down until the end, so that every frame of a list loads. */
  const scrollDown = async (): Promise<void> => {
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    for (let at = 0; at < height; at += 800) {
      await page.evaluate(`scrollTo(0, ${at})`);
      await page.waitForTimeout(50);
    }
  };

  const cardText = async (name: string): Promise<string> => {
    const handle = await page.waitForSelector(`iframe[src="/preview/${idOf(name)}?size=card"]`);
    await handle.scrollIntoViewIfNeeded();
    const frame = (await handle.contentFrame())!;
    await frame.waitForSelector('p, pre');
    return (await frame.textContent('p, pre')) ?? '';
  };

  test.each([`/block/${bombBlock}`, `/inscriptions?from=0&to=${bombBlock}`])(
    'bombs in %s are words',
    async (path) => {
      await page.goto(`${base}${path}`);
      const shown: [string, string][] = [];
      for (const { name } of bombs) {
        if ((await page.$(`iframe[src="/preview/${idOf(name)}?size=card"]`)) !== null)
          shown.push([name, await cardText(name)]);
      }
      expect(shown.length).toBeGreaterThan(bombs.length - 2);
      for (const [name, text] of shown)
        expect(text, name).toMatch(bombs.find((bomb) => bomb.name === name)!.says);
    },
  );

  test('bombs are words in the frame of their own page, and alone', async () => {
    for (const { name } of bombs.slice(1)) {
      const words = /: not shown here, but at \/content\/|…$/u;
      await page.goto(`${base}/preview/${idOf(name)}`);
      expect(await page.textContent('p, pre'), name).toMatch(words);
    }
    await page.goto(`${base}/inscription/${idOf('html bomb')}`);
    const frame = await (await page.waitForSelector('iframe.full')).contentFrame();
    expect(await frame!.textContent('p')).toContain('more than 16 MB');
  });

  test('pictures as large as a card may show are shown, however many', async () => {
    await page.goto(`${base}/block/${pictureBlock}`);
    await scrollDown();
    const handle = await page.waitForSelector(`iframe[src="/preview/${idOf('picture 23')}?size=card"]`);
    const frame = await handle.contentFrame();
    await frame!.waitForFunction('document.querySelector("img")?.complete');
    expect(await frame!.evaluate('document.querySelector("img").naturalHeight')).toBe(4_073);
  });

  test('frames load when they come near the screen', async () => {
    const asked = new Set<string>();
    page.on('request', (request) => {
      if (request.url().includes('/preview/')) asked.add(request.url());
    });
    await page.goto(`${base}/block/${manyBlock}`, { waitUntil: 'load' });
    await page.waitForTimeout(500);
    expect(asked.size).toBeGreaterThan(0);
    const atFirst = asked.size;
    expect(atFirst).toBeLessThan(manyPages);
    await scrollDown();
    expect(asked.size).toBeGreaterThan(atFirst);
  });

  test('a list of everything that takes all leaves its tab alive', async () => {
    // the page is complete when its frames are, and some of them never are
    await page.goto(`${base}/block/${hogBlock}`, { waitUntil: 'commit' });
    await page.waitForSelector('footer', { state: 'attached' });
    await scrollDown();
    for (const name of [...hogNames, 'a flood of addresses']) {
      await page.waitForSelector(`iframe[src="/preview/${idOf(name)}?size=card"]`, { state: 'attached' });
    }
    await page.waitForTimeout(2_000);
    // the page answers, and its links work
    expect(await page.textContent('h1')).toContain(String(hogBlock));
    await page.click(`a[href="/inscription/${idOf('beside')}"]`);
    await page.waitForURL(`**/inscription/${idOf('beside')}`, { waitUntil: 'commit' });
  });

  test.each(hogNames)('%s on its own page leaves the tab alive', async (name) => {
    const open = async (): Promise<void> => {
      await page.goto(`${base}/inscription/${idOf(name)}`, { waitUntil: 'commit' });
      await page.waitForSelector('iframe.full', { state: 'attached' });
    };
    if (name === 'ever more memory') {
      // Playwright takes the crash of a frame for one of the page, and asks the page nothing more
      const crash = new Promise((resolve) => void page.once('crash', resolve));
      await open().catch(() => undefined);
      await crash;
      return;
    }
    await open();
    await page.waitForTimeout(1_500);
    expect(await page.textContent('.mono.wrap')).toBe(idOf(name));
    expect(page.url()).toBe(`${base}/inscription/${idOf(name)}`);
  });
});
