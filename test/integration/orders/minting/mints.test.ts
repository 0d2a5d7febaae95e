import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asU128 } from '#kernel/runes/u128.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { callClient } from '#test/support/orders/call-client.ts';
import { expectModelOfChain } from '#test/support/orders/chain-model.ts';
import { expectOrdsAnswers } from '#test/support/orders/ord-answers.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { type MintOrder, minterOwner, RuneOrders } from '#test/support/orders/rune-orders.ts';

const runMs = 240_000;

describe.skipIf(bitcoindForTests() === null)('mints to order beside a real node', () => {
  let service: OrderService;
  let runes: RuneOrders;
  beforeAll(async () => {
    service = await OrderService.start({ INDEX_RUNES: 'true' });
    runes = new RuneOrders(service);
  }, runMs);
  afterAll(async () => {
    try {
      await expectOrdsAnswers(service);
    } finally {
      await service?.close();
    }
  }, runMs);

  /** Pays an order, and waits until all its mints are sent. */
  async function sent(made: MintOrder, count = made.numberOfMints): Promise<MintOrder> {
    await runes.payMined(made);
    const shown = await runes.until(made.id, ({ mintingTxs }) => mintingTxs.length === count);
    await runes.sent(shown.mintingTxs);
    return shown;
  }

  test('each mint is a transaction of its own, sent with the commit, and the units arrive', async () => {
    const { entry } = await runes.etch({ cap: asU128(100n) }, { divisibility: 1 });
    const made = await runes.order(entry.spaced_rune, 5);
    expect(made).toMatchObject({
      state: 'waiting-payment',
      orderType: 'rune-mint',
      rune: entry.spaced_rune,
      numberOfMints: 5,
      executedMints: 0,
      mintingTxs: [],
    });
    expect(made.warnings?.map(({ code }) => code)).toContain('mints-used');
    const shown = await sent(made);
    expect(shown.state).toBe('waiting-rune-balance');
    expect(await runes.mempool()).toHaveLength(6);
    await service.chain.mineMempool();
    const done = await runes.untilState(made.id, 'completed');
    expect(done).toMatchObject({ executedMints: 5, failedMints: [], refundedMints: 0 });
    expect(done.mintingTxs).toEqual(shown.mintingTxs);
    expect((await runes.rune(entry.spaced_rune)).entry.mints).toBe(5);
    expect(await runes.unitsOf(minterOwner, entry.spaced_rune)).toBe('2.5');
    expect(await runes.differences()).toEqual([]);
  });

  test('createRunesMintOrder of the public client mints what its body says', async () => {
    const { entry } = await runes.etch({});
    const body = { rune: entry.spaced_rune, numberOfMints: 2, receiveAddress: addressOf(863), fee: 3 };
    const { value, error } = await callClient<MintOrder>(
      service.origin,
      'Inscription',
      'createRunesMintOrder',
      [body],
    );
    expect(error).toBeUndefined();
    await sent(value!);
    await service.chain.mineMempool();
    await runes.untilState(value!.id, 'completed');
    const read = await callClient<MintOrder>(service.origin, 'Inscription', 'getOrder', [value!.id]);
    expect(read.value).toMatchObject({ executedMints: 2, numberOfMints: 2, state: 'completed' });
    expect(await runes.unitsOf(863, entry.spaced_rune)).toBe('10');
  });

  test('mints beyond a node’s limit of dependents follow the block of the commit', async () => {
    const { entry } = await runes.etch({});
    const made = await runes.order(entry.spaced_rune, 80, { lowPostage: true });
    await runes.payMined(made);
    await service.eventually(async () => (await runes.mempool()).length > 20);
    const { hash } = await service.chain.mineMempool();
    const { tx } = await service.bitcoind.rpc.call<{ tx: string[] }>('getblock', [hash]);
    expect(tx.length).toBeLessThan(70);
    const { mintingTxs } = await runes.until(made.id, (shown) => shown.mintingTxs.length === 80);
    await runes.sent(mintingTxs.filter((txid) => !tx.includes(txid)));
    await service.chain.mineMempool();
    expect(await runes.untilState(made.id, 'completed')).toMatchObject({ executedMints: 80 });
    expect((await runes.rune(entry.spaced_rune)).entry.mints).toBe(80);
    expect(await runes.differences()).toEqual([]);
  });

  test('impossible mints are refused, by price and order alike, before an address is shown', async () => {
    const tip = await service.chain.height();
    const few = await runes.etch({ cap: asU128(3n) });
    const late = await runes.etch({ heightStart: asU128(BigInt(tip + 500)) });
    const over = await runes.etch({ offsetEnd: asU128(3n) });
    const empty = await runes.etch({ amount: null });
    const said = async ({ entry }: typeof few, count = 1) =>
      (await runes.refusal(entry.spaced_rune, count))
        .replaceAll(entry.spaced_rune, 'X')
        .replaceAll(/\d{2,}/gu, 'N');
    expect(await said(few, 4)).toBe(
      'rune: Only 3 of 3 mints of X are left. 0 mints are used, and 0 mints wait for a block.',
    );
    expect(await said(few, 3)).toBe('taken');
    expect(await said(late)).toBe(
      'rune: X can be minted from block N on, but the first block that could have the mints of this order is N.',
    );
    expect(await said(over)).toBe(
      'rune: X can be minted only up to block N, and this service sends no mint for this last block.',
    );
    expect(await said(empty)).toBe('rune: A mint of X gives no units.');
    await service.chain.broadcast(await runes.mint(few.id));
    await service.eventually(async () =>
      /0 mints are used, and 1 mints wait for a block/u.test(await said(few, 3)),
    );
    await service.chain.mineMempool();
  });

  test('an order whose mints others use up before the commit is refunded whole', async () => {
    const { id, entry } = await runes.etch({ cap: asU128(3n) });
    const made = await runes.order(entry.spaced_rune, 3);
    await service.chain.payAddress(made.charge.address, made.charge.amount);
    await runes.untilState(made.id, 'waiting-confirmation');
    await service.chain.broadcast(await runes.mint(id));
    await service.chain.mineMempool();
    const shown = await runes.untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(
      /^Only 2 of 3 mints of .* are left\. 1 mints are used, and 0 mints wait for a block\.$/u,
    );
    const { refund } = await runes.until(made.id, ({ refund: back }) => back !== undefined);
    await service.chain.mineMempool();
    expect(await runes.untilState(made.id, 'refunded')).toMatchObject({ refundedMints: 3, executedMints: 0 });
    expect(refund!.amount).toBeGreaterThan(made.charge.amount - 500);
    expect(await runes.differences()).toEqual([]);
  });

  test('a stranger who pays more in the same block gets the last mints: the service keeps no fee for failed ones', async () => {
    const { id, entry } = await runes.etch({ cap: asU128(3n) });
    const made = await runes.order(entry.spaced_rune, 3);
    const { mintingTxs } = await sent(made);
    const rivals = [await runes.mint(id, 100_000), await runes.mint(id, 100_000)];
    for (const rival of rivals) await service.chain.broadcast(rival);
    await service.chain.mineMempool();
    const done = await runes.untilState(made.id, 'completed');
    expect([done.executedMints, done.failedMints.length, done.mintingTxs]).toEqual([1, 2, mintingTxs]);
    expect(done.error).toMatch(/^Mints are missing: of 3, 2 were mined but not executed\. /u);
    const { refund } = await runes.until(made.id, ({ refund: back }) => back !== undefined);
    await service.chain.mineMempool();
    // the refund has the base fee of two of the three mints
    expect(refund!.amount).toBeGreaterThan(15_000);
    expect(await runes.unitsOf(minterOwner, entry.spaced_rune)).toBe('5');
    expect(await runes.differences()).toEqual([]);
  });

  test('mints wait while the mempool may use all, and are refunded once blocks have used all', async () => {
    const { id, entry } = await runes.etch({ cap: asU128(4n) });
    const made = await runes.order(entry.spaced_rune, 3);
    await runes.payMined(made);
    await runes.until(made.id, ({ mintingTxs }) => mintingTxs.length === 3);
    await service.kill();
    // the node forgets the mints, and strangers use two mints
    const [commit] = await mempoolOfCommit(made.id);
    await service.chain.mine([]);
    expect(commit).toBeDefined();
    await service.begin();
    await service.chain.mine([await runes.mint(id), await runes.mint(id)]);
    await service.chain.mineMempool();
    const done = await runes.untilState(made.id, 'completed');
    expect(done.executedMints + done.failedMints.length + done.refundedMints).toBe(3);
    expect(done.executedMints).toBe(2);
    const { refund } = await runes.until(made.id, ({ refund: back }) => back !== undefined);
    expect(refund!.amount).toBeGreaterThan(0);
    await service.chain.mineMempool();
    expect(await runes.differences()).toEqual([]);
  });

  async function mempoolOfCommit(id: string): Promise<string[]> {
    const { rows } = await service.database.pool.query<{ txid: Buffer }>(
      `SELECT txid FROM service.wallet_transactions WHERE order_id = $1 AND kind = 'commit'`,
      [id],
    );
    return rows.map(({ txid }) => Buffer.from(txid).reverse().toString('hex'));
  }

  test('a reorganisation of mints, and a restart while they wait, end in the same mints', async () => {
    const { entry } = await runes.etch({});
    const made = await runes.order(entry.spaced_rune, 4);
    const { mintingTxs } = await sent(made);
    await service.kill();
    await service.begin();
    const { hash } = await service.chain.mineMempool();
    await runes.untilState(made.id, 'completed');
    await service.bitcoind.rpc.call('invalidateblock', [hash]);
    await service.chain.mineEmpty(2);
    expect((await runes.untilState(made.id, 'waiting-rune-balance')).executedMints).toBe(0);
    await runes.sent(mintingTxs);
    await service.chain.mineMempool();
    expect(await runes.untilState(made.id, 'completed')).toMatchObject({ executedMints: 4, mintingTxs });
    expect(await runes.differences()).toEqual([]);
  });

  test('an independent reader of the protocol finds the same mints and balances in the blocks', async () => {
    const { entry } = await runes.etch({ cap: asU128(2n) });
    await sent(await runes.order(entry.spaced_rune, 2));
    await service.chain.mineMempool();
    await expectModelOfChain(service);
  });
});
