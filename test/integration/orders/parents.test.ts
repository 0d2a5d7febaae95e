import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encipher } from '#indexer/runes/encipher.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { WantedOrder } from '#orders/creating/create-order.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { readEntries } from '#orders/ledger/ledger.store.ts';
import { balancesOf } from '#orders/ledger/ledger.ts';
import { readOrder } from '#orders/order/order.store.ts';
import { orderAnswer } from '#orders/order-answer.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { tellCustomer, webhookSubjectOf } from '#orders/tell-customer.ts';
import {
  type Coin,
  type Payment,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

/** The owner of parents, and where they and refunds go back to. */
const owner = 800;
const home = 801;
const refunded = 802;
const p2pkhHome = Buffer.from(`76a914${'37'.repeat(20)}88ac`, 'hex');

interface ShownParents {
  readonly state: string;
  readonly error?: string;
  readonly charge: { readonly address: string };
  readonly files: readonly { readonly inscriptionId: string }[];
  readonly parents: readonly {
    readonly depositAddress: string;
    readonly txid?: string;
    readonly vout?: number;
    readonly parentReturnTx?: string;
  }[];
}

/** Of a rune with a name that the protocol gives it, all of it premined. */
const etchingOf = (amount: bigint) => ({
  divisibility: null,
  rune: null,
  spacers: null,
  symbol: null,
  terms: null,
  turbo: false,
  premine: asU128(amount),
});

/** An inscription of somebody, and the output that it lies in. */
interface Held {
  readonly id: InscriptionId;
  readonly coin: Coin;
}

describe.skipIf(bitcoindForTests() === null)('orders with parents beside a real node', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 160);
  });
  afterAll(() => world?.close());

  /** Inscriptions in one output of their owner. */
  async function inscribed(bodies: readonly string[], value = 10_000): Promise<readonly Held[]> {
    const contents = bodies.map((body, index) => ({ contentType: 'text/plain', body, pointer: index * 600 }));
    const { transactions, reveal } = await world.chain.inscribe(contents, { postage: value, to: owner });
    await world.chain.mine(transactions);
    await world.indexed();
    return bodies.map((_, index) => ({ id: parseInscriptionId(reveal.id(index))!, coin: reveal.coin(0) }));
  }

  const termsOf = ({ id, coin }: Held, returnScript: Uint8Array = scriptOf(home), value = coin.value) => ({
    id,
    value: BigInt(value),
    returnScript,
  });

  /** An order of children, and where its parents go. */
  async function ordered(
    texts: readonly string[],
    parents: OrderTerms['parents'],
    {
      terms = {},
      prefix = null,
      ...more
    }: Omit<Partial<WantedOrder>, 'terms'> & { terms?: Partial<OrderTerms>; prefix?: string | null } = {},
  ) {
    const wanted = {
      ...wantedOrder(texts, { parents, ...terms }, prefix),
      refundScript: scriptOf(refunded),
      ...more,
    };
    const { order } = await world.desk.create(wanted);
    const deposits = (await readDepositAddresses(world.database.pool, order.id)).map(({ script }) => script);
    const charge: Payment = { outputScript: order.script, value: Number(order.amount) };
    return { id: order.id, deposits, charge, quote: wanted.quote };
  }

  const to = (outputScript: Uint8Array | undefined, { coin: { value } }: Held): Payment => ({
    outputScript: outputScript!,
    value,
  });

  /** Little: the node learns from it what transactions cost, and so what goes home pays. */
  const fee = 500;

  /** Spends what is held, in its order, and a coin for the rest. Its txid. */
  async function send(held: readonly Held[], payments: readonly Payment[]): Promise<string> {
    const coin = await world.chain.coin();
    const paid = payments.reduce((sum, { value }) => sum + value, 0);
    const brought = held.reduce((sum, one) => sum + one.coin.value, coin.value);
    const change = { value: brought - paid - fee, to: coin.owner };
    const made = transaction([...held.map((one) => one.coin), coin], [...payments, change]);
    await world.chain.broadcast(made);
    return made.txid;
  }

  /** The same with runes of a new kind beside it, in the output that holds it. */
  async function etched(held: Held, amount: bigint): Promise<Held> {
    const coin = await world.chain.coin();
    const outputScript = encipher({
      kind: 'runestone',
      edicts: [],
      mint: null,
      pointer: null,
      etching: etchingOf(amount),
    });
    const made = transaction(
      [held.coin, coin],
      [
        { value: held.coin.value, to: owner },
        { value: coin.value - 5000, to: coin.owner },
        { value: 0, outputScript },
      ],
    );
    await world.chain.mine([made]);
    await world.indexed();
    return { ...held, coin: made.coin(0) };
  }

  /** How much an output holds of the runes that there are. */
  async function runesAt({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): Promise<string | undefined> {
    const { rows } = await world.database.pool.query<{ amount: string }>(
      'SELECT amount::text FROM chain.rune_balances WHERE txid = $1 AND vout = $2 AND spent_height IS NULL',
      [Buffer.from(txid, 'hex').reverse(), vout],
    );
    expect(rows.length).toBeLessThan(2);
    return rows[0]?.amount;
  }

  async function shown(id: string): Promise<ShownParents> {
    const found = await world.desk.read(id);
    return orderAnswer(found!.order, found!) as never;
  }

  /** Where the index has an inscription. */
  async function place({
    txid,
    index,
  }: InscriptionId): Promise<{ script: Buffer; value: number; txid: Buffer }> {
    const { rows } = await world.database.pool.query<{ script: Buffer; value: number; txid: Buffer }>(
      `SELECT l.script, l.value, l.txid FROM chain.inscriptions AS i JOIN chain.locations AS l USING (key)
        WHERE i.txid = $1 AND i.index = $2 AND l.spent_height IS NULL ORDER BY l.height DESC, l.step DESC LIMIT 1`,
      [txid, index],
    );
    return rows[0]!;
  }

  const expectAt = async (held: Held, script: Uint8Array, value = held.coin.value) => {
    const found = await place(held.id);
    expect([found.script.toString('hex'), found.value]).toEqual([Buffer.from(script).toString('hex'), value]);
  };

  /** The children that an order delivered have these parents. */
  async function expectChildren(
    id: string,
    texts: readonly string[],
    parents: readonly Held[],
  ): Promise<void> {
    const { files } = await shown(id);
    expect(files).toHaveLength(texts.length);
    for (const [index, text] of texts.entries()) {
      const child = parseInscriptionId(files[index]!.inscriptionId)!;
      const { rows } = await world.database.pool.query<{ body: Buffer; parents: Buffer[] }>(
        `SELECT c.body, array(SELECT p.txid FROM chain.parents AS r JOIN chain.inscriptions AS p ON p.key = r.parent_key
                               WHERE r.child_key = i.key ORDER BY r.position) AS parents
           FROM chain.inscriptions AS i JOIN chain.contents AS c USING (content_id) WHERE i.txid = $1 AND i.index = $2`,
        [child.txid, child.index],
      );
      expect(rows.map(({ body }) => body.toString())).toEqual([text]);
      expect(rows[0]!.parents.map((txid) => txid.toString('hex'))).toEqual(
        parents.map((parent) => Buffer.from(parent.id.txid).toString('hex')),
      );
    }
  }

  /** The accounts of an order that are not empty. */
  async function accounts(id: string): Promise<Record<string, number>> {
    const balances = balancesOf(await readEntries(world.database.pool, id));
    return Object.fromEntries(
      [...balances].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  /** The same, and the ledger of all orders is that of the chain. */
  async function audited(id: string): Promise<Record<string, number>> {
    expect((await world.audit()).differences).toEqual([]);
    return accounts(id);
  }

  /** What the customer is told to be the commit of the first file. */
  async function commitTold(id: string): Promise<unknown> {
    const { pool } = world.database;
    const order = await readOrder(pool, id);
    await withTransaction(pool, (tx) => tellCustomer(tx, { ...order!, state: 'queued' }));
    const [, file] = await readWebhooks(pool, webhookSubjectOf(id), 0, 2);
    return JSON.parse(file!.body).tx.commit;
  }

  const told = (id: string): string[] => world.told.filter((one) => one.id === id).map(({ state }) => state);

  test('that come with the payment, in one transaction, are on their way home with the children', async () => {
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

  test('that come before the payment are waited for first, and the payment then', async () => {
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

  test('that are not there when the charge is paid are waited for', async () => {
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

  test('whose value is not the one that was named return with what they brought', async () => {
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

  test('that somebody spends elsewhere instead are waited for again', async () => {
    const [parent] = await inscribed(['elsewhere']);
    const { id, deposits, charge } = await ordered(['h'], [termsOf(parent!)]);
    await send([], [charge]);
    await world.chain.mineMempool();
    await send([parent!], [to(deposits[0], parent!)]);
    await world.until(id, 'waiting-confirmation');
    // a higher fee, and it stays with its owner
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

  test('go from one reveal to the next where there are several, with a prefix, and home with the last', async () => {
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

  test('pass through more reveals than nodes chain, block by block', async () => {
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

  test('that are another inscription go home while the order waits, once there is money for it', async () => {
    const [parent] = await inscribed(['the right one']);
    const [wrong] = await inscribed(['a wrong one'], 3000);
    const { id, deposits, charge } = await ordered(['l'], [termsOf(parent!)]);
    await send([wrong!], [to(deposits[0], wrong!)]);
    await world.until(id, 'waiting-payment');
    await world.chain.mineMempool();
    await world.until(id, 'waiting-parent');
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    // the payment alone is what the delivery takes
    await send([], [charge, { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    expect(await shown(id)).not.toHaveProperty('error');
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(wrong!, scriptOf(home));
    await send([parent!], [to(deposits[0], parent!)]);
    await world.deliver(id);
    await expectChildren(id, ['l'], [parent!]);
    // what was paid too much goes back
    await world.sent(id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(id))['owed'] === undefined);
    const { postage, service, deposit } = await audited(id);
    expect({ postage, service, deposit }).toEqual({ postage: 546, service: 2000 });
  });

  test('of an order that is over go home, with the refund, paid by it', async () => {
    const [parent] = await inscribed(['too late']);
    const { id, deposits, charge } = await ordered(['m'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await world.until(id, 'expired');
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
    expect(paid).toBeLessThan(30_000);
    const { parentReturnTx } = (await shown(id)).parents[0]!;
    expect(parentReturnTx).toMatch(/^[0-9a-f]{64}$/u);
    // a reorganisation takes the way home back for a while
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(id, 'waiting-refund');
    expect((await accounts(id))['deposit']).toBe(10_000);
    await world.eventually(async () =>
      (await world.bitcoind.rpc.call<string[]>('getrawmempool')).includes(parentReturnTx!),
    );
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('of an order that nothing was paid for wait for somebody who pays for their way home', async () => {
    const [parent] = await inscribed(['unpaid']);
    const { id, deposits, charge } = await ordered(['n'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    await send([], [{ ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await shown(id)).not.toHaveProperty('error');
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('that hold runes return with them, each to its owner', async () => {
    const [one] = await inscribed(['with runes']);
    const [other] = await inscribed(['with other runes']);
    const held = [await etched(one!, 7n), await etched(other!, 9n)];
    const terms = held.map((parent, index) => termsOf(parent, index === 0 ? scriptOf(home) : p2pkhHome));
    const { id, deposits, charge } = await ordered(['p', 'q'], terms);
    // the runes go to the first output but for what the second edict says
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

  test('that come again to a delivered order go home, and the service pays', async () => {
    const [parent] = await inscribed(['again']);
    const { id, deposits, charge } = await ordered(['r'], [termsOf(parent!, scriptOf(owner))]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const { parents } = await shown(id);
    const back: Coin = { ...parent!.coin, txid: parents[0]!.parentReturnTx!, vout: 0 };
    await send([{ ...parent!, coin: back }], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(id);
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(parent!, scriptOf(owner));
    await world.eventually(async () => (await accounts(id))['deposit'] === undefined);
    const { service = 0, fee: paid = 0, postage = 0, outside = 0 } = await audited(id);
    expect(service).toBeLessThan(2000);
    expect(service + paid + postage).toBe(-outside);
  });

  test('beside which nothing but sats come to a delivered order go home alone, and the sats wait for who pays', async () => {
    const [parent] = await inscribed(['beside sats']);
    const { id, deposits, charge } = await ordered(['u'], [termsOf(parent!, scriptOf(owner))]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const { parents } = await shown(id);
    const back: Coin = { ...parent!.coin, txid: parents[0]!.parentReturnTx!, vout: 0 };
    const sats: Payment = { outputScript: deposits[0]!, value: 700 };
    await send([{ ...parent!, coin: back }], [to(deposits[0], parent!), sats, { ...sats, value: 800 }]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(id);
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(parent!, scriptOf(owner));
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    expect((await audited(id))['deposit']).toBe(1500);
    await send([], [{ ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.eventually(async () => {
      await world.chain.mineMempool();
      const { deposit, owed } = await accounts(id);
      return deposit === undefined && owed === undefined;
    });
    expect((await audited(id))['service']).toBeLessThan(2000);
  });

  test('with too few sats for their way home get more', async () => {
    const [small] = await inscribed(['small'], 400);
    const { id, deposits, charge } = await ordered(['t'], [termsOf(small!, p2pkhHome, 1000)], {
      timeoutMinutes: -1,
    });
    await send([small!], [to(deposits[0], small!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(small!, p2pkhHome, 546);
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
  });

  test('of a cancelled order go home', async () => {
    const [parent] = await inscribed(['cancelled']);
    const { id, deposits, charge } = await ordered(['s'], [termsOf(parent!)]);
    await world.until(id, 'waiting-parent');
    expect(await world.desk.cancel(id)).toBe(true);
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('that a reorganisation takes back with all else are delivered again, with the same ids', async () => {
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
