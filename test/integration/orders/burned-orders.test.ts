import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { currentLocations, storedCharms } from '#chain/inscriptions/location.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { charms } from '#kernel/primitives/charm.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { readBumps } from '#orders/bumping/bump.store.ts';
import { anchorScript } from '#orders/inscribing/plan-amounts.ts';
import { refundOrder, retryOrder } from '#orders/operator/operator-orders.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { type RegtestTransaction, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { home, lentParents } from '#test/support/orders/lent-parents.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';

const opReturn = '6a';
const burned = { burn: true, receivers: [] } as const;
const stranger = 900;

let world: OrderWorld;
const { inscribed, termsOf, ordered, to, send, shown, expectAt, expectChildren, accounts, audited, told } =
  lentParents(() => world);

/** Reads the txids in the node's mempool. */
const mempool = (): Promise<string[]> => world.bitcoind.rpc.call<string[]>('getrawmempool');

async function made(id: string, kind: 'reveal' | 'burn') {
  const found = await world.customerOrders.read(id);
  return found!.transactions
    .filter((each) => each.kind === kind)
    .map(({ txid, ...each }) => ({ ...each, id: displayHash(txid) }));
}

/** Transactions of the mempool, in the form in which a miner takes them. */
async function signed(id: string, kind: 'reveal' | 'burn'): Promise<RegtestTransaction[]> {
  const { rows } = await world.database.pool.query<RegtestTransaction & { internal: Buffer }>(
    `SELECT txid AS internal, encode(bytes, 'hex') AS hex, fee FROM service.wallet_transactions
      WHERE order_id = $1 AND kind = $2 AND superseded_at IS NULL ORDER BY index`,
    [id, kind],
  );
  return rows.map(({ internal, ...row }) => ({ ...row, txid: displayHash(asTxid(internal)) }));
}

/** A paid order whose reveals and burns are in the node's mempool. */
async function underWay(texts: readonly string[], more: Parameters<typeof ordered>[2] = {}): Promise<string> {
  const { id, charge } = await ordered(texts, [], { ...more, terms: { ...more.terms, ...burned } });
  await send([], [charge]);
  await world.chain.mineMempool();
  await world.until(id, 'queued');
  await world.sent(id, ['burn']);
  return id;
}

/** Checks that all inscriptions of an order are in OP_RETURN outputs of the order's burns, with ord's charm. */
async function expectBurned(id: string): Promise<void> {
  const { files } = await shown(id);
  const burns = new Set((await made(id, 'burn')).map((burn) => burn.id));
  for (const { inscriptionId, tx: told } of files as readonly {
    inscriptionId: string;
    tx: { burn: string };
  }[]) {
    expect(burns).toContain(told.burn);
    const { txid, index } = parseInscriptionId(inscriptionId) as InscriptionId;
    const location = await withTransaction(world.database.pool, async (tx) => {
      const { rows } = await tx.query<{ key: never }>(
        'SELECT key FROM chain.inscriptions WHERE txid = $1 AND index = $2',
        [txid, index],
      );
      return (await currentLocations(tx, [rows[0]!.key])).get(rows[0]!.key)!;
    });
    expect(Buffer.from(location.script!).toString('hex')).toBe(opReturn);
    expect(burns).toContain(location.outpoint.slice(0, 64));
    expect(storedCharms(0, location)).toBe(charms.burned);
  }
}

/** Spends the first anchor of an order's reveal as a stranger, with a higher fee than the order's burn. */
async function takeAnchor(id: string): Promise<string> {
  const [reveal] = await made(id, 'reveal');
  const vout = reveal!.plan.outputs.findIndex(({ kind }) => kind === 'burn');
  const own = { key: { branch: 1, index: 7777 } as const, leafScript: null };
  const script = world.wallet.addressOf(own).script;
  const { payment } = await world.chain.pay(script, 200_000);
  const txid = asTxid(Buffer.from(payment.txid, 'hex').reverse());
  const anchor = {
    txid: asTxid(Buffer.from(reveal!.id, 'hex').reverse()),
    vout,
    value: BigInt(reveal!.plan.outputs[vout]!.value),
    script: anchorScript,
  };
  const signed = await world.sign({
    version: 2,
    lockTime: 0,
    inputs: [
      { ...anchor, ...own, sequence: 0xffff_fffd, path: 'key' },
      { txid, vout: 0, value: 200_000n, script, ...own, sequence: 0xffff_fffd, path: 'key' },
    ],
    outputs: [{ kind: 'refund', script: scriptOf(stranger), value: 150_000n }],
    feeMax: 60_000n,
  });
  return world.bitcoind.rpc.call<string>('sendrawtransaction', [Buffer.from(signed.bytes).toString('hex')]);
}

