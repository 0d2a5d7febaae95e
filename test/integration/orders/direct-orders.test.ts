import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { WantedOrder } from '#orders/creating/create-order.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { sweepLeaves } from '#orders/files/sweep-leaves.ts';
import { processOrder } from '#orders/following/process-order.ts';
import { cancelOrder, refundOrder, retryOrder } from '#orders/operator/operator-orders.ts';
import { orderRecoveryKit } from '#orders/operator/order-recovery-kit.ts';
import { readLeaves, setRefundScript } from '#orders/order/order.store.ts';
import { putReferral, readReferral } from '#orders/referrals/referral.store.ts';
import { watcherOf } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder as wanted } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { forgetTransactions } from '#test/support/orders/forget-transactions.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const refunded = 701;

/** An order with a referral. The referral gets 300 sats of the base fee, and the customer's addition. */
const referred = (order: WantedOrder, referral: string, additional: number): WantedOrder => ({
  ...order,
  request: { ...order.request, referral, additionalFee: Number(order.terms.additionalFee) },
  quote: { ...order.quote, additionalFeeCharged: additional, referralFee: 300 },
});

describe.skipIf(bitcoindForTests() === null)('direct orders beside a real node', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start();
  });
  afterAll(() => world?.close());

  /** Pays to a script, in an unconfirmed transaction. */
  async function pay(script: Uint8Array, value: number) {
    const { coin } = await world.chain.pay(script, value);
    return coin;
  }

  async function lookAt(id: string): Promise<Date | null | undefined> {
    const { rows } = await world.database.pool.query<{ look_at: Date | null }>(
      'SELECT look_at FROM service.orders WHERE id = $1',
      [id],
    );
    return rows[0]?.look_at;
  }

  /** The accounts of an order that are not empty. */
  async function accounts(id: string): Promise<Record<string, number>> {
    const balances = balancesOf(await readEntries(world.database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...balances].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  async function answerOf(id: string): Promise<{ files: { inscriptionId: string }[]; paid?: boolean }> {
    const found = await world.customerOrders.read(id);
    return orderAnswer(found!.order, found!, networks.regtest, 'http://orders.test') as never;
  }

  async function expectDelivered(id: string, texts: readonly string[]): Promise<void> {
    const { files } = await answerOf(id);
    expect(files).toHaveLength(texts.length);
    for (const [index, text] of texts.entries()) {
      const { txid, index: place } = parseInscriptionId(files[index]!.inscriptionId)!;
      const { rows } = await world.database.pool.query<{ body: Buffer; address: string; value: number }>(
        `SELECT c.body FROM chain.inscriptions AS i JOIN chain.contents AS c USING (content_id)
          WHERE i.txid = $1 AND i.index = $2`,
        [txid, place],
      );
      expect(rows.map(({ body }) => body.toString())).toEqual([text]);
    }
  }

  test('is paid exactly, seen, confirmed, revealed, indexed and completed, and every sat is accounted for', async () => {
    const order = wanted(['hello']);
    const { order: made } = await world.customerOrders.create(order);
    await pay(made.script, Number(made.amount));
    await world.until(made.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.until(made.id, 'queued');
    expect(await answerOf(made.id)).toMatchObject({ paid: true });
    await world.sent(made.id);
    await world.chain.mineMempool();
    await world.until(made.id, 'completed');
    await expectDelivered(made.id, ['hello']);
    const { chainFee, amount } = order.quote;
    expect(await accounts(made.id)).toEqual({ outside: -amount, postage: 546, service: 2000, fee: chainFee });
    expect(world.told.filter(({ id }) => id === made.id).map(({ state }) => state)).toEqual([
      'waiting-confirmation',
      'prep',
      'queued',
      'completed',
    ]);
  });

  test('with a referral books its share once it is delivered', async () => {
    const { pool } = world.database;
    await putReferral(pool, { code: 'friend', address: 'of a friend', script: scriptOf(refunded) });
    const plain = wanted(['one', 'two'], { additionalFee: 250n });
    const { order } = await world.customerOrders.create(referred(plain, 'friend', 500));
    await pay(order.script, Number(order.amount));
    await world.until(order.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    // nothing is delivered yet
    expect(await accounts(order.id)).not.toHaveProperty('referral');
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    const { chainFee, amount } = plain.quote;
    expect(await accounts(order.id)).toEqual({
      outside: -amount,
      postage: 1092,
      // the base fees are 2 × 2,000, and the customer's additions are 2 × 250
      service: 3700,
      referral: 800,
      fee: chainFee,
    });
    const shares = (await readEntries(pool, { kind: 'order', id: order.id })).filter(
      ({ to }) => to === 'referral',
    );
    expect(shares.map(({ from, amount: sats, toOwner }) => [from, sats, toOwner])).toEqual([
      ['owed', 500n, 'friend'],
      ['service', 300n, 'friend'],
    ]);
    expect(await readReferral(pool, { code: 'friend', script: scriptOf(refunded) })).toEqual({
      address: 'of a friend',
      orders: 1,
      paid: 1,
    });
    expect((await world.audit()).differences).toEqual([]);
  });

  test('with a referral, overpaid and reorganised, books its share once and overdraws nothing', async () => {
    const { pool } = world.database;
    await putReferral(pool, { code: 'other', address: 'of another', script: scriptOf(refunded) });
    const plain = { ...wanted(['shared'], { additionalFee: 700n }), refundScript: scriptOf(refunded) };
    const { order } = await world.customerOrders.create(referred(plain, 'other', 700));
    await pay(order.script, plain.quote.amount + 40_000);
    await world.until(order.id, 'waiting-confirmation');
    await world.deliver(order.id);
    await world.sent(order.id, ['refund']);
    const delivered = { postage: 546, service: 1700, referral: 1000 };
    expect(await accounts(order.id)).toMatchObject({ ...delivered, owed: 40_000 });
    await world.chain.takeBack(2);
    await world.chain.mineEmpty(3);
    await world.until(order.id, 'waiting-confirmation');
    // the payment is in no block, so it is not booked
    expect(await accounts(order.id)).toEqual({});
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await accounts(order.id))['owed'] === undefined;
    });
    const after = await accounts(order.id);
    expect(after).toMatchObject(delivered);
    // everything else was refunded, minus fees
    expect(-(after['outside'] ?? 0)).toBe(546 + 1700 + 1000 + (after['fee'] ?? 0));
    expect((await world.audit()).differences).toEqual([]);
  });

  test('with many files is one reveal, with an output for each', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `file ${index}`);
    const { order } = await world.customerOrders.create(wanted(texts));
    await pay(order.script, Number(order.amount));
    await world.deliver(order.id);
    await expectDelivered(order.id, texts);
  });

  test('paid in three parts is delivered; paid too little is refunded', async () => {
    const inParts = wanted(['in parts']);
    const { order } = await world.customerOrders.create(inParts);
    const third = Math.ceil(inParts.quote.amount / 3);
    for (const value of [third, third, inParts.quote.amount - 2 * third]) await pay(order.script, value);
    await world.deliver(order.id);
    await expectDelivered(order.id, ['in parts']);

    const { order: short } = await world.customerOrders.create({ ...wanted(['short']), timeoutMinutes: 0 });
    await pay(short.script, Number(short.amount) - 1);
    await world.until(short.id, 'waiting-refund');
    await withTransaction(world.database.pool, (tx) => setRefundScript(tx, short.id, scriptOf(refunded)));
    await world.chain.mineMempool();
    await world.sent(short.id, ['refund']);
    await world.chain.mineMempool();
    await world.until(short.id, 'refunded');
    expect((await accounts(short.id))['owed']).toBeUndefined();
  });

  test('paid in part cannot be cancelled or refunded by the operator before the end of its time', async () => {
    const { pool } = world.database;
    const { order } = await world.customerOrders.create(wanted(['in part']));
    await pay(order.script, 1000);
    await waitUntil(async () => (await readPayments(pool, watcherOf(order.id))).length === 1);
    const end = order.expiresAt.toISOString();
    const cancelling = expect(cancelOrder(pool, order.id)).rejects;
    await cancelling.toThrow(
      `it cannot be cancelled. If the amount is not complete at ${end}, the payments are refunded`,
    );
    const refunding = expect(refundOrder(pool, order.id, scriptOf(refunded))).rejects;
    await refunding.toThrow(`waiting-payment, until ${end}, so it cannot be refunded`);
  });

  test('paid too much is delivered, and the excess above dust is refunded', async () => {
    const order = { ...wanted(['too much']), refundScript: scriptOf(refunded) };
    const { order: made } = await world.customerOrders.create(order);
    await pay(made.script, order.quote.amount + 50_000);
    await world.deliver(made.id);
    await world.sent(made.id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(made.id))['owed'] === undefined);
    const { service, postage, outside = 0, fee = 0 } = await accounts(made.id);
    expect({ service, postage }).toEqual({ service: 2000, postage: 546 });
    expect(-outside).toBe(2546 + fee);
    expect((await world.customerOrders.read(made.id))!.order.state).toBe('completed');

    const dust = wanted(['a little too much']);
    const { order: little } = await world.customerOrders.create({
      ...dust,
      refundScript: scriptOf(refunded),
    });
    await pay(little.script, dust.quote.amount + 329);
    await world.deliver(little.id);
    expect((await accounts(little.id))['service']).toBe(2329);
  });

  test('paid again after it is completed refunds the second payment', async () => {
    const order = { ...wanted(['twice']), refundScript: scriptOf(refunded) };
    const { order: made } = await world.customerOrders.create(order);
    await pay(made.script, order.quote.amount);
    await world.deliver(made.id);
    await pay(made.script, order.quote.amount);
    await world.chain.mineMempool();
    await world.sent(made.id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(made.id))['owed'] === undefined);
    expect(await accounts(made.id)).toMatchObject({ postage: 546, service: 2000 });
    expect((await world.audit()).differences).toEqual([]);
  });

  test('that are unpaid lose their leaves a week after their time, and still refund later payments', async () => {
    const { pool } = world.database;
    const refundScript = scriptOf(refunded);
    const uncursed = { uncurse: true };
    const kinds = [
      wanted(['late']),
      wanted(['late', 'too'], uncursed),
      wanted(['known late']),
      wanted(['younger']),
    ];
    const made = [];
    for (const kind of kinds)
      made.push((await world.customerOrders.create({ ...kind, refundScript, timeoutMinutes: 0 })).order);
    const [direct, large, knownLate, younger] = made.map(({ id }) => id) as [string, string, string, string];
    for (const { id } of made) {
      await world.wake(id);
      await world.until(id, 'expired');
    }
    const leaves = async (id: string): Promise<number> => (await readLeaves(pool, id)).length;
    const ages = (days: number, ids: readonly string[]) =>
      pool.query(
        `WITH told AS (UPDATE service.order_events SET at = at - $2 * interval '1 day' WHERE order_id = ANY($1))
         UPDATE service.orders SET expires_at = expires_at - $2 * interval '1 day' WHERE id = ANY($1)`,
        [ids, days],
      );
    const swept = async (): Promise<number> => {
      const client = await pool.connect();
      return sweepLeaves(client, new AbortController().signal).finally(() => client.release());
    };
    await world.chain.mineEmpty(1);
    await world.indexed();
    await ages(
      6,
      made.map(({ id }) => id),
    );
    expect(await swept()).toBe(0);
    const before = await orderRecoveryKit(pool, direct, { reveal: null, parent: null });
    await ages(2, [direct, large, knownLate]);
    // refused requests store nothing
    await pool.query(
      "INSERT INTO service.order_events (order_id, event, from_state) VALUES ($1, 'cancelled', 'expired')",
      [direct],
    );
    expect(await swept()).toBe(3);
    for (const id of [direct, large, knownLate]) expect(await leaves(id)).toBe(0);
    expect(await leaves(younger)).toBe(1);
    expect(await swept()).toBe(0);
    // the address still belongs to the key, with the hash of the leaf instead of the leaf
    const kit = await orderRecoveryKit(pool, direct, { reveal: null, parent: null });
    expect(kit).toEqual({
      ...before,
      leafScript: null,
      leafHash: expect.stringMatching(/^[0-9a-f]{64}$/u) as string,
    });
    await expect(orderRecoveryKit(pool, large, { reveal: 0, parent: null })).rejects.toThrow('no reveals');

    // the payment was first seen within the order's time, but is known only now
    await pool.query("UPDATE service.orders SET expires_at = now() + interval '1 hour' WHERE id = $1", [
      knownLate,
    ]);
    for (const { id, script, amount } of made) if (id !== younger) await pay(script, Number(amount));
    for (const id of [direct, large]) await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    for (const id of [direct, large, knownLate]) await world.sent(id, ['refund']);
    const late = await world.customerOrders.read(knownLate);
    expect(late!.order.error).toContain('the files of the order were already deleted');
    expect(late!.transactions.map(({ kind }) => kind)).toEqual(['refund']);
    await world.chain.mineMempool();
    for (const id of [direct, large, knownLate]) {
      await world.until(id, 'refunded');
      const { fee = 0, ...others } = await accounts(id);
      const { amount } = made.find((order) => order.id === id)!;
      expect(others).toEqual({ outside: -fee });
      expect(fee).toBeLessThan(Number(amount) / 2);
    }
    expect((await world.audit()).differences).toEqual([]);

    // rows of files are deleted later, so their names may be long
    expect((await world.customerOrders.read(direct))!.files).toHaveLength(1);
    await pool.query(
      "UPDATE service.orders SET leaves_deleted_at = now() - interval '24 days' WHERE id = $1",
      [direct],
    );
    await swept();
    const read = (await world.customerOrders.read(direct))!;
    expect([read.files, read.order.state]).toEqual([[], 'refunded']);
    expect((await world.customerOrders.read(large))!.files).toHaveLength(2);
  });

  test('created and paid before payments were ever followed are found, too', async () => {
    await world.indexed();
    await world.stop();
    await world.database.pool.query('DELETE FROM service.payments_offset');
    await world.database.pool.query('DELETE FROM service.payment_blocks');
    const { order } = await world.customerOrders.create(wanted(['first']));
    await pay(order.script, Number(order.amount));
    await world.chain.mineMempool();
    await world.chain.mineEmpty(2);
    await world.follow();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
  });

  test('are not taken while the node relays no reveals', async () => {
    const { pool } = world.database;
    await pool.query(
      `INSERT INTO chain.mempool_state
         (revision, state, source, transactions, kept, left_out, kept_bytes, since, updated_at, reveals)
       VALUES (1, 'following', 'zmq', 0, 0, 0, 0, now(), now(), 'refused')`,
    );
    try {
      await expect(world.customerOrders.create(wanted(['never']))).rejects.toMatchObject({
        code: 'orders_off',
      });
    } finally {
      await pool.query('DELETE FROM chain.mempool_state');
    }
  });

  test('too large for one reveal is paid to the wallet, which makes a commit and several reveals', async () => {
    const texts = [0, 1, 2].map((index) => `${index}`.repeat(200_000));
    const order = wanted(texts);
    expect(order.layout.paidTo).toBe('wallet');
    const { order: made } = await world.customerOrders.create(order);
    await pay(made.script, order.quote.amount);
    await world.chain.mineMempool();
    await world.until(made.id, 'queued');
    // together, the reveals exceed a cluster of unconfirmed transactions, so they wait for the commit's block
    await world.sent(made.id, ['commit']);
    await world.chain.mineMempool();
    await world.sent(made.id);
    await world.chain.mineMempool();
    await world.until(made.id, 'completed');
  });

  test('with a prefix has ids that begin with it, the same ones after a crash during the search', async () => {
    const { order } = await world.customerOrders.create(wanted(['begins', 'with'], {}, 'beef'));
    await pay(order.script, Number(order.amount));
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    const idsOf = async () => (await answerOf(order.id)).files.map(({ inscriptionId }) => inscriptionId);
    const ids = await idsOf();
    expect(ids).toEqual([expect.stringMatching(/^beef.*i0$/u), expect.stringMatching(/^beef.*i1$/u)]);
    await world.stop();
    // make the tables of an order whose lock time is being searched, when nothing is stored yet
    const { pool } = world.database;
    await forgetTransactions(pool, order.id);
    await pool.query(`UPDATE service.orders SET state = 'prep' WHERE id = $1`, [order.id]);
    await world.follow();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    expect(await idsOf()).toEqual(ids);
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    await expectDelivered(order.id, ['begins', 'with']);
    expect(await answerOf(order.id)).toMatchObject({ inscriptionIdPrefix: 'beef' });
    expect(await idsOf()).toEqual(ids);
  });

  test('with a prefix waits again if a reorganisation removes the payment while lock times are searched', async () => {
    const { order } = await world.customerOrders.create(wanted(['searched'], {}, 'abc'));
    await pay(order.script, Number(order.amount));
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.stop();
    const steps = {
      confirmationsFor: () => 1,
      finalConfirmations: 1,
      returnMaxSats: 0n,
      network: networks.regtest,
      placeSats: () => ({ kind: 'pending' }) as const,
      makeReveals: () => Promise.reject(new Error('there is nothing to spend')),
      makeReturn: () => Promise.resolve(null),
      makeRefund: () => Promise.resolve(null),
      market: { add: () => Promise.resolve(), remove: () => Promise.resolve() },
      restock: async () => undefined,
      tell: () => Promise.resolve(),
    };
    const tx = await world.database.pool.connect();
    try {
      await tx.query('BEGIN');
      // lock times are still being searched, but payments have already seen the reorganisation
      await forgetTransactions(tx, order.id);
      await tx.query(`UPDATE service.orders SET state = 'prep' WHERE id = $1`, [order.id]);
      await tx.query('UPDATE service.payments_seen SET height = NULL, hash = NULL WHERE script = $1', [
        Buffer.from(order.script),
      ]);
      expect(await processOrder(tx, order.id, steps, new Date())).toBe('waiting-confirmation');
    } finally {
      await tx.query('ROLLBACK');
      tx.release();
      await world.follow();
    }
  });

  test('whose reveals cannot be made is an error in the same round that finds it paid, and can be retried', async () => {
    const { pool } = world.database;
    const { order } = await world.customerOrders.create(wanted(['a fault', 'of ours'], { uncurse: true }));
    await pay(order.script, Number(order.amount));
    await world.until(order.id, 'waiting-confirmation');
    const [leaf] = await readLeaves(pool, order.id);
    await pool.query('DELETE FROM service.order_leaves WHERE order_id = $1 AND index = 0', [order.id]);
    await world.chain.mineMempool();
    await world.until(order.id, 'error');
    const { error } = (await world.customerOrders.read(order.id))!.order;
    expect(error).toMatch(/^The transactions cannot be made: /u);
    await pool.query('INSERT INTO service.order_leaves (order_id, index, leaf) VALUES ($1, 0, $2)', [
      order.id,
      leaf,
    ]);
    await retryOrder(pool, order.id);
    await world.deliver(order.id);
    await expectDelivered(order.id, ['a fault', 'of ours']);
  });

  test('with a prefix and several reveals has it in each', async () => {
    const texts = ['one', 'two', 'three'];
    const { order } = await world.customerOrders.create(wanted(texts, { uncurse: true }, 'a1b'));
    expect(order.paidTo).toBe('wallet');
    await pay(order.script, Number(order.amount));
    await world.deliver(order.id);
    await expectDelivered(order.id, texts);
    const ids = (await answerOf(order.id)).files.map(({ inscriptionId }) => inscriptionId);
    expect(new Set(ids).size).toBe(3);
    expect(ids.map((id) => id.slice(0, 3))).toEqual(['a1b', 'a1b', 'a1b']);
  });

  test('whose payment and reveal a reorganisation removes is delivered again, with the same id', async () => {
    const { order } = await world.customerOrders.create(wanted(['again']));
    await pay(order.script, Number(order.amount));
    await world.deliver(order.id);
    const before = (await answerOf(order.id)).files[0]!.inscriptionId;
    await world.chain.takeBack(2);
    await world.chain.mineEmpty(3);
    await world.until(order.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    expect((await answerOf(order.id)).files[0]!.inscriptionId).toBe(before);
    await expectDelivered(order.id, ['again']);
  });

  test('whose reveal also spends a second payment is delivered if a reorganisation removes only that one', async () => {
    const { order } = await world.customerOrders.create(wanted(['one of two']));
    // only two payments together pay the order
    const amount = Number(order.amount);
    const [part, less] = [Math.ceil(amount * 0.6), Math.ceil(amount * 0.55)];
    await pay(order.script, part);
    await pay(order.script, less);
    const coin = await pay(order.script, part);
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    const spent = (values: readonly number[]) => async () => {
      const { transactions } = (await world.customerOrders.read(order.id))!;
      const [reveal] = transactions;
      const inputs = reveal?.plan.inputs.map(({ value }) => value) ?? [];
      // if both are in one block, their txids decide which is first
      return inputs.toSorted((a, b) => b - a).join() === values.join() && reveal?.sentAt !== null;
    };
    await world.eventually(spent([part, part]));
    // the service does not see the blocks in between, so for the service the first payment was never less deep
    await world.stop();
    await world.chain.takeBack(1);
    await world.chain.broadcast(transaction([coin], [{ value: coin.value - 50_000, to: coin.owner }]));
    await world.chain.mineMempool();
    await world.chain.mineMempool();
    await world.follow();
    await world.eventually(spent([part, less]));
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    await expectDelivered(order.id, ['one of two']);
  });

  test('that wait for people are not processed in each round', async () => {
    const { order: short } = await world.customerOrders.create({
      ...wanted(['no address']),
      timeoutMinutes: 0,
    });
    await pay(short.script, Number(short.amount) - 1);
    await world.until(short.id, 'waiting-refund');
    await world.eventually(async () => (await lookAt(short.id)) === null);
    const { order: unwanted } = await world.customerOrders.create(wanted(['not any more']));
    expect(await world.customerOrders.cancel(unwanted.id)).toBe(true);
    await world.eventually(async () => (await lookAt(unwanted.id)) === null);
  });

  test('whose cancellation was refused are not cancelled later', async () => {
    const { order } = await world.customerOrders.create(wanted(['cancelled too late']));
    await pay(order.script, Number(order.amount));
    await world.until(order.id, 'waiting-confirmation');
    expect(await world.customerOrders.cancel(order.id)).toBe(false);
    await world.eventually(async () => !(await world.customerOrders.read(order.id))!.order.isCancelAsked);
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
  });
});
