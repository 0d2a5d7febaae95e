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
const pictures = 24;
/** How long the tests wait for a picture, in ms. Pictures are drawn one after another, each within some seconds. */
const waitingMs = { timeout: 60_000 };

let http: HttpApp;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;
/** Dialogs, downloads, and requests to other servers than ours. */
let outside: string[];
/** Tabs that crashed. A frame runs in its own process, so the crash of a frame is not a crash of the tab. */
let crashedTabs: string[];

describe.skipIf(executable === null)('lists of hostile inscriptions in a real browser', () => {
  beforeAll(async () => {
    http = await createHttpApp([
      { height: bombBlock, rows: bombs },
      {
        height: pictureBlock,
        rows: Array.from({ length: pictures }, (_, index) => ({
          name: `picture ${index}`,
          type: 'image/png',
          // the largest pictures that we draw, each with another height
          body: png(4_096, 4_096 - index, { rows: 4_096 - index }),
        })),
      },
      {
        height: manyBlock,
        rows: Array.from({ length: manyPages }, (_, index) => ({
          name: `page ${index}`,
          type: 'text/html',
          body: `<!doctype html><p>page ${index}`,
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
    // a frame that uses all of its memory must not use all memory of the machine
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

  /** Scrolls down to the end, so that every frame of a list loads. */
  const scrollDown = async (): Promise<void> => {
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    for (let at = 0; at < height; at += 800) {
      await page.evaluate(`scrollTo(0, ${at})`);
      await page.waitForTimeout(50);
    }
  };

  /** The tile of an inscription in the list that is open. */
  const tileOf = (name: string) => page.locator(`li.card a[href="/inscription/${idOf(name)}"] .art`);

  /** Waits until our picture in a tile is there. It has at most 400 pixels, like a placeholder. */
  const waitForThumbnail = async (name: string): Promise<void> => {
    const picture = `img[src="/thumbnails/${idOf(name)}.webp"]`;
    await page.locator(picture).scrollIntoViewIfNeeded();
    await expect
      .poll(() => page.evaluate(`document.querySelector('${picture}').naturalWidth`), waitingMs)
      .toBeGreaterThan(0);
    expect(await page.evaluate(`document.querySelector('${picture}').naturalWidth`)).toBeLessThanOrEqual(400);
  };

  /** The text of a sandboxed frame in a list. Nothing runs in this frame. */
  const frameText = async (name: string): Promise<string> => {
    const handle = (await tileOf(name).locator('iframe[sandbox=""]').elementHandle())!;
    await handle.scrollIntoViewIfNeeded();
    const frame = (await handle.contentFrame())!;
    await frame.waitForSelector('p, pre');
    return (await frame.textContent('p, pre')) ?? '';
  };

  test.each([`/block/${bombBlock}`, `/inscriptions?from=0&to=${bombBlock}`])(
    'bombs in %s are words, signs or small pictures of ours',
    async (path) => {
      await page.goto(`${base}${path}`);
      const seen = { words: 0, signs: 0, pictures: 0 };
      for (const { name, says, ...bomb } of bombs) {
        // a list shows contents that are equal only once
        if ((await tileOf(name).count()) === 0) continue;
        const type = String(bomb.type ?? 'text/plain');
        if (type.startsWith('image/')) {
          await waitForThumbnail(name);
          seen.pictures += 1;
        } else if (type === 'text/html') {
          expect(await tileOf(name).locator('.badge').textContent(), name).toContain('open to run');
          seen.signs += 1;
        } else {
          expect(await frameText(name), name).toMatch(says);
          seen.words += 1;
        }
      }
      expect(seen.words + seen.signs + seen.pictures).toBeGreaterThan(bombs.length - 2);
      expect(seen).toMatchObject({ words: 1, signs: 3 });
    },
  );

  test('bombs are words in the frame of their own page, and alone', async () => {
    for (const { name, says } of bombs.slice(1)) {
      const words = /, so it is not shown here, but at \/content\/|…$/u;
      await page.goto(`${base}/preview/${idOf(name)}`);
      expect(await page.textContent('p, pre'), name).toMatch(words);
      await page.goto(`${base}/preview/${idOf(name)}?size=card`);
      expect(await page.textContent('p, pre'), name).toMatch(says);
    }
    await page.goto(`${base}/inscription/${idOf('html bomb')}`);
    await page.click('.run summary');
    const frame = await (await page.waitForSelector('iframe.full')).contentFrame();
    expect(await frame!.textContent('p')).toContain('more than 16 MB');
  });

  test('pictures of the largest size that we draw are drawn, whatever their number', async () => {
    await page.goto(`${base}/block/${pictureBlock}`);
    await scrollDown();
    for (let index = 0; index < pictures; index += 1) await waitForThumbnail(`picture ${index}`);
    // a placeholder is square, and this picture is not
    const last = `document.querySelector('img[src="/thumbnails/${idOf('picture 23')}.webp"]').naturalHeight`;
    expect(await page.evaluate(last)).toBe(398);
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

  test('a list of all greedy contents runs none of them', async () => {
    await page.goto(`${base}/block/${hogBlock}`, { waitUntil: 'commit' });
    await page.waitForSelector('footer', { state: 'attached' });
    await scrollDown();
    for (const name of [...hogNames, 'a flood of addresses']) {
      const isPicture = hogs[name]?.type === 'image/svg+xml';
      await tileOf(name)
        .locator(isPicture ? 'img.thumbnail' : '.badge')
        .waitFor({ state: 'attached' });
    }
    await page.waitForTimeout(2_000);
    expect(page.frames()).toHaveLength(1);
    // the page answers, and its links work
    expect(await page.textContent('h1')).toContain(String(hogBlock));
    await page.click(`a[href="/inscription/${idOf('beside')}"]`);
    await page.waitForURL(`**/inscription/${idOf('beside')}`, { waitUntil: 'commit' });
  });

  test.each(hogNames)('%s on its own page leaves the tab alive', async (name) => {
    const open = async (): Promise<void> => {
      await page.goto(`${base}/inscription/${idOf(name)}`, { waitUntil: 'commit' });
      // scripts run once the reader asks for them
      if (hogs[name]?.type === 'text/html') await page.click('.run summary');
      await page.waitForSelector('iframe.full', { state: 'attached' });
    };
    if (name === 'ever more memory') {
      // Playwright reports the crash of a frame as a crash of the page, and then sends the page no more requests
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
