import { expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type EtchingOrders, receiver } from '#test/support/orders/etching-orders.ts';

/** Owner who receives the refunds of only one order. */
const ownRefunds = 835;

/** Tests in which a rival takes the name between steps that the other tests leave out. */
export function rivalCases(given: () => EtchingOrders): void {
  test('an order whose name a stranger etches after the price is refused, and has no address', async () => {
    const orders = given();
    const claim = await orders.ripeRival('TAKENAFTERPRICE');
    const body = { rune: 'TAKENAFTERPRICE', premine: 5, receiveAddress: addressOf(receiver) };
    const priced = await orders.service.post('/price', { type: 'rune-etch', order: body });
    expect(priced.status).toBe(200);
    await orders.service.chain.mine([claim.reveal]);
    const refused = await orders.service.eventually(async () => {
      const answer = await orders.service.post('/runes/etch', body);
      return answer.status === 400 && ((await answer.json()) as { error: { msg: string }[] });
    });
    expect(refused.error[0]!.msg).toMatch(
      /^rune: The rune TAKENAFTERPRICE was already etched, in block \d+\./u,
    );
  });

  test('an order whose name is taken before the payment is refunded whole once it is paid', async () => {
    const orders = given();
    const claim = await orders.ripeRival('TAKENBEFOREPAYMENT');
    const made = await orders.order({ rune: 'TAKENBEFOREPAYMENT', premine: 5 });
    await orders.service.chain.mine([claim.reveal]);
    await orders.pay(made);
    await orders.service.chain.mineMempool();
    const shown = await orders.untilState(made.id, 'waiting-refund');
    expect([shown.error, shown.etchingTx]).toEqual([
      expect.stringContaining('was already etched'),
      undefined,
    ]);
    const { refund } = await orders.until(made.id, ({ refund: sent }) => sent !== undefined);
    await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'refunded');
    expect(refund!.amount).toBeGreaterThan(made.charge.amount - 500);
    expect(await orders.differences()).toEqual([]);
  });

  test('a customer who takes the name while the reveal waits bears the fee of the commit, and other reveals are sent', async () => {
    const orders = given();
    const { chain } = orders.service;
    // other orders may be refunded to a shared address at any time, so this order has its own
    const taken = await orders.order({
      rune: 'TAKENBYMYSELF',
      premine: 5,
      refundAddress: addressOf(ownRefunds),
    });
    const other = await orders.order({ rune: 'FREEALLTHETIME', premine: 5 });
    for (const each of [taken, other]) await orders.pay(each);
    await chain.mineMempool();
    for (const { id } of [taken, other]) await orders.until(id, ({ etchingTx }) => etchingTx !== undefined);
    // the claim is as deep as both commits, and its etching is in the mempool when the reveals of the orders are due
    const claim = await orders.rival('TAKENBYMYSELF');
    await chain.broadcast(claim.commit);
    await chain.mineMempool();
    await chain.mineEmpty(3);
    for (const { id } of [taken, other]) await orders.untilState(id, 'waiting-reveal');
    await orders.service.bitcoind.rpc.call('sendrawtransaction', [claim.reveal.hex, 0, 21_000_000]);
    await orders.service.eventually(
      async () =>
        (await orders.shown<{ transactions?: unknown }>('/mempool/runes')) !== null &&
        JSON.stringify(await orders.shown('/mempool/runes')).includes(claim.reveal.txid),
    );
    await chain.mineEmpty(1);
    await orders.revealed(other.id);
    const shown = await orders.untilState(taken.id, 'waiting-refund');
    expect(shown.error).toBe(
      `The pending transaction ${claim.reveal.txid} etches the name TAKENBYMYSELF. Choose another name.`,
    );
    await orders.until(taken.id, ({ refund }) => refund !== undefined);
    await chain.mineMempool();
    await orders.untilState(other.id, 'completed');
    await orders.untilState(taken.id, 'refunded');
    expect(await orders.runeOf('TAKENBYMYSELF')).toMatchObject({ etching: claim.reveal.txid });
    const back = await chain.unspentOf(ownRefunds);
    const { rows } = await orders.service.database.pool.query<{ fees: number }>(
      `SELECT sum(fee)::integer AS fees FROM service.wallet_transactions
        WHERE order_id = $1 AND superseded_at IS NULL AND kind IN ('commit', 'refund')`,
      [taken.id],
    );
    // the service neither gains nor loses anything
    expect(back).toBe(taken.charge.amount - rows[0]!.fees);
    expect(await orders.differences()).toEqual([]);
  });
}
