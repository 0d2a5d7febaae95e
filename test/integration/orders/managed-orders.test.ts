import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';

const receiver = 820;
const owner = 830;
const runMs = 240_000;

interface FileTx {
  readonly commit: string;
  readonly reveal: string;
  readonly inscription: string;
  readonly inscriptions: readonly string[];
  readonly reveals: readonly string[];
  readonly fees: number;
  readonly total_fees: number;
  readonly satpoint: string;
}
interface Managed {
  readonly id: string;
  readonly state: string;
  readonly error?: string;
  readonly orderType: string;
  readonly charge: { readonly address: string; readonly amount: number; readonly status: string };
  readonly files: readonly {
    readonly inscriptionId?: string;
    readonly sent?: string;
    readonly tx?: FileTx;
  }[];
  readonly parent?: { readonly depositAddress?: string; readonly parentReturnTx?: string };
  readonly paid?: boolean;
  readonly paidAt?: number;
  readonly processingAt?: number;
  readonly tx?: FileTx;
  readonly sent?: string;
}
interface Told {
  readonly id: string;
  readonly state?: string;
  readonly index?: number;
  readonly tx?: { readonly commit: string | null; readonly reveal: string };
}

const fileOf = (name: string, text: string) => ({
  name,
  size: text.length,
  dataURL: `data:text/plain;base64,${Buffer.from(text).toString('base64')}`,
});

