import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Pages } from '#test/e2e/orders/opened-pages.ts';
import { axeFindings, layoutFaultsOf } from '#test/e2e/pages/page-checks.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createFilledConsole, type FilledConsole } from '#test/support/http/console-rows.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';

const executable = browserForTests();
const runMs = 120_000;

const lists = [
  '/console',
  '/console/orders',
  '/console/orders?state=stuck',
  '/console/orders?state=owed',
  '/console/payouts',
  '/console/withdrawals',
  '/console/shops',
  '/console/collections?state=pending',
  '/console/collections/hostile',
  '/console/webhooks',
  '/console/coins',
  '/console/audit',
  '/console/sessions',
];

describe.skipIf(executable === null)('the console in a real browser', () => {
  let filled: FilledConsole;
  let browser: Browser;
  let pages: Pages;
  let key: string;

  beforeAll(async () => {
    filled = await createFilledConsole();
    key = await filled.console.newKey('operator');
    const base = await filled.console.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
    pages = new Pages(browser, base);
  }, runMs);
  afterAll(async () => {
    await browser?.close();
    await filled?.close();
  });
  afterEach(async () => {
    await pages.close();
    expect([pages.problems.splice(0), pages.strangers.splice(0)]).toEqual([[], []]);
  });

  async function signedIn(path: string, options = {}): Promise<Page> {
    const page = await pages.open(path, options);
    // by keyboard alone
    await page.focus('#key');
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.locator('nav.rooms').waitFor();
    return page;
  }

  const see = (path: string): string => `${pages.base}${path}`;

  test('asks for the key, and leads to the wanted page', async () => {
    const page = await signedIn('/console/orders?state=error');
    expect(page.url()).toBe(see('/console/orders?state=error'));
    expect(await page.locator('h1').innerText()).toBe('Orders');
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.click(`text=${filled.orders.failed}`);
    expect(await page.locator('h1').innerText()).toBe(`Order ${filled.orders.failed}`);
    await page.click('text=Sign out');
    await page.locator('#key').waitFor();
    await page.goto(see('/console/orders'));
    expect(await page.locator('#key').count()).toBe(1);
  });

  test('shows each page without faults, in light and dark, from 320 to 1280 px', {
    timeout: runMs,
  }, async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await signedIn('/console', { colorScheme });
      for (const path of [...lists, `/console/orders/${filled.orders.failed}`]) {
        const answer = await page.goto(see(path));
        expect([path, answer?.status()]).toEqual([path, 200]);
        expect([path, await axeFindings(page)]).toEqual([path, []]);
        expect([path, await layoutFaultsOf(page)]).toEqual([path, []]);
      }
    }
  });

  test('shows texts of strangers as text', async () => {
    const page = await signedIn('/console/collections/hostile');
    for (const path of [
      '/console/collections',
      '/console/collections/hostile',
      '/console/orders',
      `/console/orders/${filled.orders.failed}`,
    ]) {
      await page.goto(see(path));
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.locator('bdi', { hasText: '<script>' }).count()).toBeGreaterThan(0);
    }
    // a URL of a receiver holds its token
    await page.goto(see('/console/webhooks'));
    expect(await page.content()).not.toContain('token-of-the-shop');
  });

  test('works without scripts', async () => {
    const page = await pages.open('/console/orders', { javaScriptEnabled: false });
    await page.fill('#key', key);
    await page.click('button:text("Sign in")');
    await page.click(`text=${filled.orders.unpaid}`);
    expect(await page.locator('dl').innerText()).toContain('waiting-payment');
  });

  const stateOf = async (id: string): Promise<string | undefined> => {
    const { rows } = await filled.shop.database.pool.query<{ state: string }>(
      'SELECT state FROM service.orders WHERE id = $1',
      [id],
    );
    return rows[0]?.state;
  };
  /** Makes an order that can be refunded. */
  const failed = async (): Promise<string> => {
    const id = await filled.order();
    await filled.shop.database.pool.query(
      `UPDATE service.orders SET state = 'error', error = 'its plan failed' WHERE id = $1`,
      [id],
    );
    return id;
  };
  const checked = async (page: Page): Promise<void> => {
    expect(await axeFindings(page)).toEqual([]);
    expect(await layoutFaultsOf(page)).toEqual([]);
  };
  /** Goes to the control with these words by the tabulator, and presses Enter. */
  async function press(page: Page, words: string): Promise<void> {
    for (let times = 0; times < 60; times += 1) {
      await page.keyboard.press('Tab');
      const text = await page.evaluate('document.activeElement.textContent');
      if (text === words) return page.keyboard.press('Enter');
    }
    throw new Error(`no control says ${words}`);
  }

  test('refunds an order by keyboard alone, with the key typed again', { timeout: runMs }, async () => {
    const id = await failed();
    const to = customerAddress(931).address;
    const page = await signedIn(`/console/orders/${id}`);
    await press(page, 'Refund');
    await page.locator('#to').waitFor();
    await checked(page);
    await page.focus('#to');
    await page.keyboard.type(to);
    await page.keyboard.press('Enter');
    await page.locator('#key').waitFor();
    await checked(page);
    expect(await page.locator('main').innerText()).toContain(`goes to ${to}`);
    await page.focus('#key');
    await page.keyboard.type('satscribe_wrong');
    await page.keyboard.press('Enter');
    await page.locator('text=Nothing was done').waitFor();
    await checked(page);
    expect([await stateOf(id), await page.inputValue('#key')]).toEqual(['error', '']);
    await page.focus('#key');
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.locator('h1:has-text("Done")').waitFor();
    await checked(page);
    expect(await stateOf(id)).toBe('waiting-refund');
    await press(page, 'Continue');
    await page.locator(`h1:has-text("Order ${id}")`).waitFor();
  });

  test('keeps the values of a confirmation while the session ends', async () => {
    const id = await failed();
    const to = customerAddress(932).address;
    const page = await signedIn(`/console/actions/order-refund?id=${id}&to=${to}`, {
      javaScriptEnabled: false,
    });
    await filled.shop.database.pool.query('UPDATE service.console_sessions SET ended_at = now()');
    await page.fill('#key', key);
    await page.click('main button');
    await page.locator('text=Your session has ended').waitFor();
    expect(await stateOf(id)).toBe('error');
    await page.fill('#key', key);
    await page.click('main button');
    await page.locator('text=Your key, again').waitFor();
    expect(await page.locator('main').innerText()).toContain(`goes to ${to}`);
    await page.fill('#key', key);
    await page.click('main button');
    await page.locator('h1:has-text("Done")').waitFor();
    expect(await stateOf(id)).toBe('waiting-refund');
  });

  test('answers an unknown id with a page', async () => {
    const page = await signedIn('/console');
    for (const path of [
      '/console/orders/x',
      `/console/orders/${crypto.randomUUID()}`,
      '/console/collections/x',
    ]) {
      expect((await page.goto(see(path)))?.status()).toBe(404);
      expect(await page.locator('nav.rooms').count()).toBe(1);
    }
  });
});
