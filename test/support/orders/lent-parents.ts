import { expect } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { WantedOrder } from '#orders/creating/create-order.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { tellCustomer, webhookSubjectOf } from '#orders/customers/tell-customer.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { readOrder } from '#orders/order/order.store.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import {
  type Coin,
  type NewOutput,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';
import type { OrderWorld } from './order-world.ts';

/** The owner of parents, and the scripts to which parents and refunds return. */
export const owner = 800;
export const home = 801;
export const refunded = 802;
export const p2pkhHome = Buffer.from(`76a914${'37'.repeat(20)}88ac`, 'hex');

interface ShownParents {
  /** Sats. */
  readonly missing?: number;
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

interface ToldFile {
  readonly tx: { readonly commit: string | null };
}

/** An inscription of an owner, and the output that holds it. */
interface Held {
  readonly id: InscriptionId;
  readonly coin: Coin;
}

/** Steps for tests of parents, with orders, inscriptions and runes. */
export function lentParents(worldOf: () => OrderWorld) {
  /** Makes inscriptions that share one output of their owner. */
  async function inscribed(bodies: readonly string[], value = 10_000): Promise<readonly Held[]> {
    const contents = bodies.map((body, index) => ({ contentType: 'text/plain', body, pointer: index * 600 }));
    const { transactions, reveal } = await worldOf().chain.inscribe(contents, { postage: value, to: owner });
    await worldOf().chain.mine(transactions);
    await worldOf().indexed();
    return bodies.map((_, index) => ({ id: parseInscriptionId(reveal.id(index))!, coin: reveal.coin(0) }));
  }

  const termsOf = ({ id, coin }: Held, returnScript: Uint8Array = scriptOf(home), value = coin.value) => ({
    id,
    value: BigInt(value),
    returnScript,
  });

  /** Makes an order of children. Its parents return to `returnScript`. */
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
    const { order } = await worldOf().customerOrders.create(wanted);
    const deposits = (await readDepositAddresses(worldOf().database.pool, order.id)).map(
      ({ script }) => script,
    );
    const charge: NewOutput = { outputScript: order.script, value: Number(order.amount) };
    return { id: order.id, deposits, charge, quote: wanted.quote };
  }

  const to = (outputScript: Uint8Array | undefined, { coin: { value } }: Held): NewOutput => ({
    outputScript: outputScript!,
    value,
  });

  /**
   * Fee of each transaction, in sats. It is small, because the node's estimate depends on it, and the cost of returns
   * depends on the estimate.
   */
  const fee = 500;

  /** Spends held outputs in order, and a coin that pays the rest. Returns the txid. */
  async function send(held: readonly Held[], payments: readonly NewOutput[]): Promise<string> {
    const coin = await worldOf().chain.coin();
    const paid = payments.reduce((sum, { value }) => sum + value, 0);
    const brought = held.reduce((sum, one) => sum + one.coin.value, coin.value);
    const change = { value: brought - paid - fee, to: coin.owner };
    const made = transaction([...held.map((one) => one.coin), coin], [...payments, change]);
    await worldOf().chain.broadcast(made);
    return made.txid;
  }

  /** Spends an inscription, and adds runes of a new kind to the output that holds it. */
  async function etched(held: Held, amount: bigint): Promise<Held> {
    const coin = await worldOf().chain.coin();
    const outputScript = premined(amount);
    const made = transaction(
      [held.coin, coin],
      [
        { value: held.coin.value, to: owner },
        { value: coin.value - 5000, to: coin.owner },
        { value: 0, outputScript },
      ],
    );
    await worldOf().chain.mine([made]);
    await worldOf().indexed();
    return { ...held, coin: made.coin(0) };
  }

  /** Makes an inscription in an output with `runes` kinds of runes. */
  async function etchedOften(body: string, runes: number): Promise<Held> {
    let [held] = await inscribed([body]);
    for (let amount = 1; amount <= runes; amount++) held = await etched(held!, BigInt(amount));
    return held!;
  }

  /** Amounts of all known runes in an output. */
  async function runesAt({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): Promise<string | undefined> {
    const { rows } = await worldOf().database.pool.query<{ amount: string }>(
      'SELECT amount::text FROM chain.rune_balances WHERE txid = $1 AND vout = $2 AND spent_height IS NULL',
      [Buffer.from(txid, 'hex').reverse(), vout],
    );
    expect(rows.length).toBeLessThan(2);
    return rows[0]?.amount;
  }

  async function shown(id: string): Promise<ShownParents> {
    const found = await worldOf().customerOrders.read(id);
    return orderAnswer(found!.order, found!, networks.regtest, 'http://orders.test') as never;
  }

  /** Location of an inscription in the index. */
  async function place({
    txid,
    index,
  }: InscriptionId): Promise<{ script: Buffer; value: number; txid: Buffer }> {
    const { rows } = await worldOf().database.pool.query<{ script: Buffer; value: number; txid: Buffer }>(
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

  /** Checks that the children of a delivered order have these parents. */
  async function expectChildren(
    id: string,
    texts: readonly string[],
    parents: readonly Held[],
  ): Promise<void> {
    const { files } = await shown(id);
    expect(files).toHaveLength(texts.length);
    for (const [index, text] of texts.entries()) {
      const child = parseInscriptionId(files[index]!.inscriptionId)!;
      const { rows } = await worldOf().database.pool.query<{ body: Buffer; parents: Buffer[] }>(
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

  /** The accounts of an order with a balance other than zero. */
  async function accounts(id: string): Promise<Record<string, number>> {
    const balances = balancesOf(await readEntries(worldOf().database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...balances].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  /** The accounts of an order. Also checks that the ledger of all orders agrees with the chain. */
  async function audited(id: string): Promise<Record<string, number>> {
    expect((await worldOf().audit()).differences).toEqual([]);
    return accounts(id);
  }

  /** The commit of the first file, read from the customer's messages. */
  async function commitTold(id: string): Promise<string | null> {
    const { pool } = worldOf().database;
    const order = await readOrder(pool, id);
    await withTransaction(pool, (tx) => tellCustomer(tx, { ...order!, state: 'queued' }));
    const [, file] = await readWebhooks(pool, webhookSubjectOf(id), 0, 2);
    return (JSON.parse(file!.body) as ToldFile).tx.commit;
  }

  const told = (id: string): string[] =>
    worldOf()
      .told.filter((one) => one.id === id)
      .map(({ state }) => state);

  return {
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
  };
}
