import { beforeAll, describe, expect, test } from 'vitest';
import { giveKey } from '#test/support/http/search-access.ts';
import { callClient } from '#test/support/orders/call-client.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import type { EtchedRune, ShopOrder, ShopWorld } from './shop-world.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Tests requests in the exact form that real clients send, and requests that are refused. */
export function testShopClients(started: () => ShopWorld): void {
  describe('clients of token payments', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    let whole: EtchedRune;
    let origin: string;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(2n ** 128n - 1n, 38);
      whole = await shop.etch(1_000_000n, 0);
      origin = await shop.app.listen({ host: '127.0.0.1', port: 0 });
    });

    async function ask(
      method: 'GET' | 'POST',
      url: string,
      body?: string,
      headers: Record<string, string> = {},
    ): Promise<Answer> {
      const answer = await shop.app.inject({
        method,
        url,
        headers: {
          'x-api-key': shop.key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      return { status: answer.statusCode, text: answer.body, body: answer.json() };
    }
    const order = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
      ask('POST', '/tokenpay/user/order/rune', body, headers);

    test('the npm client orders, reads, checks and asks for the balance', async () => {
      const call = <Value>(method: string, ...parameters: unknown[]) =>
        callClient<Value>(origin, 'TokenPay', method, parameters, shop.key);
      const made = await call<ShopOrder>('createRuneOrder', {
        amount: 3,
        token: whole.name.replaceAll('•', ''),
        additionalFee: 500,
        webhookUrl: 'https://shop.example/hook',
        description: 'from the client',
      });
      expect(made.error).toBeUndefined();
      expect(made.value).toMatchObject({
        tokenCharge: { token: whole.name, amount: 3 },
        feeCharge: { amount: 9_500 },
      });
      const { id, webhookSecretToken, ...shown } = made.value!;
      expect(webhookSecretToken).toHaveLength(64);
      expect((await call('getOrder', { orderId: id })).value).toEqual({ id, ...shown });
      // these addresses have no coins
      const owner = customerAddress(73_000);
      const lacking = await call('createPaymentPSBT', { orderId: id, ...signerBody(owner, owner) });
      expect(lacking.error).toMatchObject({ status: 400 });
      const txid = 'ab'.repeat(32);
      expect((await call('checkTransactionAsTxid', { txid })).value).toEqual({ txid });
      expect((await call('getAccountBalance')).value).toMatchObject({ bitcoin: {}, rune: {} });
    });

    test('a shop of WooCommerce orders with its fields and floats, and trusts the id', async () => {
      const { status, body } = await order(
        `{"amount":2.0e0,"token":"${whole.name}","webhookUrl":"https:\\/\\/shop.example\\/?wc-api=tokenpay&key=1","additionalFee":"23315",
        "description":"Order 17","successUrl":"https://shop.example/thanks","order_id":17,"name":"Ada","email":"ada@example.com"}`,
      );
      expect([status, body['successUrl'], body['webhookUrl']]).toEqual([
        200,
        'https://shop.example/thanks',
        'https://shop.example/?wc-api=tokenpay&key=1',
      ]);
      expect(body['feeCharge']).toMatchObject({ amount: 32_315, additionalFee: 23_315 });
      const { rows } = await shop.world.database.pool.query<{ stored: string }>(
        'SELECT to_jsonb(o)::text AS stored FROM service.token_orders AS o WHERE id = $1',
        [body['id']],
      );
      // no personal data is stored
      expect(rows[0]!.stored).not.toMatch(/ada@|Ada/u);
      const { body: rate, text } = await ask('GET', '/fxrate');
      expect([rate, text]).toEqual([
        { bitcoin: { usd: 91_234.5 }, updatedAt: 1_764_000_000_000 },
        expect.stringContaining('"usd":91234.50'),
      ]);
    });

    test.each([
      ['3.4', '340000000000000000000000000000000000000'],
      ['3.40282366920938463463374607431768211455', String(2n ** 128n - 1n)],
      ['0.00000000000000000000000000000000000001', '1'],
      ['9007199254740993e-38', '9007199254740993'],
    ])(
      'an amount of %s keeps its digits, in the answer, when it is read and when it is repeated',
      async (amount, units) => {
        const key = { 'idempotency-key': `exact ${amount}`.replaceAll(' ', '-') };
        const body = `{"amount":${amount},"token":"${rune.name}","webhookUrl":"https://shop.example/"}`;
        const first = await order(body, key);
        expect([first.status, (first.body['tokenCharge'] as { amountBase: string }).amountBase]).toEqual([
          200,
          units,
        ]);
        expect(await order(body, key)).toEqual(first);
        const { rows } = await shop.world.database.pool.query<{ answer: string }>(
          `SELECT answer FROM service.idempotency_keys WHERE key = $1`,
          [key['idempotency-key']],
        );
        expect(rows[0]!.answer).not.toContain(first.body['webhookSecretToken']);
        const read = await ask('GET', `/tokenpay/order/${first.body['id'] as string}`);
        const digits = /"tokenCharge":\{"amount":[0-9.]+/u;
        expect(digits.exec(read.text)![0]).toBe(digits.exec(first.text)![0]);
      },
    );

    test.each([
      ['{}', ['token is required.', 'amount is required.']],
      ['{"token":"","amount":1}', ['token is required.']],
      ['{"token":"lower","amount":1}', ['Send the name in capitals: LOWER.']],
      ['{"token":"ABC•","amount":1}', ['trailing spacer']],
      ['{"token":"•ABC","amount":1}', ['leading spacer']],
      ['{"token":"A••B","amount":1}', ['double spacer']],
      ['{"token":"840000:1","amount":1}', ['This is the id of a rune. Send the name']],
      ['{"token":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","amount":1}', ['out of range']],
      ['{"token":"NOTETCHED","amount":1}', ['no block has etched a rune NOTETCHED (up to']],
      // all faults in the form are reported before the rune is searched
      ['{"token":"NOTETCHED","amount":"1,5","successUrl":"x"}', ['number in digits', 'successUrl must be']],
      ['{"token":"NOTETCHED","amount":-1}', ['above 0']],
      ['{"token":"BTC","amount":1}', ['no block has etched a rune BTC']],
      ['{"token":7,"amount":1}', ['A name is capital letters']],
      ['TOKEN 0', ['above 0']],
      ['TOKEN -1', ['above 0']],
      ['TOKEN "-0"', ['above 0']],
      ['TOKEN 1.5', ['more than 0 decimals']],
      ['TOKEN "1,5"', ['number in digits']],
      ['TOKEN "1e400"', ['exponent']],
      ['TOKEN 1e400', ['exponent']],
      ['TOKEN "NaN"', ['number in digits']],
      ['TOKEN "0x10"', ['number in digits']],
      ['TOKEN " 1"', ['number in digits']],
      ['TOKEN 340282366920938463463374607431768211456', ['above 2^128']],
      ['TOKEN true', ['amount must be a number']],
      ['TOKEN [1]', ['amount must be a number']],
      ['TOKEN 1,"additionalFee":-1', ['additionalFee']],
      ['TOKEN 1,"additionalFee":1.5', ['additionalFee']],
      ['TOKEN 1,"additionalFee":2100000000000001', ['additionalFee']],
      ['TOKEN 1,"successUrl":"javascript:alert(1)"', ['successUrl must be']],
      [`TOKEN 1,"description":"${'d'.repeat(1_001)}"`, ['description has more']],
      ['[1]', ['the body must be an object', 'token is required.', 'amount is required.']],
      ['not json', ['JSON']],
    ])('%s is refused in the form of the interface, and nothing is stored', async (body, reasons) => {
      const count = async (): Promise<unknown> =>
        (await shop.world.database.pool.query('SELECT count(*) FROM service.token_orders')).rows;
      const before = await count();
      const sent = body.startsWith('TOKEN ') ? `{"token":"${whole.name}","amount":${body.slice(6)}}` : body;
      const answer = await order(sent);
      expect(answer.status).toBe(400);
      const faults = (answer.body as { error: { msg: string }[] }).error.map(({ msg }) => msg);
      expect(faults).toEqual(reasons.map((reason) => expect.stringContaining(reason) as string));
      expect(answer.body).not.toHaveProperty('id');
      expect(await count()).toEqual(before);
    });

    test('keys decide: no key, another scope, another account', async () => {
      const body = `{"token":"${whole.name}","amount":1}`;
      expect((await order(body, { 'x-api-key': '' })).status).toBe(401);
      const { key: searches } = await giveKey(shop.world.database.pool, { scopes: ['search'], rate: '0' });
      expect((await order(body, { 'x-api-key': searches })).status).toBe(403);
      const { key: other, account } = await giveKey(shop.world.database.pool, {
        scopes: ['tokenpay'],
        rate: '0',
      });
      expect(
        (await ask('GET', '/tokenpay/user/account/balance', undefined, { 'x-api-key': other })).body,
      ).toMatchObject({
        bitcoin: {},
        rune: {},
        amountBase: { bitcoin: {}, rune: {} },
      });
      expect((await order(body, { 'x-api-key': other })).body['accountId']).toBe(account);
    });

    test.each([
      ['POST', '/tokenpay/utils/checktx', '{}', 400, { error: [{ msg: 'txid is required.' }] }],
      [
        'POST',
        '/tokenpay/utils/checktx',
        '{"txid":"ab"}',
        400,
        { error: [{ msg: 'txid must be 64 hex digits, in lower case.' }] },
      ],
      [
        'GET',
        '/tokenpay/order/6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
        undefined,
        404,
        { error: [{ msg: 'Order not found' }] },
      ],
      [
        'GET',
        '/tokenpay/order/x',
        undefined,
        404,
        {
          error: [
            { msg: expect.stringMatching(/^Order not found: this is not the id of an order/u) as string },
          ],
        },
      ],
      [
        'GET',
        '/tokenpay/reserves?document=abc',
        undefined,
        400,
        { error: [{ msg: expect.stringContaining('64 hex digits') as string }] },
      ],
    ] as const)('%s %s %s', async (method, url, body, status, answer) => {
      const found = await ask(method, url, body);
      expect([found.status, found.body]).toEqual([status, answer]);
    });
  });
}
