import { createHash, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Txid } from '#kernel/primitives/hash.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { countAccountsBelowZero } from '#purse/ledger/token-balances.queries.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { Partners } from '#test/support/orders/partners.ts';
import {
  hashOfOutputs,
  includedByExample,
  type ShownAccount,
  type ShownPage,
  type ShownReserves,
} from '#test/support/tokenpay/checked-reserves.ts';
import { type EtchedRune, type ShopOrder, ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { provesAddress } from '#test/support/wallet/proves-address.ts';
import { keepReserves, makeReserves } from '#tokenpay/reserves/keep-reserves.ts';
import { openSigner } from '#wallet/signer.ts';
import { askReturn } from '#withdrawals/return-aside.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

// amounts add up from test to test
describe.skipIf(bitcoindForTests() === null)('proof of reserves', { shuffle: false }, () => {
  let shop: ShopWorld;
  let rune: EtchedRune;
  let other: EtchedRune;
  /** A key of another account. */
  let second: string;
  let withoutOrders: { status: number; retryAfter: unknown; isMade: boolean };
  beforeAll(async () => {
    shop = await ShopWorld.start();
    rune = await shop.etch(1_000_000n, 2);
    other = await shop.etch(2n ** 128n - 1n, 0);
    const early = await get('/tokenpay/reserves');
    withoutOrders = {
      status: early.statusCode,
      retryAfter: early.headers['retry-after'],
      isMade: await makeOnce(),
    };
    second = await payTwoAccounts();
    await made();
  }, 180_000);
  afterAll(() => shop?.close());

  const options = async () => {
    const signer = await openSigner(shop.world.seedFile, shop.world.wallet.identity);
    return {
      wallet: async () => ({
        network: 'regtest' as const,
        prove: (key: Parameters<typeof signer.proveAddress>[0], message: string) =>
          signer.proveAddress(key, message),
      }),
      keys: async () => shop.secrets,
      signal: new AbortController().signal,
    };
  };
  /** Does the work of the process with the seed. Returns `false` if there was no document to make. */
  async function makeOnce(): Promise<boolean> {
    const client = await shop.world.database.pool.connect();
    try {
      return (await makeReserves(client, await options())) !== null;
    } finally {
      client.release();
    }
  }
  /** Waits for a new block, and makes a document. */
  async function made(): Promise<void> {
    await shop.world.indexed();
    await shop.world.eventually(async () => {
      if (!(await makeOnce())) throw new Error('index and payments are not at one block');
    });
  }
  const get = (url: string, headers: Record<string, string> = {}) => shop.app.inject({ url, headers });
  async function read<T>(url: string, key: string | null = null): Promise<T> {
    const answer = await get(url, key === null ? {} : { 'x-api-key': key });
    expect([url, answer.statusCode]).toEqual([url, 200]);
    return answer.json<T>();
  }

  async function pagesOf(document: string, count: number): Promise<ShownPage[]> {
    const pages: ShownPage[] = [];
    for (let page = 1; page <= count; page++)
      pages.push(await read<ShownPage>(`/tokenpay/reserves/outputs?document=${document}&page=${page}`));
    return pages;
  }

  /** All checks of docs/tokenpay.md, on the last document. */
  async function verified(): Promise<{
    reserves: ShownReserves;
    document: string;
    listed: ShownPage['outputs'];
  }> {
    const answer = await get('/tokenpay/reserves');
    expect(answer.statusCode).toBe(200);
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = answer.headers;
    // pages of other sites must be able to read these headers
    const exposed = String(answer.headers['access-control-expose-headers']);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect(exposed).toContain(name);
    const [key] = shop.secrets.publicKeys as [Uint8Array];
    const x = Buffer.from(key).toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const signed = Buffer.from(`${String(id)}.${String(time)}.${answer.body}`);
    expect(verify(null, signed, publicKey, Buffer.from(String(signature).slice(4), 'base64'))).toBe(true);

    const document = sha256(answer.body);
    expect(answer.headers.etag).toBe(`"${document}"`);
    const reserves = answer.json<ShownReserves>();
    const { hash, height } = reserves.block;
    expect(await shop.world.chain.rpc.call('getblockhash', [height])).toBe(hash);
    const pages = await pagesOf(document, reserves.outputs.pages);
    const listed = pages.flatMap(({ outputs }) => outputs);
    expect([listed.length, hashOfOutputs(listed)]).toEqual([reserves.outputs.count, reserves.outputs.sha256]);
    const message = `Satscribe reserves of block ${hash}: ${document}`;
    expect(pages.every((page) => page.document === document && page.message === message)).toBe(true);
    for (const { output, address, sats, proof } of listed) {
      const [txid, vout] = output.split(':') as [string, string];
      const unspent = await shop.world.chain.rpc.call<{
        value: number;
        scriptPubKey: { address: string; hex: string };
      }>('gettxout', [txid, Number(vout), false]);
      expect([unspent.scriptPubKey.address, Math.round(unspent.value * 1e8)]).toEqual([address, sats]);
      const script = Buffer.from(unspent.scriptPubKey.hex, 'hex');
      expect([provesAddress(script, message, proof), provesAddress(script, `${message}.`, proof)]).toEqual([
        true,
        false,
      ]);
    }
    for (const shown of reserves.assets) {
      const sumOf = (outcome: string | null): bigint =>
        listed
          .filter((output) => outcome === null || output.outcome === outcome)
          .flatMap(({ sats, runes }) => [{ asset: 'BTC', amount: String(sats) }, ...runes])
          .filter(({ asset }) => asset === shown.asset)
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
      expect([shown.held, shown.aside, shown.waiting, shown.difference].map(BigInt)).toEqual([
        sumOf(null),
        sumOf('aside'),
        sumOf('waiting'),
        0n,
      ]);
    }
    return { reserves, document, listed };
  }

  /** Whether an account finds all of its balances in the document. */
  async function included({ assets }: ShownReserves, key: string): Promise<ShownAccount> {
    const isIncluded = await includedByExample();
    const mine = await read<ShownAccount>('/tokenpay/reserves/mine', key);
    for (const liability of mine.liabilities) {
      const asset = assets.find((each) => each.asset === liability.asset)!;
      expect(isIncluded(mine.account, liability, asset)).toBe(true);
      expect(isIncluded(`${mine.account}.`, liability, asset)).toBe(false);
      const less = String(BigInt(liability.amount) - 1n);
      expect(isIncluded(mine.account, { ...liability, amount: less }, asset)).toBe(false);
    }
    return mine;
  }
  const amountsOf = ({ liabilities }: ShownAccount): Record<string, string> =>
    Object.fromEntries(liabilities.map(({ token, amount }) => [token, amount]));

  async function ordered(
    key = shop.key,
  ): Promise<ShopOrder & Record<'feeScript' | 'tokenScript', Uint8Array>> {
    const { body } = await shop.post(
      { token: rune.name, amount: 2.5, additionalFee: 1_000 },
      { 'x-api-key': key },
    );
    return {
      ...body,
      feeScript: await shop.scriptOf(body.feeCharge.address),
      tokenScript: await shop.scriptOf(body.tokenCharge.address),
    };
  }

  /** Pays an order of the first account and one of another account. Returns the key of the other account. */
  async function payTwoAccounts(): Promise<string> {
    const { key } = await giveKey(shop.world.database.pool, { scopes: ['tokenpay'], rate: '0' });
    const [ofFirst, ofSecond] = [await ordered(), await ordered(key)];
    await shop.send([
      { value: 10_000, outputScript: ofFirst.feeScript },
      { value: 546, outputScript: ofFirst.tokenScript, units: [[rune, 250n]] },
      {
        value: 700,
        outputScript: ofFirst.tokenScript,
        units: [
          [rune, 1n],
          [other, 2n ** 127n],
        ],
      },
      { value: 4_000, outputScript: ofSecond.feeScript, units: [[rune, 7n]] },
    ]);
    await shop.world.chain.mineMempool();
    const inscribed = await shop.world.chain.inscribe(
      { contentType: 'text/plain', body: 'in a payment' },
      { payments: [{ value: 5_000, outputScript: ofSecond.tokenScript }] },
    );
    await shop.world.chain.mine(inscribed.transactions);
    await shop.until(ofFirst.id, ({ state }) => state === 'completed');
    await shop.until(ofSecond.id, ({ received }) => received.length === 2);
    return key;
  }

  test('is missing before there is an order', () => {
    expect(withoutOrders).toEqual({ status: 503, retryAfter: '60', isMade: false });
  });

  test('shows balances of two accounts, outputs set aside, and each output with a proof', async () => {
    const { reserves, document, listed } = await verified();
    const short = reserves.assets.map(({ token, liabilities, fees, aside, held }) => [
      token,
      ...[liabilities, fees, aside, held].map(BigInt),
    ]);
    expect(short.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))).toEqual(
      [
        ['BTC', 2_246n, 13_000n, 5_000n, 20_246n],
        [rune.name, 258n, 0n, 0n, 258n],
        [other.name, 2n ** 127n, 0n, 0n, 2n ** 127n],
      ].toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
    );
    expect(listed).toHaveLength(5);
    expect(amountsOf(await included(reserves, shop.key))).toEqual({
      BTC: '2246',
      [rune.name]: '251',
      [other.name]: String(2n ** 127n),
    });
    expect(amountsOf(await included(reserves, second))).toEqual({ [rune.name]: '7' });
    const empty = await giveKey(shop.world.database.pool, { scopes: ['tokenpay'], rate: '0' });
    expect(await included(reserves, empty.key)).toEqual({
      document,
      account: empty.account,
      liabilities: [],
      debts: [],
    });
  });

  /** Amounts of an asset in the last document. */
  const shown = ({ assets }: ShownReserves, token: string): Record<string, bigint> => {
    const { liabilities, debts, aside, waiting, held } = assets.find((asset) => asset.token === token)!;
    return Object.fromEntries(
      Object.entries({ liabilities, debts, aside, waiting, held }).map(([name, text]) => [
        name,
        BigInt(text),
      ]),
    );
  };

  test('shows a balance below 0 as a debt of its account, beside the liabilities to all others', async () => {
    const { pool } = shop.world.database;
    const asset = `asset = (SELECT asset FROM service.token_runes WHERE name = '${rune.name}')`;
    // 9 units below zero, as after a withdrawal of units whose payment a reorganisation removed
    const move = async (units: number): Promise<void> => {
      await pool.query(
        `UPDATE service.token_balances SET amount = amount + CASE WHEN account = $1 THEN -$2::integer ELSE $2::integer END
          WHERE ${asset}`,
        [shop.account, units],
      );
    };
    expect(await countAccountsBelowZero(shop.world.database.accessPool)).toBe(0);
    await move(260);
    expect(await countAccountsBelowZero(shop.world.database.accessPool)).toBe(1);
    await shop.world.chain.mineEmpty(1);
    await made();
    const { reserves } = await verified();
    expect(shown(reserves, rune.name)).toEqual({
      liabilities: 267n,
      debts: 9n,
      aside: 0n,
      waiting: 0n,
      held: 258n,
    });
    const first = await included(reserves, shop.key);
    expect([amountsOf(first)[rune.name], first.debts]).toEqual([
      undefined,
      [expect.objectContaining({ token: rune.name, amount: '9' })],
    ]);
    expect(amountsOf(await included(reserves, second))).toMatchObject({ [rune.name]: '267' });
    await move(-260);
  });

  test('shows units in a block that are not credited yet as waiting', async () => {
    shop.confirmations.set(parseSpacedRune(rune.name)!.rune, 3);
    const order = await ordered();
    await shop.send([{ value: 600, outputScript: order.tokenScript, units: [[rune, 5n]] }]);
    await shop.world.chain.mineMempool();
    await made();
    const { reserves, listed } = await verified();
    expect(shown(reserves, rune.name)).toMatchObject({ liabilities: 258n, waiting: 5n, held: 263n });
    expect(shown(reserves, 'BTC')).toMatchObject({ waiting: 600n, held: 20_846n });
    expect(listed.filter(({ outcome }) => outcome === 'waiting').map(({ sats }) => sats)).toEqual([600]);
    shop.confirmations.clear();
    await shop.world.chain.mineEmpty(1);
    await shop.until(order.id, ({ received }) => received.length === 1);
    await made();
    const { reserves: after } = await verified();
    expect(shown(after, rune.name)).toMatchObject({ liabilities: 263n, waiting: 0n, held: 263n });
  });

  test('counts an output whose return is sent until a block has the return', async () => {
    const { chain, database } = shop.world;
    const { rows } = await database.pool.query<{ txid: Txid; vout: number }>(
      'SELECT txid, vout FROM service.token_credits WHERE aside IS NOT NULL',
    );
    const [output] = rows as [(typeof rows)[number]];
    await new Partners(shop.world, 850).fund(50_000);
    const sendsNothing = (await made(), await verified()).reserves;
    expect(shown(sendsNothing, 'BTC')).toMatchObject({ aside: 5_000n });
    const asked = { ...output, by: 'bob', reason: 'Its customer asked for it.', feeRate: null };
    await askReturn(database.pool, { ...asked, script: scriptOf(851), address: addressOf(851) });
    await shop.world.eventually(async () => (await chain.rpc.call<string[]>('getrawmempool')).length > 0);
    await chain.mineEmpty(1);
    await made();
    const { reserves } = await verified();
    expect(shown(reserves, 'BTC')).toEqual(shown(sendsNothing, 'BTC'));
    await chain.mineMempool();
    await made();
    const { reserves: after } = await verified();
    const { held } = shown(sendsNothing, 'BTC') as { held: bigint };
    expect(shown(after, 'BTC')).toMatchObject({ aside: 0n, held: held - 5_000n });
  });

  test('stays readable by its hash while the next one is made, and is refused beside it', async () => {
    const before = (await get('/tokenpay/reserves')).body;
    await shop.world.chain.mineEmpty(1);
    await made();
    const { reserves, document } = await verified();
    expect(document).not.toBe(sha256(before));
    await included(reserves, shop.key);
    expect((await get(`/tokenpay/reserves?document=${sha256(before)}`)).body).toBe(before);
    const known = await get('/tokenpay/reserves', { 'if-none-match': `"${document}"` });
    expect([known.statusCode, known.body]).toEqual([304, '']);
    const statuses = await Promise.all(
      [
        `/tokenpay/reserves?document=${'0'.repeat(64)}`,
        '/tokenpay/reserves?document=1',
        `/tokenpay/reserves/outputs?document=${document}&page=2`,
        '/tokenpay/reserves/outputs?page=0',
        '/tokenpay/reserves/mine',
      ].map(async (url) => (await get(url)).statusCode),
    );
    expect(statuses).toEqual([404, 400, 404, 400, 401]);
  });

  test('is made for each block by a process of its own, which keeps three', async () => {
    await shop.world.chain.mineEmpty(1);
    await made();
    const controller = new AbortController();
    const { url, pool } = shop.world.database;
    const ends = keepReserves({
      ...(await options()),
      url,
      signal: controller.signal,
      log: silentLogger(),
    });
    await shop.world.chain.mineEmpty(1);
    const height = await shop.world.chain.height();
    await shop.world.eventually(async () => {
      const { block } = await read<ShownReserves>('/tokenpay/reserves');
      if (block.height !== height) throw new Error(`the last document is of block ${block.height}`);
    });
    controller.abort();
    await ends;
    await verified();
    await shop.world.chain.mineEmpty(1);
    await made();
    const { rows } = await pool.query<{ height: number }>(
      'SELECT height FROM service.token_reserves ORDER BY height',
    );
    expect(rows.map((row) => row.height)).toEqual([height - 1, height, height + 1]);
    const { rows: pages } = await pool.query('SELECT FROM service.token_reserve_pages');
    expect(pages).toHaveLength(3);
  });
});
