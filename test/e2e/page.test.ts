import { createHash } from 'node:crypto';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const executable = browserForTests();

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVQI12P8z8Dwn4GBgYmBgYGBgQEAFw4CAQe2PZ0AAAAASUVORK5CYII=',
  'base64',
);
const recursive = `<!doctype html><title>recursive</title><p id="out">waiting</p>
<script type="module">
import { greet } from '/content/${idOf('library')}';
const data = await (await fetch('/content/${idOf('data')}')).json();
document.getElementById('out').textContent = greet(data.name);
</script>`;

let http: HttpApp;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let base: string;
let problems: string[];

describe.skipIf(executable === null)('in a real browser', () => {
  beforeAll(async () => {
    http = await createHttpApp([
      {
        height: 0,
        rows: [
          {
            name: 'library',
            type: 'text/javascript',
            body: 'export const greet = (name) => `Hello, ${name}!`;',
          },
          { name: 'data', type: 'application/json', body: '{"name":"recursion"}' },
          { name: 'recursive', type: 'text/html;charset=utf-8', body: recursive },
          { name: 'picture', type: 'image/png', body: picture },
          { name: 'markup', body: '<img src=x onerror="document.title=1"> a text with a Needle in it' },
          {
            name: 'script',
            type: 'text/javascript',
            body: 'document.title = "taken"; export const taken = 1;',
          },
          { name: 'style', type: 'text/css', body: 'body { outline: 7px solid red }' },
        ],
      },
      {
        height: 1,
        rows: Array.from({ length: 150 }, (_, index) => ({
          name: `many ${index}`,
          body: `many, no. ${index}`,
        })),
      },
      { height: 200, rows: [{ name: 'later', body: 'two days later' }] },
    ]);
    base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
  });

  afterAll(async () => {
    await browser.close();
    await http.close();
  });

  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      // frames of lists run no scripts
      const isBlockedCard = text.startsWith(`Blocked script execution in '${base}/preview/`);
      if (message.type() === 'error' && !isBlockedCard) problems.push(text);
    });
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

  test('a text is searched, found, marked, and leads to its inscription', async () => {
    await page.goto(base);
    await page.keyboard.press('/');
    await page.keyboard.type('needle');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?text=needle');
    expect(await page.textContent('h1')).toBe('1 inscription whose content contains needle');
    expect(await page.textContent('mark')).toBe('Needle');
    await page.click('.card a');
    await page.waitForURL(`**/inscription/${idOf('markup')}`);
    expect(await page.textContent('h1')).toBe('Inscription #4');
    const frame = await frameOf('markup');
    expect(await frame.textContent('pre')).toContain('<img src=x');
    expect(await page.title()).toBe('Inscription #4 · Satscribe');
    expect(problems).toEqual([]);
  });

  test.each([
    '/',
    '/nothing-is-here',
    `/inscription/${'ab'.repeat(32)}i0`,
    `/block/${'cd'.repeat(32)}`,
    `/${'unbroken'.repeat(10)}`,
    '/block/1',
    `/?hash=${'ab'.repeat(32)}`,
  ])('nothing is wider than a phone: %s', async (path) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${base}${path}`);
    const width = 'document.documentElement.scrollWidth';
    expect(await page.evaluate(width)).toBeLessThanOrEqual(360);
  });

  test('a block leads to the indexed blocks next to it, and names the heights between', async () => {
    const steps = async (height: number): Promise<[string, string | null][]> => {
      await page.goto(`${base}/block/${height}`);
      // the same links are above and below the inscriptions
      const links = (await (await page.$$('.steps')).at(-1)?.$$('a')) ?? [];
      return Promise.all(
        links.map(async (link) => [(await link.textContent()) ?? '', await link.getAttribute('href')]),
      );
    };
    expect(await steps(0)).toEqual([['1 ›', '/block/1']]);
    expect(await steps(1)).toEqual([
      ['‹ 0', '/block/0'],
      ['200 ›', '/block/200'],
    ]);
    expect(await page.textContent('.steps')).toContain('198 blocks in between are not indexed');
    expect(await steps(200)).toEqual([['‹ 1', '/block/1']]);
    expect(problems).toEqual([]);
  });

  test('commas and metadata are choices', async () => {
    await page.goto(base);
    await page.check('input[name=all]');
    await page.fill('input[name=q]', 'needle, a text');
    await page.click('button[type=submit]');
    expect(await page.textContent('h1')).toBe('1 inscription whose content contains needle and a text');
    await page.click('.hint a');
    expect(await page.textContent('h1')).toBe('0 inscriptions whose content contains needle, a text');
    await page.goto(base);
    await page.check('input[value=metadata]');
    await page.fill('input[name=q]', 'needle');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?text=needle&in=metadata');
    expect(await page.textContent('h1')).toBe('0 inscriptions whose metadata contain needle');
    expect(problems).toEqual([]);
  });

  test('a search is narrowed by type, blocks and order, and widened again', async () => {
    await page.goto(`${base}/?text=e`);
    const all = await page.textContent('h1');
    await page.click('.filters summary');
    await page.fill('input[name=contentType]', 'text/javascript');
    await page.selectOption('select[name=order]', 'desc');
    await page.click('.filters button');
    await page.waitForURL('**contentType=text%2Fjavascript**');
    expect(await page.textContent('h1')).toBe('2 inscriptions whose content contains e');
    expect(await page.getAttribute('.card a >> nth=0', 'href')).toBe(`/inscription/${idOf('script')}`);
    expect(await page.locator('.set .chip').allTextContents()).toEqual([
      'contentType: text/javascript × (remove this filter)',
      'order: desc × (remove this filter)',
    ]);
    await page.click('.set .chip >> nth=0');
    expect(await page.textContent('h1')).toBe(all);
    expect(problems).toEqual([]);
  });

  test('matches are counted by type, and each type has a link to its own', async () => {
    await page.goto(`${base}/?text=e`);
    const chip = page.locator('.types a', { hasText: 'application/json' });
    expect(await chip.textContent()).toBe('application/json 1');
    await chip.click();
    expect(await page.textContent('h1')).toBe('1 inscription whose content contains e');
    expect(problems).toEqual([]);
  });

  test('matches over time are bars that lead to their blocks, and a table', async () => {
    await page.goto(`${base}/?text=a`);
    const chart = page.locator('.chart svg');
    expect(await chart.getAttribute('aria-labelledby')).toBe('chart-title chart-words');
    const labels = await page.evaluate(
      `Array.from(document.querySelectorAll('.chart svg a'), (bar) => bar.getAttribute('aria-label'))`,
    );
    expect(labels).toHaveLength(2);
    expect(labels).toContain('2023-11-16: 1 inscription');
    await page.click('.chart summary');
    expect(await page.locator('.chart tbody tr').count()).toBe(2);
    await page.locator('.chart svg a').nth(1).click();
    await page.waitForURL('**from=200&to=200');
    expect(await page.textContent('h1')).toBe('1 inscription whose content contains a');
    expect(problems).toEqual([]);
  });

  test('words are found whole, or misspelt, and marked', async () => {
    await page.goto(base);
    await page.check('input[name=words]');
    await page.fill('input[name=q]', 'needle text');
    await page.keyboard.press('Enter');
    await page.waitForURL('**words=1');
    expect(await page.textContent('h1')).toBe('1 inscription whose content has the words needle and text');
    expect(await page.locator('mark').allTextContents()).toEqual(['text', 'Needle']);
    await page.goto(`${base}/?text=neelde&words=1`);
    expect(await page.textContent('h1')).toBe('0 inscriptions whose content has the words neelde');
    await page.click('.filters summary');
    await page.check('.filters input[name=fuzzy]');
    await page.click('.filters button');
    expect(await page.textContent('h1')).toBe('1 inscription whose content has words like neelde');
    expect(await page.textContent('mark')).toBe('Needle');
    expect(problems).toEqual([]);
  });

  test('typed text is completed, by the keyboard alone', async () => {
    await page.goto(base);
    await page.click('input[name=q]');
    // type everything at once: on a busy machine, pauses between keys show lists for parts of the text, and the next
    // list drops the choice
    await page.keyboard.insertText('needl');
    await page.waitForSelector('[role=option]');
    expect(await page.locator('[role=option]').allTextContents()).toEqual(['needle']);
    expect(await page.getAttribute('input[name=q]', 'aria-expanded')).toBe('true');
    await page.keyboard.press('ArrowDown');
    const active = await page.getAttribute('input[name=q]', 'aria-activedescendant');
    expect(await page.getAttribute(`#${active ?? ''}`, 'aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?text=needle**');
    await page.click('input[name=q]');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('#4');
    await page.click('[role=option]');
    await page.waitForURL(`**/inscription/${idOf('markup')}`);
    expect(problems).toEqual([]);
  });

  test('typed text is completed by our pages even if searches need a key', async () => {
    const access: { close: () => Promise<void> }[] = [];
    const restricted = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'a completed text' }] }], {
      access: ({ accessPool }) => {
        const opened = testAccess(accessPool, { mode: 'restricted' });
        access.push(opened);
        return opened.access;
      },
    });
    const address = await restricted.app.listen({ host: '127.0.0.1', port: 0 });
    expect((await fetch(`${address}/search/suggest?text=comp`)).status).toBe(401);
    await page.goto(address);
    await page.fill('input[name=q]', 'comp');
    expect(await page.textContent('[role=option]')).toBe('completed');
    await page.goto('about:blank');
    await restricted.app.close();
    await Promise.all(access.map((opened) => opened.close()));
    await restricted.close();
    expect(problems).toEqual([]);
  });

  test('if every search needs a key, a form takes it, and the search continues', async () => {
    const access: TestAccess[] = [];
    const closed = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'a completed text' }] }], {
      access: ({ accessPool }) => {
        const opened = testAccess(accessPool, { mode: 'keys' });
        access.push(opened);
        return opened.access;
      },
    });
    const { key } = await giveKey(closed.database.pool);
    const address = await closed.app.listen({ host: '127.0.0.1', port: 0 });
    await page.goto(address);
    await page.fill('input[name=q]', 'completed');
    await page.keyboard.press('Enter');
    await page.fill('input[name=key]', key);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?text=completed');
    expect(await page.locator('.card').count()).toBe(1);
    // no part of the key is in a URL, or readable by a script
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(page.url()).not.toContain(key);
    await page.goto(address);
    await page.fill('input[name=q]', 'comp');
    expect(await page.textContent('[role=option]')).toBe('completed');
    await page.goto('about:blank');
    await closed.app.close();
    await Promise.all(access.map((opened) => opened.close()));
    await closed.close();
    // suggestions before the key was entered, and the page that asks for the key
    expect(new Set(problems.map((problem) => /status of 401/u.test(problem)))).toEqual(new Set([true]));
  });

  test('a search can be narrowed without scripts too', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    await still.goto(`${base}/?text=many`);
    await still.click('.filters summary');
    await still.fill('input[name=from]', '1');
    await still.click('.filters button');
    expect(await still.textContent('h1')).toBe('150 inscriptions whose content contains many');
    expect(await still.locator('.card').count()).toBe(60);
    await plain.close();
  });

  test('results have pages that can be reached by link, key and number', async () => {
    await page.goto(`${base}/?text=many`);
    expect(await page.textContent('h1')).toBe('150 inscriptions whose content contains many');
    expect(await page.locator('.card').count()).toBe(60);
    await page.click('a[rel=next]');
    await page.waitForURL('**page=2');
    await page.keyboard.press('ArrowRight');
    await page.waitForURL('**page=3');
    expect(await page.locator('.card').count()).toBe(30);
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL('**page=2');
    await page.fill('input[name=page]', '3');
    await page.click('.pages button');
    await page.waitForURL('**page=3');
    expect(problems).toEqual([]);
  });

  test('an id leads to its inscription', async () => {
    await page.goto(base);
    await page.fill('input[name=q]', ` ${idOf('picture')} `);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/inscription/${idOf('picture')}`);
    const frame = await frameOf('picture');
    expect(await frame.evaluate('document.querySelector("img").naturalWidth')).toBe(2);
    expect(problems).toEqual([]);
  });

  /** Drops a picture anywhere on the page. */
  const drop = (): Promise<unknown> =>
    page.evaluate(`(() => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(${JSON.stringify([...picture])});
      transfer.items.add(new File([bytes], 'picture.png', { type: 'image/png' }));
      for (const type of ['dragenter', 'dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }
    })()`);

  test('a file that is dropped on the first page is hashed in the browser, and its first inscriber is shown there', async () => {
    await page.goto(base);
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') bodies.push(`${request.url()} ${request.postData() ?? ''}`);
    });
    await drop();
    const first = await page.waitForSelector(`.checked a[href="/inscription/${idOf('picture')}"]`);
    expect(await first.textContent()).toBe('#3');
    expect(await page.textContent('.checked')).toMatch(
      /^picture\.pngAlready inscribed, first by #3 in block 0, \d{4}-\d\d-\d\d \d\d:\d\d UTC\./u,
    );
    // the file itself is not sent anywhere
    const hash = createHash('sha256').update(picture).digest('hex');
    expect(bodies).toEqual([`${base}/search/hashes {"hashes":["${hash}"]}`]);
    expect(page.url()).toBe(`${base}/`);
    expect(problems).toEqual([]);
  });

  test('a file that is dropped on another page leads to its content', async () => {
    await page.goto(`${base}/blocks`);
    await drop();
    await page.waitForURL(`**/?hash=${createHash('sha256').update(picture).digest('hex')}`);
    expect(await page.textContent('h1')).toBe('Already inscribed once, first by');
    expect(problems).toEqual([]);
  });

  test('a file that is chosen and new is reported as new, and passed on to be inscribed', async () => {
    await page.goto(base);
    await page.setInputFiles('input.pick', {
      name: '<b>new.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('new'),
    });
    await page.waitForSelector('.checked .button');
    expect(await page.textContent('.checked')).toMatch(
      /^<b>new\.txtNew: no inscription has this content, (?:up to block|among) /u,
    );
    await page.click('.checked .button');
    await page.waitForURL('**/inscribe');
    await page.goto(base);
    const script = await page.getAttribute('script[src*="live-page"]', 'src');
    const handed = await page.evaluate(`(async () => {
      const { takeHandedFile } = await import(${JSON.stringify(script?.replace('live-page', 'handed-file'))});
      const file = await takeHandedFile();
      return [file.name, await file.text(), await takeHandedFile()];
    })()`);
    expect(handed).toEqual(['<b>new.txt', 'new', null]);
  });

  test('the first page shows a new block without a reload, and moves nothing', async () => {
    await page.goto(base);
    const height = await page.evaluate('document.querySelector(".now").offsetHeight');
    const before = await page.textContent('.now');
    await http.database.pool.query(
      `UPDATE chain.blocks SET time = time + 3600 WHERE height = 200; NOTIFY ${outboxChannel}`,
    );
    await waitUntil(async () => (await page.textContent('.now')) !== before);
    expect(await page.evaluate('document.querySelector(".now").offsetHeight')).toBe(height);
    expect(problems).toEqual([]);
  });

  test('a recursive inscription imports a module and fetches data from other inscriptions', async () => {
    await page.goto(`${base}/inscription/${idOf('recursive')}`);
    // the document runs scripts, so it waits for the reader
    await page.click('.run summary');
    const frame = await frameOf('recursive');
    await frame.waitForFunction('document.getElementById("out").textContent === "Hello, recursion!"');
    expect(await frame.evaluate('origin')).toBe('null');
    expect(problems).toEqual([]);
    // the same content, alone in a window
    await page.goto(`${base}/content/${idOf('recursive')}`);
    await page.waitForFunction('document.getElementById("out").textContent === "Hello, recursion!"');
    expect(await page.evaluate('origin')).toBe('null');
  });

  test('our pages load nothing that was inscribed, whatever gets into them', async () => {
    const url = (name: string): string => JSON.stringify(`/content/${idOf(name)}`);
    await page.goto(`${base}/inscription/${idOf('markup')}`);
    await frameOf('markup');
    const taken = await page.evaluate(`(async () => {
      const loads = (tag, attributes) => new Promise((resolve) => {
        const element = Object.assign(document.createElement(tag), attributes);
        element.onload = () => resolve(true);
        element.onerror = () => resolve(false);
        setTimeout(resolve, 5000, false);
        document.body.append(element);
      });
      const settles = (promise) => promise.then(() => true, () => false);
      const isDone = (directive, act) => new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => {
          if (event.effectiveDirective === directive) resolve(false);
        });
        setTimeout(resolve, 5000, true);
        act();
      });
      return {
        ourScript: await loads('script', { src: document.querySelector('script').src + '?again', type: 'module' }),
        ourStyle: await loads('link', { rel: 'stylesheet', href: document.querySelector('link[rel=stylesheet]').href + '?again' }),
        script: await loads('script', { src: ${url('script')} }),
        module: await settles(import(${url('script')})),
        style: await loads('link', { rel: 'stylesheet', href: ${url('style')} }),
        picture: await loads('img', { src: ${url('picture')} }),
        thumbnail: await loads('img', { src: '/thumbnails/${idOf('picture')}.jpeg' }),
        data: await settles(fetch(${url('data')})),
        object: await isDone('object-src', () => loads('object', { data: ${url('recursive')} })),
        frame: await isDone('frame-src', () => loads('iframe', { src: ${url('recursive')} })),
        worker: await isDone('worker-src', () => { try { new Worker(${url('script')}); } catch {} }),
        base: await isDone('base-uri', () => loads('base', { href: '/content/' })),
        inline: await isDone('script-src-attr', () => document.body.setAttribute('onclick', 'document.title = "taken"')),
        title: document.title,
        outline: getComputedStyle(document.body).outlineWidth,
        // last: the browser leaves the page, for nowhere
        form: await isDone('form-action', () => {
          const form = Object.assign(document.createElement('form'), { action: 'http://127.0.0.1:9/', method: 'post' });
          document.body.append(form);
          form.submit();
        }),
      };
    })()`);
    expect(taken).toEqual({
      ourScript: true,
      ourStyle: true,
      script: false,
      module: false,
      style: false,
      picture: false,
      thumbnail: true,
      data: false,
      object: false,
      frame: false,
      worker: false,
      base: false,
      inline: false,
      form: false,
      title: 'Inscription #4 · Satscribe',
      outline: expect.not.stringMatching('7px') as string,
    });
  });

  test('our pages cannot be framed', async () => {
    await page.setContent(`<iframe src="${base}/"></iframe>`);
    await page.waitForTimeout(300);
    const frame = page.frames()[1]!;
    expect(await frame.evaluate('document.querySelector("form.search") === null')).toBe(true);
  });

  test.each([
    ['phone', 390, 844],
    ['small phone', 320, 568],
    ['desk', 1_280, 900],
  ])('nothing is wider than the screen of a %s', async (_name, width, height) => {
    await page.setViewportSize({ width, height });
    for (const path of [
      '/',
      '/?text=many',
      `/inscription/${idOf('recursive')}`,
      '/block/1',
      '/blocks',
      '/nowhere',
    ]) {
      await page.goto(`${base}${path}`);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
    }
  });

  test.each(['light', 'dark'] as const)('texts can be read in the %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(base);
    const contrast = (await page.evaluate(`(() => {
      const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((part) => {
          const value = part / 255;
          return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const paper = luminance(getComputedStyle(document.body).backgroundColor);
      return ['body', '.faint', '.more a, .blocks a'].map((selector) => {
        const ink = luminance(getComputedStyle(document.querySelector(selector)).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      });
    })()`)) as number[];
    for (const ratio of contrast) expect(ratio).toBeGreaterThan(4.5);
  });
});
