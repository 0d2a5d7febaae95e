import { Transaction } from '@scure/btc-signer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Pages, says } from '#test/e2e/orders/opened-pages.ts';
import { axeFindings, layoutFaultsOf, smallTargets } from '#test/e2e/pages/page-checks.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';
import { callWallet } from '#test/support/psbts/wallets.ts';
import { type EtchedRune, type ShopOrder, ShopWorld } from '#test/support/tokenpay/shop-world.ts';

const executable = browserForTests();
const runMs = 240_000;
const confirmations = 2;
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

const payment = customerAddress(940, 'p2wpkh');
const ordinals = customerAddress(941);

describe.skipIf(executable === null || bitcoindForTests() === null)('the checkout in a real browser', () => {
  let shop: ShopWorld;
  let rune: EtchedRune;
  let browser: Browser;
  let pages: Pages;

  beforeAll(async () => {
    shop = await ShopWorld.start(false, confirmations);
    rune = await shop.etch(1_000n, 1);
    const units = [[rune, 30n]] as const;
    await shop.send([
      ...[0, 1].map(() => ({ value: 700, to: ordinals.owner, units })),
      ...[0, 1].map(() => ({ value: 60_000, to: payment.owner, type: payment.type })),
    ]);
    await shop.world.chain.mineMempool();
    await shop.world.indexed();
    const base = await shop.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchChromium(executable ?? '');
    pages = new Pages(browser, base);
  }, runMs);
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });
  afterEach(async () => {
    await pages.close();
    expect([pages.problems.splice(0), pages.strangers.splice(0)]).toEqual([[], []]);
  });

  async function ordered(): Promise<ShopOrder> {
    const { body } = await shop.post({
      token: rune.name,
      amount: 2.5,
      description: 'a private note',
      webhookUrl: 'https://hooks.example/private',
      successUrl: 'https://shop.example/thanks',
      email: 'private@customer.example',
    });
    return body;
  }

  const opened = (order: ShopOrder, options = {}): Promise<Page> =>
    pages.open(`/tokenpay/checkout/${order.id}`, options);

  /** Makes the page refresh at once, like when it is shown again. */
  const look = (page: Page): Promise<unknown> =>
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

  test('shows a payment from its first sight to the end without a reload', async () => {
    const order = await ordered();
    const page = await opened(order, phone);
    const dark = await opened(order, { ...phone, colorScheme: 'dark' });
    for (const each of [page, dark]) {
      await each.locator('[data-part=token] .qr path').waitFor();
      await each.locator('[data-part=fee] .qr path').waitFor();
      await says(each, '[data-part=time]', /\(in \d+ min/u);
      await each.click('text=Another wallet');
      expect(await axeFindings(each)).toEqual([]);
    }
    expect(await page.evaluate(smallTargets)).toEqual([]);
    expect(await layoutFaultsOf(page)).toEqual([]);
    await dark.close();
    for (const hidden of [shop.account, 'private', 'hooks.example', 'shop.example'])
      expect(await page.content()).not.toContain(hidden);
    await page.evaluate('window.isSamePage = true');
    const [token, fee] = [order.tokenCharge.address, order.feeCharge.address];
    await shop.send([
      { value: 546, outputScript: await shop.scriptOf(token), units: [[rune, 25n]] },
      { value: order.feeCharge.amount, outputScript: await shop.scriptOf(fee) },
    ]);
    await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'payment_seen');
    await look(page);
    await says(page, '[data-part=state]', /Payment seen/u);
    await says(page, '[data-part=token]', /in no block yet: 0 of 2 confirmations/u);
    expect(await page.locator('.qr, #wallet > *').count()).toBe(0);
    expect(await page.innerText('[data-part=token]')).toContain(token);
    const asked = await page.locator('[data-part=token] dd.wrap').first().innerText();
    expect(asked.trim().startsWith(`2.5 ${rune.name}`)).toBe(true);
    await shop.world.chain.mineMempool();
    await expect
      .poll(
        async () => {
          await look(page);
          return page.innerText('[data-part=fee]');
        },
        { timeout: 30_000, interval: 300 },
      )
      .toContain('Seen: 1 of 2 confirmations');
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
    await look(page);
    await says(page, '[data-part=state]', /Paid: the order is completed/u);
    expect(await page.getAttribute('text=Back to the shop', 'href')).toBe('https://shop.example/thanks');
    expect(await axeFindings(page)).toEqual([]);
    expect(await layoutFaultsOf(page)).toEqual([]);
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });

  test('a wallet in the browser signs both payments, and the page sees them', async () => {
    const order = await ordered();
    const page = await pages.blank(phone);
    await page.exposeFunction('signByModel', (given: unknown[]) =>
      callWallet({ wallet: 'Xverse', call: "request('signPsbt', params)" }, { payment, ordinals }, given),
    );
    const account = [
      { purpose: 'payment', address: payment.address, publicKey: payment.publicKey },
      { purpose: 'ordinals', address: ordinals.address, publicKey: ordinals.publicKey },
    ];
    await page.addInitScript(`window.XverseProviders = { BitcoinProvider: { request: async (method, params) =>
      method === 'wallet_connect'
        ? { result: { addresses: ${JSON.stringify(account)} } }
        : { result: await window.signByModel([params]) } } };`);
    await page.goto(`${pages.base}/tokenpay/checkout/${order.id}`);
    await page.click('text=Pay with Xverse');
    await says(page, '#said', /Paid, in transaction [0-9a-f]{64}/u);
    await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
    await look(page);
    await says(page, '[data-part=state]', /Payment seen/u);
    await shop.world.chain.mineMempool();
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
  });

  test('any other wallet gets the PSBT as a text, and its transaction is sent', async () => {
    const order = await ordered();
    const page = await opened(order);
    await page.click('text=Another wallet');
    await page.fill('#payment-address', payment.address);
    await page.fill('#payment-key', payment.publicKey);
    await page.click('text=Create the PSBT');
    // the taproot address of this key holds nothing of the rune
    await says(page, '#said', /has only 0 /u);
    await page.fill('#ordinal-address', ordinals.address);
    await page.fill('#ordinal-key', ordinals.publicKey);
    await page.click('text=Create the PSBT');
    const psbt = Buffer.from(await page.inputValue('#unsigned-psbt'), 'base64').toString('hex');
    const signed = await callWallet(
      { wallet: 'Leather', call: "request('signPsbt', params)" },
      { payment, ordinals },
      [{ hex: psbt, broadcast: false }],
    );
    const transaction = Transaction.fromPSBT(Buffer.from((signed as { hex: string }).hex, 'hex'));
    transaction.finalize();
    const { hex } = transaction;
    await page.fill('#signed-psbt', hex.replace(/.{8}$/u, '01000000'));
    await page.click('text=Send it');
    await says(page, '#said', /signed a different transaction/u);
    await page.fill('#signed-psbt', hex);
    await page.click('text=Send it');
    await says(page, '#said', new RegExp(`Paid, in transaction ${transaction.id}`, 'u'));
    await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
  });

  test('without scripts everything to pay is shown, and how to see what arrived', async () => {
    const order = await ordered();
    const page = await opened(order, { ...phone, javaScriptEnabled: false });
    const main = await page.innerText('main');
    for (const words of [
      order.tokenCharge.address,
      order.feeCharge.address,
      `2.5 ${rune.name}`,
      'reload this page',
    ])
      expect(main).toContain(words);
    expect(await page.locator('.qr-frame:visible, #wallet:visible').count()).toBe(0);
  });
});
