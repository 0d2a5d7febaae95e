import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';
import { PsbtWorld } from '#test/support/psbts/psbt-world.ts';
import { callWallet, type WalletAccount } from '#test/support/psbts/wallets.ts';
import { says } from './opened-pages.ts';

const executable = browserForTests();
const receiver = 910;
const runMs = 240_000;
/** How long to wait for a page, in ms. A node runs at the same time, and the machine may be busy. */
const seenMs = 60_000;

const payment = customerAddress(920, 'p2wpkh');
const ordinals = customerAddress(921);
const alone = customerAddress(922);

describe.skipIf(executable === null || bitcoindForTests() === null)('pages of orders', () => {
  let world: PsbtWorld;
  let browser: Browser;
  let base: string;
  let parent: string;
  const contexts: BrowserContext[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    world = await PsbtWorld.start();
    for (const customer of [payment, alone]) await world.fund(customer, [30_000, 30_000, 30_000]);
    parent = (await world.inscribed(ordinals, 'a parent', 10_000)).id;
    await world.mine();
    base = await world.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
  }, runMs);
  afterAll(async () => {
    await browser?.close();
    await world?.app.close();
    await world?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(problems.splice(0)).toEqual([]);
  });

  async function opened(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    contexts.push(context);
    context.setDefaultTimeout(seenMs);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      const { url } = message.location();
      // the pages show these refusals themselves
      const isRefusal = /status of (?:400|404|429)/u.test(message.text()) && url.startsWith(base);
      if (message.type() === 'error' && !isRefusal) problems.push(`${message.text()} ${url}`);
    });
    await page.goto(`${base}${path}`);
    return page;
  }

  /** Orders a text on the page, and returns the page of the order. */
  async function ordered(text: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await opened('/inscribe', options);
    await page.fill('#text', text);
    await page.click('#add-text');
    await page.fill('#receiveAddress', addressOf(receiver));
    await page.fill('#fee', '2');
    await page.locator('#order-button:enabled').click();
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
    await says(page, '#state', /Waiting for your payment/u);
    return page;
  }

  const idOf = (page: Page): string => new URL(page.url()).hash.slice(1);

  async function delivered(page: Page): Promise<void> {
    await says(page, '#state', /Payment seen/u);
    await world.world.deliver(idOf(page));
    await page.reload();
    await says(page, '#state', /1 inscription delivered/u);
  }

  test('a customer writes a text, sees its price, pays the address, and sees it arrive after a reload, on a phone', async () => {
    const page = await ordered('gm from a phone', { viewport: { width: 390, height: 844 }, hasTouch: true });
    const answer = await (await fetch(`${base}/order?id=${idOf(page)}`)).json();
    const { charge } = answer as { charge: { address: string; amount: number } };
    expect(await page.textContent('#pay-address')).toBe(charge.address);
    const link = await page.getAttribute('#pay a.button', 'href');
    expect(link).toMatch(new RegExp(`^bitcoin:${charge.address}\\?amount=0\\.0000\\d+$`, 'u'));
    expect(await page.locator('.qr path').getAttribute('d')).toMatch(/^M0 0h1v1h-1z/u);
    await world.world.chain.payAddress(charge.address, charge.amount);
    await delivered(page);
    const inscription = await page.locator('#files a.mono').getAttribute('href');
    expect(inscription).toMatch(/^\/inscription\/[0-9a-f]{64}i0$/u);
    expect(await page.frameLocator('.order-art iframe').locator('pre').innerText()).toBe('gm from a phone');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  test('a customer finds a free name, sees its terms in words and its price, and the rune is etched', async () => {
    const page = await opened('/etch', { viewport: { width: 390, height: 844 } });
    await page.fill('#rune', 'short');
    await says(page, '#name-standing', /^SHORT is locked until block [\d,]+, [\d,]+ blocks from now/u);
    await page.fill('#rune', 'a.page.etches.this');
    await says(page, '#name-standing', /^A•PAGE•ETCHES•THIS is free\.$/u);
    await page.fill('#premine', '1000');
    await page.fill('#amount', '5');
    await says(page, '#cap-problem', /Enter the maximum number of mints/u);
    await page.fill('#cap', '200');
    await says(
      page,
      '#terms-words',
      /The receiver gets 1,000 at once\.\s*Anyone can mint 5 at a time, 200 times in total\./u,
    );
    await page.fill('#receiveAddress', addressOf(receiver));
    await page.fill('#refundAddress', addressOf(receiver + 1));
    await page.fill('#fee', '2');
    await says(page, '#price', /The commit claims the name, and pays \d+ sats to the miner/u);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.locator('#order-button:enabled').click();
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
    await says(page, '#state', /Waiting for your payment/u);
    const { chain } = world.world;
    const { charge } = (await (await fetch(`${base}/order?id=${idOf(page)}`)).json()) as {
      charge: { address: string; amount: number };
    };
    await chain.payAddress(charge.address, charge.amount);
    await says(page, '#state', /Payment seen/u);
    await chain.mineMempool();
    await world.world.sent(idOf(page), ['commit']);
    await chain.mineMempool();
    await chain.mineEmpty(4);
    await world.world.sent(idOf(page), ['reveal']);
    await chain.mineMempool();
    await world.world.until(idOf(page), 'completed');
    await page.reload();
    await says(page, '#state', /A•PAGE•ETCHES•THIS is etched/u);
    expect(await page.locator('#facts a[href^="/rune/"]').innerText()).toBe('A•PAGE•ETCHES•THIS');
    await mintsIt();
  });

  /** Orders mints of the etched rune, from the rune's page on. */
  async function mintsIt(): Promise<void> {
    const page = await opened('/rune/A•PAGE•ETCHES•THIS', { viewport: { width: 390, height: 844 } });
    await page.getByRole('link', { name: 'Mint it' }).click();
    await says(page, '#rune-standing', /^A•PAGE•ETCHES•THIS can be minted: 200 of 200 mints are left\.$/u);
    await page.fill('#numberOfMints', '1001');
    await says(page, '#numberOfMints-problem', /Enter a whole number from 1 to 1,000/u);
    await page.fill('#numberOfMints', '3');
    await page.fill('#receiveAddress', addressOf(receiver));
    await page.fill('#refundAddress', addressOf(receiver + 1));
    await page.fill('#fee', '2');
    await says(page, '#price', /The commit pays \d+ sats to the miner, and each mint \d+/u);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.locator('#order-button:enabled').click();
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
    const { chain } = world.world;
    const { charge } = (await (await fetch(`${base}/order?id=${idOf(page)}`)).json()) as {
      charge: { address: string; amount: number };
    };
    await chain.payAddress(charge.address, charge.amount);
    await says(page, '#state', /Payment seen/u);
    await chain.mineMempool();
    await world.world.sent(idOf(page), ['commit', 'reveal', 'reveal', 'reveal']);
    await chain.mineMempool();
    await world.world.until(idOf(page), 'completed');
    await page.reload();
    await says(page, '#state', /3 of 3 mints of A•PAGE•ETCHES•THIS/u);
    await says(page, '#facts', /3: 3 sent, 3 executed/u);
  }

  test('files are checked at once, each with the next step, and the price is for the remaining ones', async () => {
    const page = await opened('/inscribe');
    const file = (name: string, bytes: number) => ({ name, mimeType: '', buffer: Buffer.alloc(bytes, 65) });
    await page.setInputFiles('#files', [
      file('empty.txt', 0),
      file('no-type', 5),
      file('program.exe', 5),
      file('large.png', 400_000),
      file('good.txt', 5),
      file('better.txt', 6),
    ]);
    const told = await page.locator('#problems li').allInnerTexts();
    expect(told).toEqual([
      expect.stringMatching(/^empty\.txt is empty: it has 0 bytes\./u),
      expect.stringMatching(/^no-type has no extension/u),
      expect.stringMatching(/^program\.exe: files of \.exe cannot be inscribed here\./u),
      expect.stringMatching(/^large\.png has 400 kB, and one file may have at most 398 kB/u),
    ]);
    expect(await page.locator('#items li').count()).toBe(2);
    await says(page, '#price', /1 of 2 will be vindicated: one reveal each costs [\d,]+ sats more\./u);
    await page.fill('#receiveAddress', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq');
    await says(page, '#receiveAddress-problem', /an address of mainnet, but this service is on regtest/u);
    expect(await page.isDisabled('#order-button')).toBe(true);
    await page.fill('#receiveAddress', 'bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq');
    await says(page, '#refusals', /^“Address that receives the inscriptions” is not a Bitcoin address/u);
    await page.fill('#fee', 'fast');
    await says(page, '#refusals', /Correct the marked fields/u);
    expect(await page.innerText('#price')).toBe('');
  });

  test('a text that was written but not added is not silently left out of an order', async () => {
    const page = await opened('/inscribe');
    await page.setInputFiles('#files', {
      name: 'beside.txt',
      mimeType: '',
      buffer: Buffer.from('beside a text'),
    });
    await page.fill('#receiveAddress', addressOf(receiver));
    await page.fill('#text', 'easily forgotten');
    await page.locator('#order-button:enabled').click();
    await says(page, '#refusals', /not in the order yet\. Press “Add this text”/u);
    expect(await page.locator('#text:focus').count()).toBe(1);
    await page.click('#add-text');
    await page.locator('#order-button:enabled', { hasText: 'Order 2 inscriptions' }).click();
    await page.waitForURL(/\/order#[0-9a-f-]{36}$/u);
  });

  test('an order is cancelled, kept in the list of the browser, and forgotten', async () => {
    const page = await ordered('to be cancelled');
    await page.click('button:text("Cancel the order")');
    await page.click('button:text("Really cancel it")');
    await says(page, '#state', /Cancelled/u);
    const id = idOf(page);
    await page.goto(`${base}/order`);
    expect(await page.locator(`#own-orders a[href="/order#${id}"]`).count()).toBe(1);
    await page.click('button:text("Forget")');
    expect(await page.locator('#own-orders a').count()).toBe(0);
  });

  test('an expired, an unknown, a broken and a misplaced id: each says what to do', {
    tags: ['proof'],
  }, async () => {
    const page = await ordered('too late');
    await world.world.database.pool.query(
      "UPDATE service.orders SET expires_at = now() - interval '1 second' WHERE id = $1",
      [idOf(page)],
    );
    await world.world.wake(idOf(page));
    await says(page, '#state', /Expired.*Do not pay this order/su);
    expect(await page.locator('#pay').isVisible()).toBe(false);

    const unknown = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
    await page.goto(`${base}/order#${unknown}`);
    await says(page, '#notices', /This service has no order with this id\./u);
    // the page requests the order again, and the words stay
    const again = page.waitForResponse(/\/order\?id=/u);
    await page.evaluate("dispatchEvent(new Event('online'))");
    await again;
    await page.evaluate('new Promise((done) => setTimeout(done, 200))');
    expect(await page.isVisible('#notices')).toBe(true);
    await page.goto(`${base}/order#something`);
    await says(page, '#order-id-problem', /has no order id/u);

    await page.goto(`${base}/order/${unknown}`);
    expect(await page.content()).not.toContain(unknown);
    await page.fill('#order-id', unknown);
    await page.click('#open-order button');
    await page.waitForURL(`${base}/order#${unknown}`);
    await says(page, '#notices', /This service has no order with this id\./u);
  });

  test('a stopped order says why: its reason is not a refusal of the service', {
    tags: ['proof'],
  }, async () => {
    const page = await ordered('stopped');
    await world.world.database.pool.query(
      "UPDATE service.orders SET state = 'error', error = 'its sats are gone' WHERE id = $1",
      [idOf(page)],
    );
    await says(page, '#state', /Stopped.*Reason: its sats are gone/su);
  });

  test('without scripts each page says that it needs them', async () => {
    for (const path of ['/inscribe', '/order', '/order/6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11']) {
      const page = await opened(path, { javaScriptEnabled: false });
      expect(await page.locator('noscript .notice').first().innerText()).toMatch(/needs scripts/u);
    }
  });

  /** Adds the model of a wallet to the pages of a context. */
  async function inject(
    page: Page,
    script: string,
    account: WalletAccount,
    wallet: 'Xverse' | 'UniSat',
    state = /Waiting for your payment/u,
  ): Promise<void> {
    const call = wallet === 'Xverse' ? "request('signPsbt', params)" : 'signPsbt(psbtHex, options)';
    await page.exposeFunction('signByModel', (given: unknown[]) =>
      callWallet({ wallet, call }, account, given),
    );
    await page.addInitScript(script);
    await page.reload();
    await says(page, '#state', state);
  }

  const xverse = `window.XverseProviders = { BitcoinProvider: { request: async (method, params) =>
    method === 'wallet_connect'
      ? { result: { addresses: [
          { purpose: 'payment', address: '${payment.address}', publicKey: '${payment.publicKey}' },
          { purpose: 'ordinals', address: '${ordinals.address}', publicKey: '${ordinals.publicKey}' },
        ] } }
      : { result: await window.signByModel([params]) } } };`;
  const unisat = (sign: string): string => `window.unisat = {
    requestAccounts: async () => ['${alone.address}'],
    getPublicKey: async () => '${alone.publicKey}',
    signPsbt: async (...given) => { ${sign} } };`;

  test('a wallet with two addresses in the browser pays the order', async () => {
    const page = await ordered('paid by Xverse');
    await inject(page, xverse, { payment, ordinals }, 'Xverse');
    await page.click('text=Pay with Xverse');
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await delivered(page);
  });

  test('a managed order with a parent: the wallet sends the parent and the rest of a payment in one transaction', async () => {
    const page = await opened('/inscribe');
    await page.fill('#text', 'a child');
    await page.click('#add-text');
    await page.fill('#receiveAddress', addressOf(receiver));
    await page.click('#more > summary');
    await page.fill('#parentId', parent);
    await page.locator('#parentId').blur();
    await expect.poll(() => page.inputValue('#parentValue'), { timeout: seenMs }).toBe('10000');
    expect(await page.inputValue('#parentReturn')).toBe(ordinals.address);
    await page.check('input[value=bulk]');
    await page.fill('#fee', '2');
    await page.locator('#order-button:enabled').click();
    await page.waitForURL(/\/order#/u);
    await says(page, '#state', /Waiting for the parent.*Also pay [\d,]+ sats to the address below\./su);
    const [address, asked] = [await page.textContent('#pay-address'), await page.innerText('#pay b.amount')];
    await world.world.chain.payAddress(address!, 1000);
    await expect.poll(() => page.innerText('#pay b.amount'), { timeout: seenMs }).not.toBe(asked);
    await inject(page, xverse, { payment, ordinals }, 'Xverse', /Waiting for the parent/u);
    await page.click('text=Pay with Xverse');
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await delivered(page);
    await says(page, '#parents', /Returned in/u);
  });

  test('a wallet that is closed, signs something else, or is on another network loses nothing, and can pay afterwards', {
    tags: ['proof'],
  }, async () => {
    const page = await ordered('paid by UniSat');
    const other = await world.post('/create-special-sats-psbt', {
      fundingAddress: await page.textContent('#pay-address'),
      chargeAmount: 29_000,
      feeRate: 3,
      paymentAddress: alone.address,
      paymentPublicKey: alone.publicKey,
      ordinalPublicKey: alone.publicKey,
    });
    const answers = [
      "throw { code: 4001, message: 'User rejected the request.' };",
      `return window.signByModel(['${other.body.psbtHex}', given[1]]);`,
      'return window.signByModel(given);',
    ];
    const script = unisat(
      `window.tries = (window.tries ?? 0) + 1; ${answers.map((code, index) => `if (window.tries === ${index + 1}) { ${code} }`).join(' ')}`,
    );
    await inject(page, script, { payment: alone, ordinals: alone }, 'UniSat');
    await page.click('text=Pay with UniSat');
    await says(page, '#said', /UniSat was closed, or you refused\. Nothing was signed or paid/u);
    await page.click('text=Pay with UniSat');
    await says(page, '#said', /UniSat signed a different transaction\. It was not sent/u);
    await page.evaluate(
      `window.unisat.requestAccounts = async () => ['tb1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsngxyv']`,
    );
    await page.click('text=Pay with UniSat');
    await says(
      page,
      '#said',
      /This is an address of testnet\d, but this service is on regtest\. Switch UniSat/u,
    );
    await page.evaluate(`window.unisat.requestAccounts = async () => ['${alone.address}']`);
    await page.click('text=Pay with UniSat');
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await says(page, '#state', /Payment seen/u);
  });

  test('two presses pay once, and a payment that was made before another one arrived is not sent', async () => {
    const page = await ordered('paid once');
    const script = unisat(
      'const signed = await window.signByModel(given); if (window.first === undefined) { window.first = true; await new Promise((done) => { window.release = done; }); } return signed;',
    );
    await inject(page, script, { payment: alone, ordinals: alone }, 'UniSat');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/submittx')) sent.push(request.url());
    });
    await page.click('text=Pay with UniSat');
    await expect.poll(() => page.evaluate('window.release !== undefined'), { timeout: seenMs }).toBe(true);
    const address = await page.textContent('#pay-address');
    await world.world.chain.payAddress(address!, 1000);
    await says(page, '#state', /are missing/u);
    await page.evaluate('window.release()');
    await says(page, '#said', /Nothing was sent, because the order now needs a different payment/u);
    await page.evaluate('window.first = undefined');
    await page.click('text=Pay with UniSat');
    await expect.poll(() => page.evaluate('window.first === true'), { timeout: seenMs }).toBe(true);
    await page.click('text=Pay with UniSat');
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await page.evaluate('window.release()');
    await says(page, '#state', /Payment seen/u);
    expect(sent).toHaveLength(1);
  });

  test('any other wallet signs the PSBT as a text, or as a file', async () => {
    const page = await ordered('paid by hand');
    await page.click('text=Another wallet');
    await page.fill('#payment-address', payment.address);
    await page.fill('#payment-key', payment.publicKey);
    await page.click('text=Create the PSBT');
    const psbt = await page.inputValue('#unsigned-psbt');
    await page.fill('#signed-psbt', 'not a psbt');
    await page.click('text=Send it');
    await says(page, '#said', /This is not a PSBT/u);
    await page.fill('#signed-psbt', psbt);
    await page.click('text=Send it');
    await says(page, '#said', /is not signed by .* Nothing was sent\./u);
    const given = [{ hex: Buffer.from(psbt, 'base64').toString('hex'), broadcast: false }];
    const signed = await callWallet(
      { wallet: 'Leather', call: "request('signPsbt', params)" },
      { payment, ordinals },
      given,
    );
    const { hex } = signed as { hex: string };
    await page.setInputFiles('#signed-file', {
      name: 'order.psbt',
      mimeType: '',
      buffer: Buffer.from(hex, 'hex'),
    });
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await says(page, '#state', /Payment seen/u);
  });
});
