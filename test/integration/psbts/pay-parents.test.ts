import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { type Coin, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { lentParents } from '#test/support/orders/lent-parents.ts';
import { customerAddress, type PaymentType, signerBody } from '#test/support/psbts/customer-address.ts';
import {
  type Customer,
  type PsbtAnswer,
  type PsbtRefused,
  PsbtWorld,
  type SpecialOutput,
} from '#test/support/psbts/psbt-world.ts';
import { type SigningLibrary, signingLibraries } from '#test/support/psbts/sign-psbt.ts';

const url = '/create-parent-child-psbt';
/** The script to which parents return. */
const home = scriptOf(63_900);
const [scure, bitcoinjs] = signingLibraries as readonly [SigningLibrary, SigningLibrary];

interface Parent {
  readonly id: NonNullable<ReturnType<typeof parseInscriptionId>>;
  readonly coin: Coin;
}

interface Child {
  readonly name: string;
  readonly customer: Customer;
  readonly library: SigningLibrary;
  readonly parents: readonly Parent[];
  readonly special: SpecialOutput | null;
  id: string;
  answer: PsbtAnswer;
}

const customerOf = (owner: number, type: PaymentType): Customer => ({
  payment: customerAddress(owner, type),
  ordinals: customerAddress(owner + 1),
});

describe.skipIf(bitcoindForTests() === null)('orders with parents that are paid from wallets', () => {
  let world: PsbtWorld;
  const parents = lentParents(() => world.world);
  const children: Child[] = [];

  const termsOf = ({ id, coin }: Parent): OrderTerms['parents'][number] => ({
    id,
    value: BigInt(coin.value),
    returnScript: home,
  });

  async function parentsOf(customer: Customer, count: number, name: string): Promise<Parent[]> {
    const made: Parent[] = [];
    for (let index = 0; index < count; index++) {
      const { id, coin } = await world.inscribed(customer.ordinals, `${name} ${index}`, 1_000 + index);
      made.push({ id: parseInscriptionId(id)!, coin });
    }
    return made;
  }

  beforeAll(async () => {
    world = await PsbtWorld.start();
    const own = customerAddress(63_050);
    const cases: readonly (readonly [string, Customer, SigningLibrary, number, boolean])[] = [
      ['one address for both', { payment: own, ordinals: own }, bitcoinjs, 1, false],
      ['two parents and a special sat', customerOf(63_010, 'p2wpkh'), scure, 2, true],
      ['a parent with runes', customerOf(63_020, 'p2sh-p2wpkh'), bitcoinjs, 1, false],
      ['three parents', customerOf(63_030, 'p2pkh'), scure, 3, false],
      ['a parent from taproot', customerOf(63_040, 'p2tr'), scure, 1, true],
    ];
    for (const [name, customer, library, count, isSpecial] of cases) {
      await world.fund(customer.payment, [30_000, 12_000]);
      const lent = await parentsOf(customer, count, name);
      const special = isSpecial ? await world.special(customer.ordinals, 20_000, 50) : null;
      children.push({
        name,
        customer,
        library,
        parents: lent,
        special,
        id: '',
        answer: null as unknown as PsbtAnswer,
      });
    }
    await world.mine();
    const runic = children[2]!;
    const [held] = runic.parents;
    const fees = await world.world.chain.coin();
    const etched = transaction(
      [held!.coin, fees],
      [
        { value: held!.coin.value, to: runic.customer.ordinals.owner },
        { value: fees.value - 5_000, to: fees.owner },
        { value: 0, outputScript: premined(77) },
      ],
    );
    await world.world.chain.mine([etched]);
    await world.world.indexed();
    children[2] = { ...runic, parents: [{ ...held!, coin: etched.coin(0) }] };
    for (const child of children) {
      const { id } = await parents.ordered([child.name], child.parents.map(termsOf));
      child.id = id;
      child.answer = await world.built(url, child.customer, {
        orderId: id,
        feeRate: 0,
        ...(child.special === null ? {} : { specialSatsOutput: child.special.name }),
      });
      await world.broadcast(world.signed(child.answer, child.customer, child.library));
    }
    await world.world.chain.mineMempool();
    for (const { id } of children) {
      await world.world.until(id, 'queued');
      await world.world.sent(id);
    }
    await world.world.chain.mineMempool();
    for (const { id } of children) await world.world.until(id, 'completed');
    await world.world.indexed();
  }, 240_000);
  afterAll(() => world?.close());

  test('each has its children, and its parents return with everything that arrived with them', async () => {
    for (const { name, id, parents: lent, answer, special } of children) {
      await parents.expectChildren(id, [name], lent);
      for (const { id: parent, coin } of lent) await parents.expectAt({ id: parent, coin }, home, coin.value);
      const deposits = answer.outputs.slice(0, lent.length);
      expect(deposits.map(({ purpose, value }) => [purpose, value])).toEqual(
        lent.map(({ coin }) => ['deposit', coin.value]),
      );
      expect(answer.ordinalInputIndices.slice(0, lent.length)).toEqual(lent.map((_, index) => index));
      if (special !== null) {
        const { rows } = await world.world.database.pool.query<{ sat: number }>(
          `SELECT s.sat FROM chain.inscriptions AS i JOIN chain.sats AS s USING (key)
             JOIN chain.parents AS p ON p.child_key = i.key JOIN chain.inscriptions AS o ON o.key = p.parent_key
            WHERE o.txid = $1`,
          [Buffer.from(lent[0]!.id.txid)],
        );
        expect(rows.map(({ sat }) => Number(sat))).toEqual([special.sat]);
      }
    }
    const [home3] = children[2]!.parents;
    const { txid } = await parents.place(home3!.id);
    expect(await parents.runesAt({ txid: Buffer.from(txid).reverse().toString('hex'), vout: 0 })).toBe('77');
    expect((await world.world.audit()).differing).toBe(0);
  });

  const customer = customerOf(63_100, 'p2wpkh');
  const refusal = async (orderId: string, more: object = {}) => {
    const body = { ...signerBody(customer.payment, customer.ordinals), orderId, ...more };
    const { status, body: answer } = await world.post<PsbtRefused>(url, body);
    expect(answer).toMatchObject({ success: false, status, stack: {} });
    return `${status} ${answer.message.replaceAll(/[0-9a-f]{64}/gu, 'X').replaceAll(/bcrt1[0-9a-z]+/gu, 'A')}`;
  };

  test('payments that arrived already are left out', async () => {
    await world.fund(customer.payment, [30_000]);
    const lent = await parentsOf(customer, 2, 'apart');
    await world.mine();
    const { id, deposits, charge } = await parents.ordered(['apart'], lent.map(termsOf));
    const both = await world.built(url, customer, { orderId: id });
    expect(both.outputs.map(({ purpose }) => purpose)).toEqual(['deposit', 'deposit', 'charge', 'change']);
    const fees = await world.world.chain.coin();
    const first = transaction(
      [lent[0]!.coin, fees],
      [{ value: lent[0]!.coin.value, outputScript: deposits[0]! }, { value: fees.value - 5_000 }],
    );
    await world.world.chain.mine([first]);
    await world.world.indexed();
    // the payments of orders may be read from the block later than the index
    const second = await world.world.eventually(async () => {
      const body = { ...signerBody(customer.payment, customer.ordinals), orderId: id };
      const answer = await world.post<PsbtAnswer & PsbtRefused>(url, body);
      if (answer.status === 200) return answer.body;
      expect(answer.body.message).toMatch(
        /is already at its deposit address, .* Try again in a few seconds/u,
      );
      return false;
    });
    expect(second.outputs.map(({ purpose }) => purpose)).toEqual(['deposit', 'charge', 'change']);
    await world.world.chain.pay(charge.outputScript!, charge.value);
    await world.world.chain.mineMempool();
    const last = await world.world.eventually(async () => {
      const answer = await world.built(url, customer, { orderId: id });
      return answer.chargeAmount === 0 && answer;
    });
    expect(last.outputs.map(({ purpose }) => purpose)).toEqual(['deposit', 'change']);
    expect(await refusal(id, { specialSatsOutput: `${'ab'.repeat(32)}:0` })).toBe(
      '400 specialSatsOutput: the order is already paid, so this output would not be inscribed.',
    );
    await world.broadcast(world.signed(last, customer, bitcoinjs));
    await world.world.deliver(id);
    await parents.expectChildren(id, ['apart'], lent);
    expect(await refusal(id)).toBe('400 orderId: the order needs no more payment, because it is completed.');
  });

  test('bad input is refused in the form of the interface', async () => {
    expect(await refusal('')).toBe('400 orderId is required.');
    expect(await refusal('6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11')).toBe(
      '404 no such order 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
    );
    expect(await refusal('6f1c2b1e', { feeRate: 0.05 })).toBe(
      '400 feeRate must be from 0.1 to 10000 sats per virtual byte',
    );
    const contents = ['one', 'two'].map((body, index) => ({
      contentType: 'text/plain',
      body,
      pointer: index * 600,
    }));
    const shared = await world.world.chain.inscribe(contents, {
      postage: 2_000,
      to: customer.ordinals.owner,
    });
    const elsewhere = await world.world.chain.inscribe(contents[0]!, { postage: 2_000, to: 63_990 });
    await world.world.chain.mine([...shared.transactions, ...elsewhere.transactions]);
    await world.world.indexed();
    const parent = (index: number): Parent => ({
      id: parseInscriptionId(shared.reveal.id(index))!,
      coin: shared.reveal.coin(0),
    });
    const away = { id: parseInscriptionId(elsewhere.reveal.id())!, coin: elsewhere.reveal.coin(0) };
    const orderOf = async (...lent: readonly Parent[]) =>
      (await parents.ordered(['bad'], lent.map(termsOf))).id;
    expect(await refusal(await orderOf(parent(0), parent(1)))).toBe(
      '400 The parents Xi0 and Xi1 are in the same output, X:0, but each parent goes to its own deposit address. Move them to separate outputs first.',
    );
    expect(await refusal(await orderOf(parent(1)))).toBe(
      '400 The output X:0 of the parent Xi1 also holds the inscription Xi0. Move them to separate outputs first.',
    );
    expect(await refusal(await orderOf(away))).toBe('400 The parent Xi0 is not at the ordinals address A.');
    const small = await world.world.chain.inscribe(contents[0]!, {
      postage: 329,
      to: customer.ordinals.owner,
    });
    // nodes do not relay this transaction, so only a block can contain it
    await world.world.chain.mine(small.transactions);
    await world.world.indexed();
    const dust = { ...termsOf(away), id: parseInscriptionId(small.reveal.id())! };
    expect(await refusal((await parents.ordered(['bad'], [dust])).id)).toBe(
      '400 The output X:0 of the parent Xi0 has 329 sats, but nodes relay at least 330 sats to its deposit. Move the parent to a larger output first.',
    );
    const pending = transaction([away.coin], [{ value: 1_500, to: customer.ordinals.owner }]);
    await world.world.chain.broadcast(pending);
    expect(await refusal(await orderOf(away))).toBe(
      '400 parent Xi0: the output X:0 is spent by X in the mempool.',
    );
  });

  test('runes would go to the first output, so only the first parent may have them', async () => {
    const [plain, second] = await parentsOf(customer, 2, 'runic');
    await world.mine();
    const fees = await world.world.chain.coin();
    const etched = transaction(
      [second!.coin, fees],
      [
        { value: second!.coin.value, to: customer.ordinals.owner },
        { value: fees.value - 5_000, to: fees.owner },
        { value: 0, outputScript: premined(5) },
      ],
    );
    await world.world.chain.mine([etched]);
    await world.world.indexed();
    const runic = { ...second!, coin: etched.coin(0) };
    const { id } = await parents.ordered(['runic'], [plain!, runic].map(termsOf));
    expect(await refusal(id)).toMatch(
      /^400 The output X:0 of the parent Xi0 holds runes, which would go to/u,
    );
  });
});
