import type { Browser } from 'playwright-core';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import type { Figure } from '../report.ts';
import { median } from '../statistics.ts';

const loads = 7;
const lcpMostMs = 1000;
const bytesMost = 200_000;
const requestsMost = 60;

/** JavaScript that runs in the page and returns the time of the largest paint so far. */
const largestPaint = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true });
})`;

interface View {
  readonly lcpMs: number;
  /** Sum of the sizes of all responses except inscribed contents. */
  readonly bytes: number;
  readonly requests: number;
}

/** A visit by a browser with an empty cache. */
async function visit(browser: Browser, url: string): Promise<View> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  let requests = 0;
  page.on('requestfinished', (request) => {
    requests++;
    // fonts of rarer scripts are loaded only with texts that need them
    if (/\/(?:preview|thumbnails|content|fonts\/(?!serif-latin))/u.test(request.url())) return;
    sizes.push(
      request.sizes().then(
        ({ responseBodySize }) => responseBodySize,
        () => 0,
      ),
    );
  });
  await page.goto(url, { waitUntil: 'load' });
  const lcpMs = (await page.evaluate(largestPaint)) as number;
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await context.close();
  return { lcpMs, bytes, requests };
}

/**
 * Measures how long a visitor waits for the first page, and the requests of a list. Returns an empty list without a
 * browser.
 */
export async function firstViews(origin: string): Promise<Figure[]> {
  const executable = browserForTests();
  if (executable === null) return [];
  const browser = await launchChromium(executable);
  try {
    const home: View[] = [];
    for (let load = 0; load < loads; load++) home.push(await visit(browser, `${origin}/`));
    const list = await visit(browser, `${origin}/inscriptions`);
    return [
      {
        name: 'homeLcpMs',
        value: median(home.map(({ lcpMs }) => lcpMs)),
        unit: 'ms',
        target: { most: lcpMostMs },
      },
      {
        name: 'homeBytes',
        value: median(home.map(({ bytes }) => bytes)),
        unit: 'bytes',
        target: { most: bytesMost },
      },
      { name: 'listRequests', value: list.requests, unit: '', target: { most: requestsMost } },
    ];
  } finally {
    await browser.close();
  }
}