describe.skipIf(bitcoindForTests() === null)('orders that are burned beside a real node', () => {
  beforeAll(async () => {
    world = await OrderWorld.start({ extra: ['-persistmempool=0'] }, 160);
  });
  afterAll(() => world?.close());

  test('are inscribed to an anchor and sent to OP_RETURN in the same block, and cost what was quoted', async () => {
    const { id, charge, quote } = await ordered(['burned'], [], { terms: burned });
    await send([], [charge]);
    await world.until(id, 'waiting-confirmation');
    await world.deliver(id);
    const [burn] = await made(id, 'burn');
    expect(burn!.plan.outputs[0]).toEqual({ kind: 'burn', script: opReturn, value: 546 });
    await expectBurned(id);
    await expectChildren(id, ['burned'], []);
    expect(await audited(id)).toEqual({
      outside: -quote.amount,
      postage: 546,
      service: 2000,
      fee: quote.chainFee,
    });
    expect(told(id)).toEqual(['waiting-confirmation', 'prep', 'queued', 'completed']);
  });

  test.each([
    ['in outputs of their own', { batchMode: 'separate-outputs' }, null],
    ['in one output', { batchMode: 'shared-output' }, null],
    ['with a prefix and a reveal each', { uncurse: true }, 'ab'],
    ['with the least postage', { postage: 'least' }, null],
  ] as const)('of several files are burned, %s', async (_, terms, prefix) => {
    const texts = ['one', 'two', 'three'];
    const { id, charge, quote } = await ordered(texts, [], { terms: { ...terms, ...burned }, prefix });
    await send([], [charge]);
    await world.deliver(id);
    await expectBurned(id);
    await expectChildren(id, texts, []);
    const { postage, service, operator = 0, fee } = await audited(id);
    expect({ postage, fee }).toEqual({ postage: 3 * quote.postage, fee: quote.chainFee });
    expect(service! + operator).toBe(6000);
    const reveals = await made(id, 'reveal');
    for (const reveal of reveals) expect(reveal.id.startsWith(prefix ?? '')).toBe(true);
    expect((await made(id, 'burn')).map(({ index, files }) => [index, files])).toEqual(
      reveals.map(({ index, files }) => [index, files]),
    );
  });

  test('may be children of parents, which return', async () => {
    const [parent] = await inscribed(['parent of burned']);
    const texts = ['c', 'd'];
    const parents = [termsOf(parent!)];
    const { id, deposits, charge } = await ordered(texts, parents, { terms: { uncurse: true, ...burned } });
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    await expectBurned(id);
    await expectChildren(id, texts, [parent!]);
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('paid too much are burned, and the excess above dust is refunded', async () => {
    const { id, charge, quote } = await ordered(['too much'], [], { terms: burned });
    await send([], [{ ...charge, value: charge.value + 50_000 }]);
    await world.deliver(id);
    await world.sent(id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(id))['owed'] === undefined);
    const { postage, service, outside = 0, fee = 0 } = await audited(id);
    expect({ postage, service }).toEqual({ postage: 546, service: 2000 });
    expect(-outside).toBe(2546 + fee);
    expect(fee).toBeGreaterThan(quote.chainFee);
    await expectBurned(id);
  });

  test('are sent again, both, to a node that forgot its mempool', async () => {
    const id = await underWay(['forgotten']);
    const both = (await mempool()).toSorted();
    expect(both).toHaveLength(2);
    await world.bitcoind.restart();
    await world.eventually(async () => expect((await mempool()).toSorted()).toEqual(both));
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await expectBurned(id);
  });

  test('are burned again after reorganisations of the burn and of the payment', async () => {
    const id = await underWay(['again']);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    // depth 1 takes back the block of reveal and burn, and depth 4 also takes back the block of the payment
    for (const [depth, state] of [
      [1, 'queued'],
      [4, 'waiting-confirmation'],
    ] as const) {
      await world.chain.takeBack(depth);
      await world.chain.mineEmpty(depth + 1);
      await world.until(id, state);
      expect((await world.audit()).differences).toEqual([]);
      await world.chain.mineMempool();
      await world.until(id, 'completed');
    }
    await expectBurned(id);
    expect(await audited(id)).toMatchObject({ postage: 546, service: 2000 });
  });

  test('keep their ledger while only payments have seen a reorganisation, and are processed again', async () => {
    const id = await underWay(['of two moments']);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    const { pool } = world.database;
    const entries = await readEntries(pool, { kind: 'order', id });
    const paid = 'script = (SELECT script FROM service.orders WHERE id = $1)';
    const { rows } = await pool.query<{ height: number; hash: Buffer }>(
      `SELECT height, hash FROM service.payments_seen WHERE ${paid}`,
      [id],
    );
    const setBlock = (height: number | null, hash: Buffer | null) =>
      pool.query(
        `WITH seen AS (UPDATE service.payments_seen SET height = $2, hash = $3 WHERE ${paid})
         UPDATE service.orders SET look_at = now() WHERE id = $1`,
        [id, height, hash],
      );
    /** Milliseconds until the order's next check; `null` if the check does not depend on time. */
    const nextLook = async (): Promise<number | null> => {
      const { rows: found } = await pool.query<{ ms: number | null }>(
        'SELECT 1000 * extract(epoch FROM look_at - now())::float8 AS ms FROM service.orders WHERE id = $1',
        [id],
      );
      return found[0]!.ms;
    };
    await setBlock(null, null);
    await world.wake(id);
    await world.eventually(async () => ((await nextLook()) ?? 0) > 30_000);
    expect(await readEntries(pool, { kind: 'order', id })).toEqual(entries);
    await setBlock(rows[0]!.height, rows[0]!.hash);
    await world.wake(id);
    await world.eventually(async () => (await nextLook()) === null);
    expect(await readEntries(pool, { kind: 'order', id })).toEqual(entries);
  });

  test('of which only the reveal is mined wait for their burn', async () => {
    const id = await underWay(['alone']);
    await world.chain.mine(await signed(id, 'reveal'));
    await world.indexed();
    await world.wake(id);
    expect((await shown(id)).state).toBe('queued');
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await expectBurned(id);
    expect((await world.audit()).differences).toEqual([]);
  });

  test('that a stranger takes first are an error, until a reorganisation returns them', async () => {
    const id = await underWay(['taken']);
    const [burn] = await made(id, 'burn');
    const taking = await takeAnchor(id);
    const there = await mempool();
    expect(there).toContain(taking);
    expect(there).not.toContain(burn!.id);
    await world.chain.mineMempool();
    await world.until(id, 'error');
    await expect(refundOrder(world.database.pool, id, scriptOf(home))).rejects.toThrow(
      'it cannot be refunded, because its reveals have spent the payments',
    );
    // a retry has the same result
    await retryOrder(world.database.pool, id);
    await world.eventually(async () => told(id).filter((state) => state === 'error').length === 2);
    await world.until(id, 'error');
    expect((await shown(id)).error).toMatch(/Another transaction took an inscription from its anchor/u);
    expect((await world.audit()).differences).toEqual([]);
    await world.chain.takeBack(1);
    await world.chain.mine([...(await signed(id, 'reveal')), ...(await signed(id, 'burn'))]);
    await world.chain.mineEmpty(1);
    await world.until(id, 'completed');
    await expectBurned(id);
    expect(await audited(id)).toMatchObject({ postage: 546, service: 2000 });
  });

  test('that a stranger takes in a later block than their reveal are burned if a reorganisation returns them', async () => {
    const id = await underWay(['taken later']);
    await world.chain.mine(await signed(id, 'reveal'));
    await takeAnchor(id);
    await world.chain.mineMempool();
    await world.until(id, 'error');
    expect((await world.audit()).differences).toEqual([]);
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(id, 'queued');
    await world.chain.mine(await signed(id, 'burn'));
    await world.until(id, 'completed');
    await expectBurned(id);
    expect((await world.audit()).differences).toEqual([]);
  });
});

describe.skipIf(bitcoindForTests() === null)('burns that a node refuses, or that are stuck', () => {
  afterEach(() => world?.close());

  test('keep their reveals from being sent', async () => {
    world = await OrderWorld.start({ extra: ['-datacarrier=0'] });
    const { id, charge } = await ordered(['kept'], [], { terms: burned });
    await send([], [charge]);
    await world.chain.mineMempool();
    await world.until(id, 'queued');
    await world.eventually(async () => {
      const [reveal] = await made(id, 'reveal');
      if (reveal!.refusal?.startsWith('its burn would be refused') === true) return true;
      throw new Error(JSON.stringify([await made(id, 'reveal'), await made(id, 'burn'), world.logged]));
    });
    expect(await mempool()).toEqual([]);
    expect((await shown(id)).error).toMatch(/^The node refuses transaction/u);
  });

  test('are bumped with their reveals by a child of the burn', async () => {
    world = await OrderWorld.start();
    await world.raiseFees(20);
    await world.stop();
    world.bumps = { ...world.bumps, afterMs: 0 };
    await world.follow();
    const texts = ['stuck'];
    const id = await underWay(texts);
    // fees rise after the order was paid
    await world.database.pool.query('UPDATE service.orders SET paid_estimate = 2000 WHERE id = $1', [id]);
    await world.chain.mineEmpty(1);
    const [bump] = await world.eventually(async () => {
      const bumps = await readBumps(world.database.pool, id);
      if (bumps.some(({ sentAt }) => sentAt !== null)) return bumps;
      throw new Error(world.logged.join(''));
    });
    const [burn] = await made(id, 'burn');
    expect(bump!.plan.inputs[0]!.outpoint).toBe(`${burn!.id}:1`);
    const [reveal] = await made(id, 'reveal');
    const entry = await world.bitcoind.rpc.call<{ fees: { chunk: number }; chunkweight: number }>(
      'getmempoolentry',
      [reveal!.id],
    );
    // all three transactions are mined together
    expect(entry.chunkweight).toBeGreaterThan(1600);
    expect((await mempool()).toSorted()).toHaveLength(3);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await expectBurned(id);
    await world.eventually(async () => ((await accounts(id))['operator'] ?? 0) < 0);
    expect((await world.audit()).differences).toEqual([]);
  });
});
