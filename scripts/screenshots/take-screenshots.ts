/** Takes the pictures of README.md from a separate demo: npm run screenshots. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const folder = new URL('../../docs/pictures/', import.meta.url);

/** Size of each page in pixels: the first page, and an item of a collection. */
const side = { width: 1100, height: 1140 };
/** Size of each page in the picture, in pixels. At this size texts are readable, and the file is small. */
const shown = { width: 800, height: 829 };
const gap = 16;

/** Resolves once all images of a page are drawn. The page's fonts are loaded by then. */
async function imagesDrawn(page: Page): Promise<void> {
  const images = page.locator('img');
  await waitUntil(() =>
    images.evaluateAll((all: { readonly complete: boolean }[]) => all.every(({ complete }) => complete)),
  );
}

async function screenshots(browser: Browser, address: string, scheme: 'light' | 'dark'): Promise<Buffer[]> {
  const context = await browser.newContext({ viewport: side, colorScheme: scheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const pictures: Buffer[] = [];
  try {
    await page.goto(address);
    await imagesDrawn(page);
    pictures.push(await page.screenshot());
    await page.goto(new URL('/collection/moths', address).href);
    await page.locator('main a[href*="/inscription/"]').first().click();
    await page.waitForURL(/\/inscription\//u);
    await imagesDrawn(page);
    pictures.push(await page.screenshot());
  } finally {
    await context.close();
  }
  return pictures;
}

/** Writes both pages side by side. The gap is transparent, so it has the colour of the page on which it is shown. */
async function writePicture(pages: readonly Buffer[], scheme: string): Promise<void> {
  const sides = await Promise.all(
    pages.map(async (page, place) => ({
      input: await sharp(page).resize(shown).png().toBuffer(),
      left: place * (shown.width + gap),
      top: 0,
    })),
  );
  const width = pages.length * (shown.width + gap) - gap;
  const { size } = await sharp({
    create: { width, height: shown.height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .composite(sides)
    .webp({ quality: 80 })
    .toFile(new URL(`pages-${scheme}.webp`, folder).pathname);
  console.log(`docs/pictures/pages-${scheme}.webp: ${size} bytes`);
}

const executable = browserForTests();
if (executable === null) process.exit(1);
const data = await mkdtemp(join(tmpdir(), 'satscribe-screenshots-'));
const demo = startCli(['demo', '--port', '0', '--data', data]);
const browser = await launchChromium(executable);
try {
  const [, address = ''] = await demo.seen(/^ready (\S+)/mu);
  for (const scheme of ['light', 'dark'] as const)
    await writePicture(await screenshots(browser, address, scheme), scheme);
} finally {
  await browser.close();
  demo.child.kill('SIGINT');
  await demo.ended;
  await rm(data, { recursive: true, force: true });
}
