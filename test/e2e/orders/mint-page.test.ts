import { join } from 'node:path';
import type pg from 'pg';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { PersonCheck } from '#orders/collections/turnstile.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { Pages, says, seenMs } from '#test/e2e/orders/opened-pages.ts';
import { axeFindings, layoutFaultsOf, smallTargets } from '#test/e2e/pages/page-checks.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { type CollectionSpec, insertCollection } from '#test/support/collections/collection-rows.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

const executable = browserForTests();
const runMs = 240_000;
const buyer = 950;
const hourMs = 3_600_000;
const hours = (count: number): Date => new Date(Date.now() + count * hourMs);

/** Makes a collection in the state after its approval, with its files on the disk. The first files are pictures. */
async function approve(pool: pg.Pool, folder: string, spec: CollectionSpec, pictures = 1): Promise<void> {
  await insertCollection(pool, spec);
  const files = new CustomerFiles(folder);
  for (let place = 0; place < spec.items; place++) {
    if (place >= pictures) {
      await files.put(Buffer.from(String(place)));
      continue;
    }
    const background = { r: (place * 67) % 256, g: 90 + ((place * 41) % 120), b: 140 };
    const picture = await sharp({ create: { width: 24, height: 24, channels: 3, background } })
      .png()
      .toBuffer();
    await pool.query(
      `UPDATE service.mint_files SET name = $3, sha256 = $4, bytes = $5, media_type = 'image/png'
        WHERE collection = $1 AND place = $2`,
      [spec.id, place, `${place}.png`, await files.put(picture), picture.length],
    );
  }
}

