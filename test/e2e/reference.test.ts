import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/app-dependencies.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createRoutesApp } from '#test/support/routes-app.ts';

const executable = browserForTests();

describe.skipIf(executable === null)('the reference in a real browser', () => {
  let app: App;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    app = createRoutesApp();
    base = await app.listen({ port: 0 });
    browser = await launchChromium(executable!);
  });

  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  test('opens the path that an error links to, and tries it, with nothing of another host', async () => {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:')) problems.push(request.url());
    });
    await page.goto(`${base}/docs/#/reference/openapiJson`);
    await page.click('.opblock.is-open .try-out__btn');
    await page.click('.opblock.is-open .execute');
    const status = page.locator('.live-responses-table .response .response-col_status').first();
    await status.waitFor();
    expect(await status.innerText()).toContain('200');
    expect(problems).toEqual([]);
  });
});
