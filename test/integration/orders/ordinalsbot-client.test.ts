import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { insertCollection, requireExactCounts } from '#test/support/collections/collection-rows.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type ClientAnswer, callClient } from '#test/support/orders/call-client.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import type { PsbtAnswer } from '#test/support/psbts/psbt-world.ts';
import { signingLibraries } from '#test/support/psbts/sign-psbt.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const receiver = 800;
const waitMs = 60_000;

interface OrderAnswer {
  readonly id: string;
  readonly status: string;
  readonly state: string;
  readonly error?: string;
  readonly createdAt: unknown;
  readonly charge: { readonly address?: string; readonly amount: number };
  readonly files: readonly {
    readonly inscriptionId?: string;
    readonly url: string;
    readonly s3Key: string;
    readonly tx?: { readonly commit?: string; readonly reveal: string; readonly satpoint?: string };
  }[];
  readonly parents: unknown;
  readonly webhookUrl: unknown;
}

// the last test cancels the order of the first test
describe.skipIf(bitcoindForTests() === null)('the public client, unmodified', { shuffle: false }, () => {
  let service: OrderService;
  /** Id of the order of the first test. */
  let completed = '';

  beforeAll(async () => {
    service = await OrderService.start({ ALLOW_PRIVATE_URLS: 'false', INDEX_ADDRESSES: 'true' });
  });
  afterAll(() => service?.close());

  const call = <Value>(method: string, ...parameters: readonly unknown[]): Promise<ClientAnswer<Value>> =>
    callClient<Value>(service.origin, 'Inscription', method, parameters);

  const text = 'data:plain/text;base64,' + Buffer.from('hello client').toString('base64');
  const body = {
    files: [{ name: 'hello.txt', size: 12, type: 'plain/text', dataURL: text }],
    receiveAddress: addressOf(receiver),
    fee: '3',
    postage: 546,
    walletProvider: 'xverse',
  };

  async function untilState(id: string, state: string): Promise<OrderAnswer> {
    return waitUntil(
      async () => {
        const answer = await fetch(new URL(`/order/${id}`, service.origin));
        const order = (await answer.json()) as OrderAnswer;
        if (order.state !== state) throw new Error(`the order is ${order.state}: ${order.error ?? ''}`);
        return order;
      },
      { limitMs: waitMs, everyMs: 100 },
    );
  }

  test('orders, pays and receives an inscription', async () => {
    const wanted = { ...body, inscriptionIdPrefix: 'ace' };
    const created = await call<OrderAnswer>('createDirectOrder', wanted);
    expect(created.error).toBeUndefined();
    const order = created.value!;
    expect(order).toMatchObject({
      status: 'ok',
      state: 'waiting-payment',
      orderType: 'direct',
      createdAt: { '.sv': 'timestamp' },
      fee: '3',
      inscriptionIdPrefix: 'ace',
      parents: null,
      webhookUrl: null,
      receiveAddress: addressOf(receiver),
    });
    expect(order.charge.address).toBeUndefined();
    const read = await call<OrderAnswer>('getOrder', order.id);
    expect(read.value).toMatchObject({ id: order.id, status: 'ok', fee: '3', inscriptionIdPrefix: 'ace' });
    expect(Object.values(read.value!)).not.toContain(null);
    const { address = '', amount } = read.value!.charge;
    await service.chain.payAddress(address, amount);
    await untilState(order.id, 'waiting-confirmation');
    await service.chain.mineMempool();
    await untilState(order.id, 'queued');
    const sent = await waitUntil(
      async () => {
        const now = await untilState(order.id, 'queued');
        if (now.files[0]?.inscriptionId === undefined) throw new Error('it is not broadcast');
        return now;
      },
      { limitMs: waitMs, everyMs: 100 },
    );
    await service.chain.mineMempool();
    const done = await untilState(order.id, 'completed');
    completed = order.id;
    const inscription = done.files[0]!.inscriptionId!;
    expect(inscription).toMatch(/^ace/u);
    expect(inscription).toBe(sent.files[0]!.inscriptionId);
    const content = await fetch(new URL(`/content/${inscription}`, service.origin));
    expect(content.headers.get('content-type')).toBe('text/plain;charset=utf-8');
    expect(await content.text()).toBe('hello client');
    const shown = await fetch(new URL(`/inscription/${inscription}`, service.origin), {
      headers: { accept: 'application/json' },
    });
    const record = (await shown.json()) as { address: string; value: number; number: number };
    expect(record).toMatchObject({ address: addressOf(receiver), value: 546, number: 0 });
    expect(scriptOf(receiver)).toHaveLength(34);
    const { pathname } = new URL(done.files[0]!.url);
    const file = await fetch(new URL(pathname, service.origin));
    expect(await file.text()).toBe('hello client');
    expect(file.headers.get('content-security-policy')).toContain('sandbox');
  });

  test('orders files and texts, to one address each, and receives them', async () => {
    const two = [addressOf(receiver), addressOf(receiver + 1)];
    const wanted = { receiveAddress: two, fee: 2, postage: 600, rareSats: 'random', timeout: 4320 };
    const files = ['first', 'second'].map((content) => ({
      name: `${content}.txt`,
      size: content.length,
      type: 'plain/text',
      dataURL: `data:plain/text;base64,${Buffer.from(content).toString('base64')}`,
    }));
    const made = await Promise.all([
      call<OrderAnswer>('createOrder', { ...wanted, files, compress: false, batchMode: 'separate-outputs' }),
      call<OrderAnswer>('createTextOrder', { ...wanted, texts: ['third', 'fourth'] }),
    ]);
    expect(made.map(({ error }) => error)).toEqual([undefined, undefined]);
    const orders = made.map(({ value }) => value!);
    for (const order of orders) {
      expect(order).toMatchObject({ status: 'ok', state: 'waiting-payment', orderType: 'bulk' });
      expect(order.createdAt).toEqual({ '.sv': 'timestamp' });
      expect(order.charge).toMatchObject({ id: order.id, status: 'unpaid', currency: 'BTC' });
      // the response has the address at once, and has no other address
      const { value: read } = await call<OrderAnswer>('getOrder', order.id);
      expect(read!.charge.address).toBe(order.charge.address);
      await service.chain.payAddress(order.charge.address!, order.charge.amount);
    }
    for (const { id } of orders) await untilState(id, 'waiting-confirmation');
    await service.chain.mineMempool();
    for (const { id } of orders)
      await waitUntil(
        async () => {
          const { files: sent } = await untilState(id, 'queued');
          if (sent.some(({ inscriptionId }) => inscriptionId === undefined)) throw new Error('not broadcast');
          return true;
        },
        { limitMs: waitMs, everyMs: 100 },
      );
    await service.chain.mineMempool();
    const contents = [
      ['first', 'second'],
      ['third', 'fourth'],
    ];
    for (const [place, { id }] of orders.entries()) {
      await untilState(id, 'completed');
      const { value: done } = await call<OrderAnswer>('getOrder', id);
      const read = await Promise.all(done!.files.map((file) => inscribed(file)));
      expect(read).toEqual(
        contents[place]!.map((content, file) => ({
          content,
          type: 'text/plain;charset=utf-8',
          address: two[file],
          value: 600,
          satpoint: done!.files[file]!.tx!.satpoint,
        })),
      );
      const [first] = done!.files;
      expect(first!.tx!.commit).toMatch(/^[0-9a-f]{64}$/u);
      expect(first!.inscriptionId).toBe(`${first!.tx!.reveal}i0`);
    }
  });

  describe('a wallet with two addresses', () => {
    const payment = customerAddress(810, 'p2wpkh');
    const ordinals = customerAddress(811);
    const signers = signerBody(payment, ordinals);
    const [library] = signingLibraries;

    /** Makes money for a customer, and an inscription and an output at the customer's ordinals address. */
    async function funded(): Promise<{ readonly inscriptionId: string; readonly special: string }> {
      const { chain } = service;
      const coin = await chain.coin();
      const money = { value: 50_000, to: payment.owner, type: payment.type };
      const paid = transaction([coin], [money, { value: 8_000, to: ordinals.owner }, { value: 100_000_000 }]);
      const made = await chain.inscribe(
        { contentType: 'text/plain', body: 'parent' },
        { to: ordinals.owner, postage: 7_000 },
      );
      const { height } = await chain.mine([paid, ...made.transactions]);
      await service.eventually(async () => {
        const status = await fetch(new URL('/status', service.origin));
        return ((await status.json()) as { readonly height: number }).height >= height;
      });
      return { inscriptionId: made.reveal.id(), special: `${paid.txid}:1` };
    }

    /** Signs and sends a PSBT of the client, and waits for the delivery of the order. */
    async function completedWith(
      id: string,
      { psbtBase64, ordinalInputIndices, paymentInputIndices }: PsbtAnswer,
    ): Promise<OrderAnswer> {
      const signedBoth = library!.sign(psbtBase64, [
        { by: ordinals, indices: ordinalInputIndices },
        { by: payment, indices: paymentInputIndices },
      ]);
      await service.bitcoind.rpc.call('sendrawtransaction', [library!.finalize(signedBoth)]);
      await service.chain.mineMempool();
      await waitUntil(
        async () => {
          const now = await untilState(id, 'queued');
          if (now.files[0]?.inscriptionId === undefined) throw new Error('it is not broadcast');
          return now;
        },
        { limitMs: waitMs, everyMs: 100 },
      );
      await service.chain.mineMempool();
      return untilState(id, 'completed');
    }

    test('createSpecialSatsPSBT and createParentChildPsbt give PSBTs that complete orders', async () => {
      const { inscriptionId, special } = await funded();
      const { value: order } = await call<OrderAnswer>('createDirectOrder', body);
      const { value: read } = await call<OrderAnswer>('getOrder', order!.id);
      const { address = '', amount } = read!.charge;
      const wanted = {
        ...signers,
        chargeAmount: String(amount),
        fundingAddress: address,
        specialSatsOutput: special,
        feeRate: 2,
      };
      const built = await call<PsbtAnswer>('createSpecialSatsPSBT', wanted);
      expect(built.error).toBeUndefined();
      expect(built.value).toMatchObject({ ordinalInputIndices: [0], paymentInputIndices: [1] });
      // this service has no index of sats
      expect(built.value!.unproven).toHaveLength(2);
      await completedWith(order!.id, built.value!);
      const dear = await call('createSpecialSatsPSBT', { ...wanted, feeRate: 1e9 });
      expect(dear.error?.status).toBe(400);

      const parents = [{ inscriptionId, value: 7_000, returnAddress: ordinals.address }];
      const { value: child } = await call<OrderAnswer>('createDirectOrder', { ...body, parents });
      const { ordinalAddress: ordinalsAddress, ...others } = signers;
      const lending = { ...others, ordinalsAddress, orderId: child!.id, feeRate: 0 };
      const lent = await call<PsbtAnswer>('createParentChildPsbt', lending);
      expect(lent.error).toBeUndefined();
      expect(lent.value).toMatchObject({ ordinalInputIndices: [0], paymentInputIndices: [1] });
      const done = await completedWith(child!.id, lent.value!);
      const shown = await fetch(new URL(`/inscription/${done.files[0]!.inscriptionId}`, service.origin), {
        headers: { accept: 'application/json' },
      });
      expect(await shown.json()).toMatchObject({ parents: [inscriptionId] });
      const unknown = await call('createParentChildPsbt', { ...lending, orderId: 'unknown' });
      expect(unknown.error?.status).toBe(404);
    });
  });

  /** An inscription as the service shows it to others. */
  async function inscribed({ inscriptionId }: OrderAnswer['files'][number]) {
    const [content, shown] = await Promise.all([
      fetch(new URL(`/content/${inscriptionId}`, service.origin)),
      fetch(new URL(`/inscription/${inscriptionId}`, service.origin), {
        headers: { accept: 'application/json' },
      }),
    ]);
    const { address, value, satpoint } = (await shown.json()) as {
      address: string;
      value: number;
      satpoint: string;
    };
    return {
      content: await content.text(),
      type: content.headers.get('content-type'),
      address,
      value,
      satpoint,
    };
  }

  const referral = { referral: 'client-each', address: addressOf(receiver) };
  const managed = { ...body, receiveAddress: [addressOf(receiver)] };
  const price = { size: 557, fee: 8, count: 2, type: 'bulk', rareSats: 'random' };
  /** Methods with good and bad parameters, and the outcome of each call. Errors of reads are values with status 200. */
  const methods: readonly (readonly [string, object | string, object, object | string, object])[] = [
    ['createDirectOrder', body, { value: { status: 'ok' } }, { ...body, fee: 0 }, { error: { status: 400 } }],
    [
      'createOrder',
      managed,
      { value: { status: 'ok' } },
      { ...managed, files: [] },
      { error: { status: 400 } },
    ],
    [
      'createTextOrder',
      { ...managed, files: undefined, texts: ['hello'] },
      { value: { status: 'ok' } },
      { ...managed, files: undefined, texts: [] },
      { error: { status: 400 } },
    ],
    [
      'getPrice',
      price,
      { value: { baseFee: 9000, rareSatsFee: 0, amount: expect.any(Number) as number } },
      { ...price, fee: 0 },
      { value: { status: 'error', error: expect.any(String) as string } },
    ],
    [
      'setReferralCode',
      referral,
      { value: { status: 'ok' } },
      { referral: 'x', address: 'bc1q' },
      { error: { status: 400 } },
    ],
    [
      'getReferralStatus',
      referral,
      { value: { address: referral.address, orderCount: 0, paidCount: 0 } },
      { ...referral, referral: 'unknown' },
      { value: { status: 'error', error: expect.any(String) as string } },
    ],
  ];

  test.each(methods)('%s gives its answer, or the fault', async (method, good, given, bad, refused) => {
    if (method === 'getReferralStatus') await call('setReferralCode', good);
    expect(await call(method, good)).toMatchObject(given);
    expect(await call(method, bad)).toMatchObject(refused);
  });

  test('createCollection arrives whole; updateCollectionPhases and getAllocation', async () => {
    const { key } = await giveKey(service.database.pool, { scopes: ['orders'] });
    const files = Array.from({ length: 1_000 }, (_, item) => ({
      name: `${item}.png`,
      size: 100 + (item % 2),
      url: `https://example.com/${item}.png`,
    }));
    const allowList = Object.fromEntries(
      Array.from({ length: 500 }, (_, buyer) => [addressOf(10_000 + buyer), { allocation: 1 + (buyer % 3) }]),
    );
    const collection = {
      id: 'client-pixels',
      name: 'Pixels',
      description: 'A thousand pixels',
      creator: 'Ada',
      totalCount: 1_000,
      price: 2_000,
      'creator-address': addressOf(receiver),
      files,
      phases: [
        {
          id: 'friends',
          inscriptionsCount: 600,
          isPublic: 0,
          price: 1_000,
          startDate: 1,
          allowList: [allowList],
        },
      ],
    };
    const made = await call<{ id: string; averageSize: number; phases: unknown }>(
      'createCollection',
      collection,
    );
    expect(made.value).toMatchObject({
      status: 'ok',
      id: 'client-pixels',
      averageSize: 101,
      inscribedCount: 0,
      active: false,
      files,
      phases: [{ id: 'friends', inscriptionsCount: 600, isPublic: 0, price: 1_000, allowListCount: 500 }],
    });
    const bad = await call('createCollection', { ...collection, totalCount: 0 });
    expect(bad.error?.message).toContain('400');
    await service.database.pool.query(
      `UPDATE service.mint_collections SET state = 'approved', decided_at = now(), client = NULL WHERE id = 'client-pixels'`,
    );
    const asked = { id: 'client-pixels', receiveAddress: addressOf(10_002) };
    const none = { inscribedCount: 0, paidItemCount: 0 };
    expect((await call('getAllocation', asked)).value).toEqual({
      phases: [{ phaseId: 'friends', public: 0, allocation: 3, ...none }],
    });
    // the collection has no key, so only an operator can change it, and this client sends no key
    const phases = [{ inscriptionsCount: 5, isPublic: 1, price: 0, startDate: 1, endDate: null }];
    const update = await call('updateCollectionPhases', { id: 'client-pixels', phases });
    expect(update.error).toMatchObject({ status: 401 });
    await service.database.pool.query(
      `UPDATE service.mint_collections SET key_hash = sha256($1) WHERE id = 'client-pixels'`,
      [Buffer.from(key)],
    );
    const keyed = await callClient<{ phases: unknown }>(
      service.origin,
      'Inscription',
      'updateCollectionPhases',
      [{ id: 'client-pixels', phases }],
      key,
    );
    expect(keyed.value).toMatchObject({ id: 'client-pixels', phases: [{ id: '1', inscriptionsCount: 5 }] });
    expect((await call('getAllocation', asked)).value).toMatchObject({ phases: [{ allocation: -1 }] });
  });

  test('createCollectionOrder draws items, or takes those that are named, with a token', async () => {
    const { key } = await giveKey(service.database.pool, { scopes: ['orders'] });
    for (let item = 0; item < 6; item++) {
      const headers = { 'x-api-key': key };
      const stored = await fetch(new URL(`/files/${item}.txt`, service.origin), {
        method: 'PUT',
        body: String(item),
        headers,
      });
      expect(stored.status).toBe(200);
    }
    await insertCollection(service.database.pool, {
      id: 'client-texts',
      items: 6,
      price: 3_000,
      creatorAddress: addressOf(receiver),
    });
    const wanted = {
      collection: { id: 'client-texts', count: 1, requestedIds: [4] },
      receiveAddress: addressOf(receiver),
      fee: 4,
      token: 'solved',
    };
    const made = await call<OrderAnswer>('createCollectionOrder', wanted);
    expect(made.error).toBeUndefined();
    expect(made.value).toMatchObject({
      status: 'ok',
      state: 'waiting-payment',
      orderType: 'bulk',
      collection: { id: 'client-texts', count: 1, items: [4] },
      price: 3_000,
      fileCount: 1,
      charge: { address: expect.any(String) as string, amount: expect.any(Number) as number },
    });
    const drawn = { ...wanted, collection: { id: 'client-texts', count: 2 } };
    expect((await call('createCollectionOrder', drawn)).value).toMatchObject({ fileCount: 2 });
    expect((await call('createCollectionOrder', wanted)).error?.status).toBe(409);
    const unpaid = await call('createCollectionOrder', { ...drawn, token: undefined });
    expect(unpaid.error?.status).toBe(401);
    const unknown = { ...wanted, collection: { id: 'nowhere', count: 1 } };
    expect((await call('createCollectionOrder', unknown)).error?.status).toBe(404);
    await requireExactCounts(service.database.pool, 'client-texts');
  });

  test('getInventory gives each type with its fee', async () => {
    const { value } = await call<Record<string, object>>('getInventory');
    expect(value!['vintage']).toMatchObject({ baseFee: 5000, count: expect.any(Number) as number });
  });

  test('is refused before there is an address, with the status that it shows', async () => {
    const faults: readonly [object, RegExp][] = [
      [{ ...body, files: [] }, /files or delegates/u],
      [{ ...body, receiveAddress: 'bc1q' }, /receiveAddress/u],
      [{ ...body, postage: 329 }, /postage|330/u],
      [{ ...body, fee: 0 }, /fee/iu],
      [{ ...body, files: [{ ...body.files[0], name: 'hello.exe' }] }, /extension/u],
      [{ ...body, files: [{ ...body.files[0], dataURL: 'data:text/plain;base64,@@@@' }] }, /base64/u],
      [{ ...body, delegates: [{ delegateId: `${'ab'.repeat(32)}i0` }] }, /delegate/u],
      [{ ...body, webhookUrl: 'http://127.0.0.1/hook' }, /webhookUrl/u],
      [{ ...body, timeout: 15 }, /timeout/u],
    ];
    for (const [faulty, words] of faults) {
      const answer = await fetch(new URL('/inscribe', service.origin), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(faulty),
      });
      expect(answer.status, `${JSON.stringify(faulty)} ${answer.status >= 500 ? service.stderr() : ''}`).toBe(
        400,
      );
      const { error } = (await answer.json()) as { error: { msg: string }[] };
      expect(error.map(({ msg }) => msg).join('\n')).toMatch(words);
    }
    expect((await call('createDirectOrder', { ...body, files: [] })).error?.status).toBe(400);
    expect((await call<OrderAnswer>('getOrder', '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11')).value).toEqual({
      status: 'error',
      error: 'no such order 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
    });
  });

  test('cancels an unpaid order, and no other', async () => {
    const { value: order } = await call<OrderAnswer>('createDirectOrder', body);
    const cancel = (id: string) =>
      fetch(new URL('/order/cancel', service.origin), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      });
    const answer = await cancel(order!.id);
    expect(await answer.json()).toMatchObject({ id: order!.id, state: 'cancelled' });
    expect(await (await cancel(order!.id)).json()).toMatchObject({ state: 'cancelled' });
    expect((await cancel(completed)).status).toBe(409);
  });

  test('registers a referral and reads its orders', async () => {
    const referral = { referral: 'client-test', address: addressOf(receiver) };
    expect(await call('setReferralCode', referral)).toEqual({ value: { status: 'ok' } });
    expect(await call('setReferralCode', referral)).toEqual({ value: { status: 'ok' } });
    const taken = await call('setReferralCode', { ...referral, address: addressOf(receiver + 1) });
    expect(taken.error?.status).toBe(400);
    const { value: order } = await call<OrderAnswer>('createDirectOrder', {
      ...body,
      referral: 'client-test',
      additionalFee: 200,
    });
    expect(order).toMatchObject({ referral: 'client-test', additionalFee: 200, additionalFeeCharged: 200 });
    const status = { address: addressOf(receiver), orderCount: 0, paidCount: 0 };
    expect(await call('getReferralStatus', referral)).toEqual({ value: status });
    const unknown = await call('createDirectOrder', { ...body, referral: 'unknown' });
    expect(unknown.error?.status).toBe(400);
  });
});