describe.skipIf(executable === null || bitcoindForTests() === null)('minting in a real browser', () => {
  let world: OrderWorld;
  let app: App;
  let browser: Browser;
  let pages: Pages;

  beforeAll(async () => {
    world = await OrderWorld.start();
    app = buildCheckedApp({
      ...readerParts(world.database.readers),
      node: world.bitcoind.rpc,
      orders: world.customerOrders,
    });
    const base = await app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
    pages = new Pages(browser, base);
  }, runMs);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await world?.close();
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.problems.splice(0)).toEqual([]);
  });

  test('a listed buyer looks up an allowance, sees the exact price, orders, pays, and gets the item', async () => {
    const address = addressOf(buyer);
    await approve(world.database.pool, join(world.dir, 'files'), {
      id: 'moths',
      items: 4,
      price: 5_000,
      creatorAddress: addressOf(60_003),
      phases: [{ phase: 'friends', price: 2_000, allowances: { ada: 1 } }, { phase: 'everybody' }],
    });
    await world.database.pool.query(
      `UPDATE service.mint_allowances SET script = $1, items = 2 WHERE collection = 'moths'`,
      [scriptOf(buyer)],
    );
    const page = await pages.open('/mint/moths', { viewport: { width: 390, height: 844 }, hasTouch: true });
    await says(page, '[data-live=supply]', /Minting now/u);
    await page.fill('#listedAddress', addressOf(buyer + 1));
    await page.click('#listed button');
    await says(page, '#listed-answer', /friends: this address is not on the list\./u);
    // a person who is on no list pays the public price
    await says(page, '#price', /Creator.*5,000 sats/su);
    await page.fill('#listedAddress', address);
    await page.click('#listed button');
    await says(page, '#listed-answer', /friends: on the list, for 2 items\./u);
    expect(await page.inputValue('#receiveAddress')).toBe(address);
    await page.fill('#fee', '2');
    await page.click('#mint summary >> nth=0');
    await page.fill('#requestedIds', '3');
    await says(page, '#price', /Creator.*2,000 sats/su);
    const price = /^[\d,]+ sats/u.exec(await page.innerText('#price .amount'))?.[0];
    await page.locator('#order-button:enabled', { hasText: 'Order 1 item' }).click();
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
    await says(page, '#state', /Waiting for your payment/u);
    expect(await page.innerText('#pay b.amount')).toBe(price);

    const other = await pages.open('/mint/moths');
    await says(other, '[data-live=supply]', /3 ?left 1 ?reserved 0 ?sold|left\s*3\s*reserved\s*1/u);
    const id = new URL(page.url()).hash.slice(1);
    const { order } = (await world.customerOrders.read(id))!;
    await world.chain.pay(order.script, Number(price?.replace(/\D/gu, '')));
    await world.deliver(id);
    await page.reload();
    await says(page, '#state', /1 inscription delivered/u);
    // the order has the chosen item
    expect(await page.frameLocator('.order-art iframe').locator('pre').innerText()).toBe('2');
    // the remaining number is updated without a reload
    await other.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await expect
      .poll(() => other.getAttribute('.supply-bar', 'aria-label'), { timeout: seenMs })
      .toBe('1 sold, 0 reserved, 3 left of 4');
  });

  test('an item that another order has is refused in words, and nothing is ordered twice', async () => {
    await approve(world.database.pool, join(world.dir, 'files'), { id: 'pair', items: 4 });
    const page = await pages.open('/mint/pair');
    await page.fill('#receiveAddress', addressOf(buyer));
    await page.fill('#fee', '2');
    await page.click('#mint summary >> nth=0');
    await page.fill('#requestedIds', '1');
    await page.locator('#order-button:enabled').waitFor();
    const taken = await app.inject({
      method: 'POST',
      url: '/collectionorder',
      payload: {
        collection: { id: 'pair', requestedIds: [1] },
        receiveAddress: addressOf(7),
        token: 'a',
        fee: 2,
      },
    });
    expect(taken.statusCode).toBe(200);
    await page.click('#order-button');
    await says(page, '#refusals', /Another order has one of these items/u);
    await page.fill('#requestedIds', '2');
    // the answer is lost once; the same request, sent again, gets the first order
    let asked = 0;
    await page.route('**/collectionorder', async (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.locator('#order-button:enabled').click();
    await says(page, '#refusals', /Press Order again: it will not be ordered twice\./u);
    pages.problems.splice(0);
    await page.click('#order-button');
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
    const { rows } = await world.database.pool.query(
      `SELECT count(*)::integer AS orders FROM service.mint_orders WHERE collection = 'pair'`,
    );
    expect(rows).toEqual([{ orders: 2 }]);
  });

  test('the page of the collection on the market leads to its sale while that is open', async () => {
    await approve(world.database.pool, join(world.dir, 'files'), { id: 'listed', items: 2 });
    const leads = async (): Promise<[number, boolean]> => {
      const answer = await app.inject({ url: '/collection/listed', headers: { accept: 'text/html' } });
      return [answer.statusCode, answer.body.includes('href="/mint/listed"')];
    };
    // the index of sales is built after the first block
    await world.eventually(async () => (await leads())[0] === 200);
    expect(await leads()).toEqual([200, true]);
    for (const change of [
      "UPDATE service.mint_phases SET ends_at = now() WHERE collection = 'listed'",
      "UPDATE service.mint_phases SET ends_at = NULL, starts_at = now() + interval '1 hour' WHERE collection = 'listed'",
    ]) {
      await world.database.pool.query(change);
      expect(await leads()).toEqual([200, false]);
    }
    await world.database.pool.query(
      "UPDATE service.mint_phases SET starts_at = NULL WHERE collection = 'listed'",
    );
    expect(await leads()).toEqual([200, true]);
    await world.database.pool.query(
      "UPDATE service.mint_collections SET state = 'closed' WHERE id = 'listed'",
    );
    expect(await leads()).toEqual([200, false]);
  });
});

/** A check that accepts one token. */
const persons: PersonCheck = {
  siteKey: '0xKEY',
  problemOf: async (token) => (token === 'solved 2' ? null : 'The token was used before: solve it again.'),
};

/** The script of Turnstile in the form that a page uses. It solves each challenge at once. */
const turnstileScript = `
  let solved = 0;
  window.turnstile = {
    render(place, { sitekey, callback }) {
      place.textContent = 'challenge of ' + sitekey;
      this.solve = () => callback('solved ' + ++solved);
      this.solve();
      return 'widget';
    },
    reset() { this.solve(); },
  };`;