describe.skipIf(bitcoindForTests() === null)('managed orders beside a real node', () => {
  let service: OrderService;
  let receivers: Receiver;
  beforeAll(async () => {
    receivers = await startReceiver(({ target }, response) =>
      target === '/file.txt' ? response.end('of a server') : response.end(),
    );
    service = await OrderService.start();
  }, runMs);
  afterAll(async () => {
    await service?.close();
    await receivers?.close();
  });

  const urlOf = (path: string): string => `http://127.0.0.1:${receivers.port}${path}`;
  const read = async (id: string): Promise<Managed> =>
    (await (await fetch(new URL(`/order?id=${id}`, service.origin))).json()) as Managed;

  async function order(path: string, body: object): Promise<Managed> {
    const answer = await service.post(path, { receiveAddress: addressOf(receiver), fee: 2, ...body });
    const made = (await answer.json()) as Managed;
    expect([answer.status, made]).toMatchObject([200, { state: 'waiting-payment', orderType: 'bulk' }]);
    return made;
  }

  const until = (id: string, isSo: (shown: Managed) => boolean): Promise<Managed> =>
    service.eventually(async () => {
      const shown = await read(id);
      if (isSo(shown)) return shown;
      throw new Error(`order ${id} is ${shown.state}: ${shown.error ?? ''}`);
    });

  const pay = ({ charge: { address, amount } }: Managed): Promise<unknown> =>
    service.chain.payAddress(address, amount);

  /** Pays orders, mines, and waits until they are delivered. Returns the orders as they are read at the end. */
  async function deliver(orders: readonly Managed[]): Promise<Managed[]> {
    await Promise.all(orders.map(({ id }) => until(id, ({ state }) => state === 'waiting-confirmation')));
    await service.chain.mineMempool();
    const areSent = ({ files }: Managed): boolean => files.every(({ sent }) => sent !== undefined);
    await Promise.all(orders.map(({ id }) => until(id, areSent)));
    await service.chain.mineMempool();
    return Promise.all(orders.map(({ id }) => until(id, ({ state }) => state === 'completed')));
  }

  /** Reads the inscriptions of an order from the index: content, location and parents. */
  async function indexed({ files }: Managed) {
    return Promise.all(
      files.map(async ({ inscriptionId, tx }) => {
        const { txid, index } = parseInscriptionId(inscriptionId!)!;
        const { rows } = await service.database.pool.query<{
          body: Buffer;
          script: Buffer;
          satpoint: string;
          encoding: string | null;
          parents: number;
        }>(
          `SELECT c.body, l.script, encode(i.txid, 'hex') || ':' || l.vout || ':' || l.sat_offset AS satpoint,
                  (SELECT count(*)::integer FROM chain.parents AS p WHERE p.child_key = i.key) AS parents
             FROM chain.inscriptions AS i JOIN chain.contents AS c USING (content_id)
             JOIN chain.locations AS l USING (key)
            WHERE i.txid = $1 AND i.index = $2 ORDER BY l.height, l.step LIMIT 1`,
          [txid, index],
        );
        const [row] = rows;
        const [hash = '', ...place] = row!.satpoint.split(':');
        const shown = Buffer.from(hash, 'hex').reverse().toString('hex');
        expect(tx!.satpoint).toBe([shown, ...place].join(':'));
        return { text: row!.body.toString(), script: row!.script.toString('hex'), parents: row!.parents };
      }),
    );
  }

  const hexOf = (key: number): string => Buffer.from(scriptOf(key)).toString('hex');
  const told = (id: string): Told[] =>
    receivers.received
      .filter(({ target }) => target === '/hook')
      .map(({ body }) => JSON.parse(body.toString()) as Told)
      .filter((each) => each.id === id);

  test(
    'are paid at the address of their creation, committed and revealed; each state is sent, and the ledger is right',
    async () => {
      const one = await order('/order', { files: [fileOf('a.txt', 'one')], webhookUrl: urlOf('/hook') });
      const texts = await order('/textorder', {
        texts: ['first', 'second'],
        receiveAddress: [addressOf(receiver), addressOf(receiver + 1)],
      });
      const shared = await order('/order', {
        files: ['x', 'y', 'z'].map((text) => fileOf(`${text}.txt`, text.repeat(300))),
        batchMode: 'shared-output',
        compress: true,
      });
      const fetched = await order('/order', {
        files: [{ name: 'file.txt', size: 1, url: urlOf('/file.txt') }],
        inscriptionIdPrefix: 'ab',
      });
      const orders = [one, texts, shared, fetched];
      for (const made of orders) {
        expect((await read(made.id)).charge.address).toBe(made.charge.address);
        await pay(made);
      }
      const [readOne, readTexts, readShared, readFetched] = await deliver(orders);

      const [file] = readOne!.files;
      const { commit, reveal, inscription } = file!.tx!;
      expect(readOne).toMatchObject({
        paid: true,
        completed: true,
        charge: { status: 'unpaid' },
        fileCount: 1,
        sent: reveal,
        tx: file!.tx,
      });
      expect(readOne!.paidAt).toBeLessThanOrEqual(readOne!.processingAt!);
      expect(file).toMatchObject({ inscriptionId: inscription, sent: reveal });
      expect(file!.tx).toMatchObject({ inscriptions: [inscription], reveals: [reveal] });
      expect(file!.tx!.fees).toBe(file!.tx!.total_fees);
      const { vin } = await service.chain.rpc.call<{ vin: { txid: string }[] }>('getrawtransaction', [
        reveal,
        1,
      ]);
      expect(vin.map(({ txid }) => txid)).toEqual([commit]);

      await service.eventually(async () => told(one.id).some(({ state }) => state === 'completed'));
      expect(told(one.id).map(({ state, index }) => state ?? index)).toEqual([
        'waiting-confirmation',
        'prep',
        'queued',
        0,
        'completed',
      ]);
      expect(told(one.id)[3]!.tx).toMatchObject({ commit, reveal });

      expect(await indexed(readOne!)).toMatchObject([{ text: 'one', script: hexOf(receiver) }]);
      expect(await indexed(readTexts!)).toMatchObject([
        { text: 'first', script: hexOf(receiver) },
        { text: 'second', script: hexOf(receiver + 1) },
      ]);
      expect(await indexed(readShared!)).toHaveLength(3);
      expect(readShared!.files.map(({ tx }) => tx!.satpoint.replace(/^.*?:/u, ''))).toEqual([
        '0:0',
        '0:546',
        '0:1092',
      ]);
      expect(await indexed(readFetched!)).toMatchObject([{ text: 'of a server' }]);
      expect(readFetched!.files[0]!.inscriptionId).toMatch(/^ab/u);
      for (const several of [readTexts!, readShared!]) expect(several).not.toHaveProperty('tx');
      const audit = await auditOrders({ database: service.database.pool, node: service.bitcoind.rpc });
      expect(audit.differences).toEqual([]);
    },
    runMs,
  );

  test(
    'use a parent of their customer, which returns, and give their referral its share',
    async () => {
      const { transactions, reveal } = await service.chain.inscribe(
        { contentType: 'text/plain', body: 'lent' },
        { to: owner },
      );
      await service.chain.mine(transactions);
      const inscriptionId = reveal.id(0);
      await service.eventually(async () => {
        const answer = await fetch(new URL(`/r/inscription/${inscriptionId}`, service.origin));
        return answer.status === 200;
      });
      expect((await service.post('/referrals', { referral: 'us', address: addressOf(owner) })).status).toBe(
        200,
      );
      const parent = { inscriptionId, returnAddress: addressOf(owner), value: String(reveal.coin(0).value) };
      const made = await order('/order', {
        files: [fileOf('child.txt', 'child')],
        parent,
        referral: 'us',
        additionalFee: 100,
      });
      const waiting = await until(made.id, ({ state }) => state === 'waiting-parent');
      expect(waiting.parent).toMatchObject(parent);
      const { scriptPubKey } = await service.chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [
        waiting.parent!.depositAddress!,
      ]);
      const held = reveal.coin(0);
      const coin = await service.chain.coin();
      await service.chain.broadcast(
        transaction(
          [held, coin],
          [
            { value: held.value, outputScript: Buffer.from(scriptPubKey, 'hex') },
            { value: coin.value - 1000, to: coin.owner },
          ],
        ),
      );
      await pay(made);
      const [shown] = await deliver([made]);
      expect(await indexed(shown!)).toMatchObject([{ text: 'child', parents: 1 }]);
      expect(shown!.parent!.parentReturnTx).toBe(shown!.files[0]!.tx!.reveal);
      expect(shown).toMatchObject({ referral: 'us', additionalFee: 100, additionalFeeCharged: 100 });
      const { rows } = await service.database.pool.query<{ to: string; amount: number }>(
        `SELECT to_account AS "to", sum(amount)::integer AS amount FROM service.ledger_entries
          WHERE order_id = $1 AND to_account = 'referral' GROUP BY 1`,
        [made.id],
      );
      // 15 % of 9,000 sats, and the customer's addition
      expect(rows).toEqual([{ to: 'referral', amount: 1450 }]);
      const audit = await auditOrders({ database: service.database.pool, node: service.bitcoind.rpc });
      expect(audit.differences).toEqual([]);
    },
    runMs,
  );

  test(
    'that are unpaid are cancelled, and a later payment is refunded',
    async () => {
      const made = await order('/textorder', { texts: ['never'], refundAddress: addressOf(owner) });
      expect((await service.post('/order/cancel', { id: made.id })).status).toBe(200);
      await pay(made);
      await service.chain.mineMempool();
      const refunding = await until(made.id, (shown) => 'refund' in shown);
      expect(refunding).toMatchObject({ refund: { address: addressOf(owner) } });
      await service.chain.mineMempool();
      await until(made.id, ({ state }) => state === 'refunded');
    },
    runMs,
  );
});
