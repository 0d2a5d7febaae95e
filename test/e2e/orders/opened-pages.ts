import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** How long to wait for a page, in ms. A node runs at the same time, and the machine may be busy. */
export const seenMs = 60_000;

/** Pages of one browser, and the problems that they report. */
export class Pages {
  readonly problems: string[] = [];
  /** URLs of other servers that a page requested. */
  readonly strangers: string[] = [];
  readonly #browser: Browser;
  readonly base: string;
  readonly #contexts: BrowserContext[] = [];

  constructor(browser: Browser, base: string) {
    this.#browser = browser;
    this.base = base;
  }

  async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.blank(options);
    await page.goto(`${this.base}${path}`);
    return page;
  }

  async blank(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    this.#contexts.push(context);
    context.setDefaultTimeout(seenMs);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(this.base)) this.strangers.push(request.url());
    });
    page.on('console', (message) => {
      const { url } = message.location();
      // the page shows these refusals itself
      const isRefusal = /status of (?:400|401|404|409)/u.test(message.text()) && url.startsWith(this.base);
      if (message.type() === 'error' && !isRefusal) this.problems.push(`${message.text()} ${url}`);
    });
    return page;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }
}

/** Waits until a part of a page shows these words. Otherwise throws the text of the part. */
export const says = (page: Page, selector: string, words: RegExp): Promise<unknown> =>
  page
    .locator(selector)
    .filter({ hasText: words })
    .first()
    .waitFor()
    .catch(async () => {
      throw new Error(`${selector} is not ${String(words)}: ${await page.locator(selector).innerText()}`);
    });