describe.skipIf(executable === null)('states of a page to mint', () => {
  let http: OrdersApp;
  let browser: Browser;
  let base: string;
  let pages: Pages;

  beforeAll(async () => {
    http = await createOrdersApp(null, null, {}, persons);
    base = await http.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
    pages = new Pages(browser, base);
    const made = (spec: CollectionSpec, pictures?: number) =>
      approve(http.database.pool, http.filesDir, spec, pictures);
    await made(
      {
        id: 'open',
        items: 12,
        price: 12_000,
        creatorAddress: 'creator',
        phases: [
          { phase: 'early', price: 9_000, endsAt: hours(-1), items: 3 },
          { phase: 'friends', price: 10_000, endsAt: hours(30), items: 4, allowances: { ada: 2 } },
          { phase: 'everybody' },
          { phase: 'late', price: 20_000, startsAt: hours(50) },
        ],
      },
      9,
    );
    for (const id of ['later', 'opening'])
      await made({ id, items: 2, phases: [{ phase: 'public', startsAt: hours(2) }] });
    await made({
      id: 'between',
      items: 2,
      phases: [
        { phase: 'first', endsAt: hours(-1) },
        { phase: 'second', startsAt: hours(1) },
      ],
    });
    await made({ id: 'over', items: 2, phases: [{ phase: 'public', endsAt: hours(-1) }] });
    for (const id of ['sold', 'reserved', 'closed', 'runes', 'hostile', 'pending', 'refused'])
      await made({ id, items: 2 });
    const set = (id: string, assignment: string): Promise<unknown> =>
      http.database.pool.query(`UPDATE service.mint_collections SET ${assignment} WHERE id = '${id}'`);
    await set('open', 'taken = 4, unpaid = 1');
    await set('sold', 'taken = 2');
    await set('reserved', 'taken = 2, unpaid = 2');
    await set('closed', "state = 'closed'");
    await set('pending', "state = 'pending', decided_at = NULL");
    await set('refused', "state = 'refused'");
    await set('runes', `alt_prices = '{"rune": {"amount": 1, "token": "A•B"}}'`);
    await http.database.pool.query(
      `UPDATE service.mint_collections SET name = $1, shown = $2 WHERE id = 'hostile'`,
      [
        '</title><script>alert(1)</script>\u202e',
        JSON.stringify({
          description: `<img src=https://evil.test/d onerror=alert(1)> ${'W'.repeat(400)}`,
          creator: `" onmouseover="alert(1)${'M'.repeat(150)}`,
          website: 'https://evil.test/"><script>',
          cover: 'https://evil.test/cover.png',
          banner: 'https://evil.test/banner.png',
          twitter: 'javascript:alert(1)',
          discord: 'x"><b>',
        }),
      ],
    );
    await http.database.pool.query(
      `INSERT INTO service.mint_collections (id, state, name, total_count, price, shown, decided_at)
       VALUES ('edition', 'approved', 'Edition', 100, 0, '{"description": "One file", "creator": "Ada"}', now())`,
    );
    await http.database.pool.query(
      `INSERT INTO service.mint_files (collection, place, name, sha256, bytes, media_type)
       VALUES ('edition', 0, 'cube.html', $1, 9, 'text/html')`,
      [await new CustomerFiles(http.filesDir).put(Buffer.from('<p>cube'))],
    );
    await http.database.pool.query(
      `INSERT INTO service.mint_phases (collection, phase, place, is_public) VALUES ('edition', '1', 0, true)`,
    );
  }, runMs);
  afterAll(async () => {
    await browser?.close();
    http?.app.server.closeAllConnections();
    await http?.close();
  });
  afterEach(async () => {
    await pages.close();
    pages.strangers.splice(0);
    expect(pages.problems.splice(0)).toEqual([]);
  });

  const withTurnstile = async (page: Page): Promise<void> => {
    await page.route('https://challenges.cloudflare.com/**', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: turnstileScript }),
    );
  };
  const opened = async (id: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await pages.blank(options);
    await withTurnstile(page);
    await page.goto(`${base}/mint/${id}`);
    return page;
  };

  test('each state of a sale is shown, and only an open one takes orders', {
    tags: ['proof'],
  }, async () => {
    const states: [string, RegExp][] = [
      ['later', /Not open yet\s*The first phase opens \d{4}-\d\d-\d\d \d\d:\d\d UTC \(in 1 h \d+ min\)/u],
      ['between', /Between phases\s*The next phase opens .* UTC \(in \d+ min \d+ s\)/u],
      ['reserved', /All reserved/u],
      ['over', /The sale is over/u],
      ['sold', /Sold out/u],
      ['closed', /The sale is closed/u],
      ['runes', /Not sold yet\s*This collection has a price in runes/u],
    ];
    for (const [id, words] of states) {
      const page = await opened(id);
      await says(page, '[data-live=supply]', words);
      expect([id, await page.isVisible('#mint')]).toEqual([id, false]);
    }
    const closed = await opened('closed');
    await says(closed, '[data-live=phases]', /ended/u);
    expect(await closed.locator('[data-live=phases]').innerText()).not.toMatch(/\bopen\b|exact sum/u);
    for (const id of ['pending', 'refused', 'nothing', 'A..']) {
      const answer = await fetch(`${base}/mint/${id}`, { headers: { accept: 'text/html' } });
      expect([id, answer.status]).toEqual([id, 404]);
    }
  });

  test('no state is wider than a phone, breaks a word, has a small target or a finding of axe', {
    tags: ['proof'],
  }, async () => {
    const faults: string[] = [];
    for (const id of [
      'open',
      'later',
      'between',
      'reserved',
      'over',
      'sold',
      'closed',
      'runes',
      'edition',
      'hostile',
    ]) {
      const page = await opened(id);
      if (id === 'open') await page.locator('#price .amount').waitFor();
      const layout = await layoutFaultsOf(page);
      const light = await axeFindings(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await axeFindings(page);
      await page.close();
      const phone = await opened(id, {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      });
      const small = (await phone.evaluate(smallTargets)) as string[];
      faults.push(...[...layout, ...light, ...dark, ...small].map((fault) => `${id}: ${fault}`));
      await phone.close();
    }
    expect(faults).toEqual([]);
  });

  test('hostile texts are shown as text, and no picture of a stranger is loaded', async () => {
    const page = await opened('hostile');
    expect(await page.innerText('h1')).toContain('</title><script>alert(1)</script>');
    expect(await page.locator('main a[href^="javascript"], main a[href*="evil"], main script').count()).toBe(
      0,
    );
    await page.waitForLoadState('networkidle');
    expect(pages.strangers.filter((url) => !url.startsWith('https://challenges.cloudflare.com/'))).toEqual(
      [],
    );
  });

  test('pictures are drawn here, an edition has one, and other files do not run', async () => {
    const page = await opened('open');
    const width = (): Promise<unknown> =>
      page.evaluate(`document.querySelector('.mint-tiles img').naturalWidth`);
    await expect.poll(width, { timeout: seenMs }).toBeGreaterThan(0);
    const edition = await opened('edition');
    expect(await edition.locator('.mint-tiles li').count()).toBe(1);
    expect(await edition.innerText('.mint-show')).toMatch(/HTML.*Each of the 100 items is this file\./su);
    expect(await edition.locator('iframe').count()).toBe(0);
  });

  test('the challenge is solved again for each token, and the service gets the new one', async () => {
    const page = await opened('open');
    await says(page, '#challenge', /challenge of 0xKEY/u);
    await page.fill('#receiveAddress', addressOf(buyer));
    await page.locator('#order-button:enabled').click();
    await says(page, '#refusals', /The token was used before/u);
    await page.click('#order-button');
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
  });

  test('a challenge that cannot be loaded says what to do', async () => {
    const page = await pages.blank();
    await page.route('https://challenges.cloudflare.com/**', (route) => route.abort());
    await page.goto(`${base}/mint/open`);
    await page.fill('#receiveAddress', addressOf(buyer));
    await page.locator('#order-button:enabled').click();
    await says(page, '#refusals', /allow challenges\.cloudflare\.com/u);
    pages.problems.splice(0);
  });

  test('a phase that opens shows the form without a reload, and fields show their faults', async () => {
    const page = await opened('opening');
    await says(page, '#not-open', /as soon as a phase is open/u);
    await http.database.pool.query(
      `UPDATE service.mint_phases SET starts_at = now() - interval '1 second' WHERE collection = 'opening'`,
    );
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.locator('#mint').waitFor();
    await page.fill('#count', '0');
    await says(page, '#count-problem', /from 1 to 1000/u);
    await page.fill('#count', '1');
    await page.fill('#receiveAddress', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq');
    await says(page, '#receiveAddress-problem', /an address of mainnet, but this service is on regtest/u);
    await page.fill('#receiveAddress', '');
    await page.locator('#order-button:enabled').click();
    await says(page, '#refusals', /Enter the address/u);
  });

  test('without scripts everything except ordering works', async () => {
    const page = await opened('open', { javaScriptEnabled: false });
    const main = await page.innerText('main');
    for (const words of [/Minting now/u, /everybody/u, /12,000 sats/u, /Ordering needs scripts/u])
      expect(main).toMatch(words);
    expect(await page.isVisible('#mint')).toBe(false);
  });
});
