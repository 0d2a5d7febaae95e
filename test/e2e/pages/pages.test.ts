import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium, wholeBrowserForTests } from '#test/support/chromium.ts';
import { type CliProcess, startCli } from '#test/support/run-cli.ts';
import { type Crawl, crawl } from './crawl.ts';
import { axeFindings, layoutFaultsOf, smallTargets } from './page-checks.ts';
import { pictureFaults, pictureOf } from './pictures.ts';

// the pictures are compared with stored pictures, which another browser would draw differently
const executable = wholeBrowserForTests();

const unknown = 'ab'.repeat(32);

/** Pages that no link leads to, and states that have no link. */
const unlinked = [
  '/',
  '/?text=nothing+has+this+text',
  '/?text=5',
  '/?text=moth',
  '/?text=demo&in=metadata',
  `/?hash=${unknown}`,
  '/?q=0f8fad5b-d9cb-469f-a165-70867728950e',
  '/account',
  '/watches',
  '/order',
  '/order/0f8fad5b-d9cb-469f-a165-70867728950e',
  '/inscribe',
  '/inscriptions?kind=video',
  '/mempool',
  '/market?q=none',
  '/runes?q=QXJW',
];

/** Pages of things that do not exist. */
const missing = [
  '/nothing',
  `/tx/${unknown}`,
  `/output/${unknown}:0`,
  `/inscription/${unknown}i0`,
  `/sale/${unknown}`,
  '/block/999999',
  '/rune/NOBODYETCHEDTHIS',
  '/collection/none',
  '/satributes/none',
];

/** Time for all pages of one run, in ms. A run has some hundred pages. */
const longMs = 900_000;

