import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { home, lentParents, owner, p2pkhHome } from '#test/support/orders/lent-parents.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { testWalletPayments } from '#test/support/orders/paying/wallet-payments.ts';

describe.skipIf(bitcoindForTests() === null)('orders with parents beside a real node', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 210);
  });
  afterAll(() => world?.close());
  const {
    inscribed,
    termsOf,
    ordered,
    to,
    send,
    etched,
    etchedOften,
    runesAt,
    shown,
    place,
    expectAt,
    expectChildren,
    accounts,
    audited,
    commitTold,
    told,
  } = lentParents(() => world);

  testWalletPayments(() => world);

  test('that arrive with the payment, in one transaction, are returned with the children', async () => {
    const [parent] = await inscribed(['together']);
    const { id, deposits, charge, quote } = await ordered(['a', 'b'], [termsOf(parent!, p2pkhHome)]);
    await world.until(id, 'waiting-parent');
    expect((await shown(id)).charge.address).toMatch(/^bcrt1p/u);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.until(id, 'waiting-confirmation');
    await world.deliver(id);
    await expectChildren(id, ['a', 'b'], [parent!]);
    await expectAt(parent!, p2pkhHome);
    const [lent] = (await shown(id)).parents;
    expect(lent?.depositAddress).toMatch(/^bcrt1p/u);
    expect(lent?.vout).toBe(0);
    expect(lent?.parentReturnTx).toMatch(/^[0-9a-f]{64}$/u);
    expect(await audited(id)).toEqual({
      outside: -quote.amount,
      postage: 1092,
      service: 4000,
      fee: quote.chainFee,
    });
    expect(told(id)).toEqual(['waiting-parent', 'waiting-confirmation', 'prep', 'queued', 'completed']);
  });

  test('that arrive before the payment end the first wait, and the payment is waited for then', async () => {
    const [one] = await inscribed(['before']);
    const [other] = await inscribed(['before, too'], 2000);
    const { id, deposits, charge } = await ordered(['c'], [termsOf(one!), termsOf(other!, p2pkhHome)]);
    await world.until(id, 'waiting-parent');
    await send([one!], [to(deposits[0], one!)]);
    await world.chain.mineMempool();
    await world.eventually(async () => (await shown(id)).parents[0]!.txid !== undefined);
    expect((await shown(id)).state).toBe('waiting-parent');
    await send([other!], [to(deposits[1], other!)]);
    await world.until(id, 'waiting-payment');
    await world.chain.mineMempool();
    const payment = await send([], [charge]);
    await world.until(id, 'waiting-confirmation');
    await world.deliver(id);
    await expectChildren(id, ['c'], [one!, other!]);
    expect(await commitTold(id)).toBe(payment);
    await expectAt(one!, scriptOf(home));
    await expectAt(other!, p2pkhHome);
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('that are missing when the charge is paid are waited for', async () => {
    const [parent] = await inscribed(['late']);
    const { id, deposits, charge } = await ordered(['d'], [termsOf(parent!)]);
    await send([], [charge]);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(id))['owed'] === charge.value);
    expect((await shown(id)).state).toBe('waiting-parent');
    await send([parent!], [to(deposits[0], parent!)]);
    await world.deliver(id);
    await expectChildren(id, ['d'], [parent!]);
    await expectAt(parent!, scriptOf(home));
  });

  test('with another value than named return with all that they brought', async () => {
    const [parent] = await inscribed(['other value'], 10_000);
    const { id, deposits, charge } = await ordered(['e', 'f'], [termsOf(parent!, scriptOf(home), 9900)]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    await expectChildren(id, ['e', 'f'], [parent!]);
    await expectAt(parent!, scriptOf(home), 10_000);
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('that share an output with a second inscription return with it', async () => {
    const [parent, second] = await inscribed(['first', 'second']);
    const { id, deposits, charge } = await ordered(['g'], [termsOf(parent!)]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    await expectChildren(id, ['g'], [parent!]);
    await expectAt(parent!, scriptOf(home));
    await expectAt(second!, scriptOf(home));
  });

  test('that are spent elsewhere instead are waited for again', async () => {
    const [parent] = await inscribed(['elsewhere']);
    const { id, deposits, charge } = await ordered(['h'], [termsOf(parent!)]);
    await send([], [charge]);
    await world.chain.mineMempool();
    await send([parent!], [to(deposits[0], parent!)]);
    await world.until(id, 'waiting-confirmation');
    // this transaction has a higher fee, and the parent stays with its owner
    const coin = await world.chain.coin();
    const replacing = transaction(
      [parent!.coin, coin],
      [
        { value: parent!.coin.value, to: owner },
        { value: coin.value - 5000, to: coin.owner },
      ],
    );
    await world.chain.broadcast(replacing);
    await world.until(id, 'waiting-parent');
    await world.chain.mineMempool();
    await send([{ ...parent!, coin: replacing.coin(0) }], [to(deposits[0], parent!)]);
    await world.deliver(id);
    await expectChildren(id, ['h'], [parent!]);
    await expectAt(parent!, scriptOf(home));
  });

  test('pass from one reveal to the next, with a prefix, and return with the last', async () => {
    const [parent] = await inscribed(['of several']);
    const texts = ['i', 'j', 'k'];
    const terms = { uncurse: true };
    const { id, deposits, charge } = await ordered(texts, [termsOf(parent!)], { terms, prefix: 'ab' });
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    await expectChildren(id, texts, [parent!]);
    await expectAt(parent!, scriptOf(home));
    const { files } = await shown(id);
    expect(files.map(({ inscriptionId }) => inscriptionId.slice(0, 2))).toEqual(['ab', 'ab', 'ab']);
    const { rows } = await world.database.pool.query<{ curse: number }>(
      'SELECT curse FROM chain.inscriptions WHERE txid = ANY($1)',
      [files.map(({ inscriptionId }) => Buffer.from(parseInscriptionId(inscriptionId)!.txid))],
    );
    expect(rows.map(({ curse }) => curse)).toEqual([0, 0, 0]);
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('pass through more reveals than nodes chain, block by block', { tags: ['proof'] }, async () => {
    const [parent] = await inscribed(['of many']);
    const texts = Array.from({ length: 70 }, (_, index) => `many ${index}`);
    const { id, deposits, charge } = await ordered(texts, [termsOf(parent!)], { terms: { uncurse: true } });
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.chain.mineMempool();
    await world.until(id, 'queued');
    await world.sent(id, ['commit']);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await shown(id)).state === 'completed';
    });
    await expectChildren(id, texts, [parent!]);
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('with runes return with them, each to its owner', async () => {
    const [one] = await inscribed(['with runes']);
    const [other] = await inscribed(['with other runes']);
    const held = [await etched(one!, 7n), await etched(other!, 9n)];
    const terms = held.map((parent, index) => termsOf(parent, index === 0 ? scriptOf(home) : p2pkhHome));
    const { id, deposits, charge } = await ordered(['p', 'q'], terms);
    // the runes go to the first output, except the runes of the second edict
    const [first, second] = await Promise.all(held.map((parent) => runesAt(parent.coin)));
    expect([first, second]).toEqual(['7', '9']);
    await send(held.slice(0, 1), [to(deposits[0], held[0]!)]);
    await send(held.slice(1), [to(deposits[1], held[1]!)]);
    await send([], [charge]);
    await world.deliver(id);
    await expectChildren(id, ['p', 'q'], held);
    for (const [index, amount] of ['7', '9'].entries()) {
      const found = await place(held[index]!.id);
      expect(found.script.toString('hex')).toBe(Buffer.from(terms[index]!.returnScript).toString('hex'));
      expect(await runesAt({ txid: Buffer.from(found.txid).reverse().toString('hex'), vout: index })).toBe(
        amount,
      );
    }
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test.each([
    { name: 'one reveal', texts: ['r'] },
    { name: 'several reveals', texts: ['s', 't', 'u'].map((text) => text.repeat(200_000)) },
  ])(
    'whose runes cost more to return than the service earns are waited for, and so is that money, once: $name',
    async ({ name, texts }) => {
      // one rune needs one edict, and many runes need an edict each
      const lent = [await etchedOften(`one rune, ${name}`, 1), await etchedOften(`many runes, ${name}`, 9)];
      const terms = { feeRate: 400_000n };
      const { id, deposits, charge } = await ordered(
        texts,
        lent.map((parent) => termsOf(parent)),
        { terms },
      );
      for (const [index, parent] of lent.entries()) await send([parent], [to(deposits[index], parent)]);
      await send([], [charge]);
      await world.chain.mineMempool();
      await world.eventually(async () => (await shown(id)).missing !== undefined);
      expect((await shown(id)).state).toBe('waiting-payment');
      await send([], [{ ...charge, value: (await shown(id)).missing! }]);
      await world.eventually(async () => {
        // large reveals are sent one block after another
        await world.chain.mineMempool();
        return (await shown(id)).state === 'completed';
      });
      await expectChildren(id, texts, lent);
      for (const parent of lent) await expectAt(parent, scriptOf(home));
      const { txid } = await place(lent[1]!.id);
      const { rows } = await world.database.pool.query<{ vout: number; runes: number }>(
        'SELECT vout, count(*)::int AS runes FROM chain.rune_balances WHERE txid = $1 GROUP BY vout ORDER BY vout',
        [txid],
      );
      expect(rows).toEqual([
        { vout: 0, runes: 1 },
        { vout: 1, runes: 9 },
      ]);
      expect(await audited(id)).not.toHaveProperty('deposit');
    },
  );

  test('that a reorganisation removes with everything else are delivered again, with the same ids', async () => {
    const [parent] = await inscribed(['reorganised']);
    const { id, deposits, charge } = await ordered(['o'], [termsOf(parent!)]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const before = await shown(id);
    await world.chain.takeBack(2);
    await world.chain.mineEmpty(3);
    await world.until(id, 'waiting-confirmation');
    expect(await audited(id)).toEqual({});
    await world.chain.mineMempool();
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    expect((await shown(id)).files).toMatchObject(
      before.files.map(({ inscriptionId }) => ({ inscriptionId })),
    );
    await expectChildren(id, ['o'], [parent!]);
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });
});