describe.skipIf(executable === null)('the pages of the demo in a real browser', () => {
  let demo: CliProcess;
  let folder: string;
  let base: string;
  let browser: Browser;
  let found: Crawl;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'satscribe-demo-pages-'));
    demo = startCli(['demo', '--port', '0', '--data', join(folder, 'data')]);
    const ready = demo.seen(/^ready (\S+)/mu);
    browser = await launchChromium(executable ?? '');
    base = ((await ready)[1] ?? '').replace(/\/$/u, '');
    found = await crawl(base, unlinked);
  }, longMs);

  afterAll(async () => {
    await browser.close();
    demo.child.kill('SIGTERM');
    await demo.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page of each kind in turn, and collects its faults. */
  async function faultsOfAll(
    options: Parameters<Browser['newContext']>[0],
    check: (page: Page, path: string) => Promise<string[]>,
  ): Promise<string[]> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const told: string[] = [];
    page.on('pageerror', (error) => told.push(`error: ${error.message}`));
    page.on('console', (message) => {
      // frames of lists run no scripts
      const isCard = message.text().includes('Blocked script execution in');
      if (message.type() === 'error' && !isCard) told.push(`console: ${message.text()}`);
    });
    const faults: string[] = [];
    for (const path of [...oneOfEachKind(found).map((one) => one.path), ...missing]) {
      const answer = await page.goto(`${base}${path}`, { waitUntil: 'load' });
      // the browser reports the status of an error page as an error
      const isError = (answer?.status() ?? 0) >= 400;
      const wrong = await check(page, path);
      const errors = told
        .splice(0)
        .filter((words) => !(isError && words.includes('Failed to load resource')));
      wrong.push(...errors);
      faults.push(...wrong.map((fault) => `${path}: ${fault}`));
    }
    await context.close();
    return faults;
  }

  test('every link leads to a page, or says what else it leads to', () => {
    expect(found.faults).toEqual([]);
    expect(found.pages.length).toBeGreaterThan(30);
  });

  test('no page is wider than a phone, breaks a word, or has a finding of axe, in light and dark', {
    tags: ['proof'],
  }, async () => {
    const faults = await faultsOfAll({}, async (page) => {
      const layout = await layoutFaultsOf(page);
      const light = await axeFindings(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await axeFindings(page);
      await page.emulateMedia({ colorScheme: 'light' });
      return [...layout, ...light, ...dark.map((finding) => `dark: ${finding}`)];
    });
    expect(faults).toEqual([]);
  });

  test('targets are large enough for fingers', { tags: ['proof'] }, async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const faults = await faultsOfAll(phone, async (page) => (await page.evaluate(smallTargets)) as string[]);
    expect(faults).toEqual([]);
  });

  test('all pages except those of orders show the same without scripts', { tags: ['proof'] }, async () => {
    const faults = await faultsOfAll({ javaScriptEnabled: false }, async (page, path) => {
      const main = (await page.locator('main').innerText()).trim();
      const needsScripts = /page[^.]* needs scripts/iu.test(main);
      // the id of an order in the search box leads to a page with a link to the page of orders
      const isOrder = /^\/(?:(?:order|inscribe|etch|mint-rune)\b|\?q=)/u.test(path);
      if (isOrder) return needsScripts ? [] : ['does not say that it needs scripts'];
      return main.length > 20 && !needsScripts ? [] : ['shows nothing'];
    });
    expect(faults).toEqual([]);
  });

  test('pages look like the stored pictures, in light and dark, on a phone and a desk', {
    tags: ['proof'],
  }, async () => {
    const seen: Record<string, string> = {};
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1280]) {
        const context = await browser.newContext({ colorScheme, viewport: { width, height: 1000 } });
        const page = await context.newPage();
        for (const { path, kind } of pictured(found)) {
          await page.goto(`${base}${path}`, { waitUntil: 'networkidle' });
          const picture = await page.screenshot({ animations: 'disabled' });
          seen[`${kind} ${colorScheme} ${width}`] = await pictureOf(picture);
        }
        await context.close();
      }
    expect(pictureFaults(seen)).toEqual([]);
  });

  test('the first view is small, and a list makes few requests', async () => {
    for (const path of ['/', '/inscriptions', '/market', '/runes']) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      let bytes = 0;
      let requests = 0;
      page.on('requestfinished', async (request) => {
        requests++;
        // fonts of rarer scripts are loaded with the texts that need them
        const isArt = /\/(?:preview|thumbnails|content|fonts\/(?!serif-latin))/u.test(request.url());
        const sizes = await request.sizes().catch(() => null);
        if (!isArt) bytes += sizes?.responseBodySize ?? 0;
      });
      await page.goto(`${base}${path}`, { waitUntil: 'load' });
      await page.waitForTimeout(500);
      await page.close();
      expect.soft(bytes, `bytes of ${path}`).toBeLessThanOrEqual(200_000);
      expect.soft(requests, `requests of ${path}`).toBeLessThanOrEqual(60);
    }
  });

  test('the keyboard reaches everything, and shows where it is', async () => {
    const page = await browser.newPage();
    await page.goto(base);
    const focused = `(() => {
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body) return null;
      const { outlineStyle, boxShadow } = getComputedStyle(activeElement);
      const around = activeElement.closest('.box');
      const isMarked = outlineStyle !== 'none' || boxShadow !== 'none' || (around && getComputedStyle(around).boxShadow !== 'none');
      return { words: activeElement.textContent.trim() || activeElement.getAttribute('aria-label') || activeElement.name || activeElement.tagName, isMarked: Boolean(isMarked) };
    })()`;
    const reached: { words: string; isMarked: boolean }[] = [];
    for (let presses = 0; presses < 150; presses++) {
      await page.keyboard.press('Tab');
      const now = (await page.evaluate(focused)) as { words: string; isMarked: boolean } | null;
      if (now === null) break;
      reached.push(now);
    }
    const words = reached.map((one) => one.words);
    expect(words[0]).toBe('Skip to content');
    for (const link of ['Inscriptions', 'Market', 'Status', 'Satributes']) expect(words).toContain(link);
    expect(reached.filter(({ isMarked }) => !isMarked)).toEqual([]);
    await page.close();
  });
});

/** Kinds of pages whose pictures are stored. These pages look the same at each start of the demo. */
const picturedKinds = [
  '/',
  '/inscriptions',
  '/market',
  '/runes',
  '/satributes',
  '/collection/*',
  '/rune/*',
  '/sale/*',
  '/inscribe',
];

const pictured = (found: Crawl): Crawl['pages'] =>
  picturedKinds.flatMap((kind) => found.pages.find((page) => page.kind === kind) ?? []);

function oneOfEachKind({ pages }: Crawl): Crawl['pages'] {
  return [...new Map(pages.map((page) => [page.kind, page])).values()];
}
