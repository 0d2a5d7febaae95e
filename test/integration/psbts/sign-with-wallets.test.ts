import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { PsbtWay } from '#orders/customers/psbt-way.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { customerAddress, type PaymentType } from '#test/support/psbts/customer-address.ts';
import { type Customer, type PsbtAnswer, PsbtWorld } from '#test/support/psbts/psbt-world.ts';
import { argumentsOf, signedPsbtIn, type WalletCall, walletCalls } from '#test/support/psbts/wallet-calls.ts';
import { callWallet } from '#test/support/psbts/wallets.ts';

/** The script to which parents return. */
const home = scriptOf(66_900);
const feeRate = 3;

interface Case {
  readonly name: string;
  readonly customer: Customer;
  /** Signs with a wallet. Returns the signed PSBTs, and the transaction id if the wallet sent the transaction. */
  readonly sign: (
    answer: PsbtAnswer,
    customer: Customer,
  ) => Promise<{ readonly psbt: string | readonly string[]; readonly sent?: string }>;
}

/** An order that is paid with a parent or with a special sat. */
interface Paid {
  readonly name: string;
  readonly id: string;
  readonly path: PsbtWay['path'];
  readonly answer: PsbtAnswer;
  readonly final: { readonly hex: string; readonly txid: string; readonly fee: number };
}

describe.skipIf(bitcoindForTests() === null)('orders that are paid with wallets', () => {
  let world: PsbtWorld;
  const paid: Paid[] = [];

  function customerOf(index: number, type: PaymentType, addresses: WalletCall['addresses']): Customer {
    const ordinals = customerAddress(66_000 + 2 * index);
    return { ordinals, payment: addresses === 'one' ? ordinals : customerAddress(66_001 + 2 * index, type) };
  }
  const values = (answer: PsbtAnswer, { payment, ordinals }: Customer) => ({
    ...answer,
    allInputIndices: [...answer.ordinalInputIndices, ...answer.paymentInputIndices],
    paymentAddress: payment.address,
    ordinalAddress: ordinals.address,
  });

  const signing =
    (call: WalletCall): Case['sign'] =>
    async (answer, customer) => {
      const returned = await callWallet(call, customer, argumentsOf(call, values(answer, customer)));
      return { psbt: signedPsbtIn(call, returned) };
    };
  const sending =
    (call: WalletCall): Case['sign'] =>
    async (answer, customer) => {
      const given = JSON.stringify(argumentsOf(call, values(answer, customer)));
      const told = JSON.parse(given.replace('"broadcast":false', '"broadcast":true')) as unknown[];
      const returned = await callWallet(call, customer, told, (hex) => world.broadcast(hex));
      const { txid, txId } = returned as { readonly txid?: string; readonly txId?: string };
      return { psbt: signedPsbtIn(call, returned), sent: txid ?? txId ?? '' };
    };
  /** Two accounts of a wallet with one address each. */
  const signingApart: Case['sign'] = async (answer, { payment, ordinals }) => {
    const signedBy = async (own: Customer['payment'], indices: readonly number[]): Promise<string> => {
      const toSignInputs = indices.map((index) => ({ index, address: own.address }));
      const given = [answer.psbtHex, { toSignInputs }];
      const account = { payment: own, ordinals: own };
      return (await callWallet({ wallet: 'UniSat', call: 'signPsbt' }, account, given)) as string;
    };
    return {
      psbt: [
        await signedBy(payment, answer.paymentInputIndices),
        await signedBy(ordinals, answer.ordinalInputIndices),
      ],
    };
  };

  const isSender = ({ arguments: given }: WalletCall): boolean => JSON.stringify(given).includes('broadcast');
  const cases: readonly Case[] = [
    ...walletCalls.flatMap((call) =>
      call.paymentTypes.map((type) => ({
        name: `${call.wallet} ${call.call}`,
        call,
        type,
        sign: signing(call),
      })),
    ),
    ...walletCalls
      .filter(isSender)
      .map((call) => ({ name: `${call.wallet} sends`, call, type: 'p2wpkh' as const, sign: sending(call) })),
    {
      name: 'UniSat with two accounts',
      call: { addresses: 'two' as const },
      type: 'p2wpkh' as const,
      sign: signingApart,
    },
  ].map(({ name, call, type, sign }, index) => ({
    name: `${name}, ${type}`,
    customer: customerOf(index, type, call.addresses),
    sign,
  }));

  async function get<Body>(url: string): Promise<Body> {
    const answer = await world.app.inject({ method: 'GET', url });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json();
  }
  async function posted<Body>(url: string, body: object): Promise<Body> {
    const answer = await world.post<Body>(url, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
    return answer.body;
  }

  beforeAll(async () => {
    world = await PsbtWorld.start();
    const held: { special?: string; parent?: OrderTerms['parents'][number] }[] = [];
    for (const [index, { name, customer }] of cases.entries()) {
      await world.fund(customer.payment, [30_000, 12_000]);
      if (index % 2 === 0) held.push({ special: (await world.special(customer.ordinals, 10_000)).name });
      else {
        const { id, coin } = await world.inscribed(customer.ordinals, name, 1_000);
        const parent = { id: parseInscriptionId(id)!, value: BigInt(coin.value), returnScript: home };
        held.push({ parent });
      }
    }
    await world.mine();
    for (const [index, { name, customer, sign }] of cases.entries()) {
      const { special, parent } = held[index]!;
      const wanted = wantedOrder([name], parent === undefined ? {} : { parents: [parent] });
      const { order } = await world.world.customerOrders.create(wanted);
      const { psbt: way } = await get<{ psbt: PsbtWay }>(`/order?id=${order.id}`);
      const answer = await world.built(way.path, customer, {
        ...way.body,
        feeRate,
        ...(special === undefined ? {} : { specialSatsOutput: special }),
      });
      const { psbt, sent } = await sign(answer, customer);
      const final = await posted<Paid['final']>('/tokenpay/utils/finalize-psbt', { psbt });
      if (sent !== undefined) expect(sent, name).toBe(final.txid);
      const submitted = await posted('/tokenpay/utils/submittx', { hex: final.hex });
      expect(submitted, name).toEqual({ txid: final.txid });
      paid.push({ name, id: order.id, path: way.path, answer, final });
    }
    await world.world.chain.mineMempool();
    for (const { id } of paid) {
      await world.world.until(id, 'queued');
      await world.world.sent(id);
    }
    await world.world.chain.mineMempool();
    for (const { id } of paid) await world.world.until(id, 'completed');
  }, 240_000);
  afterAll(() => world?.close());

  test('each is built, signed, finalized, sent and inscribed', async () => {
    expect(paid.map(({ name }) => name)).toEqual(cases.map(({ name }) => name));
    expect(new Set(paid.map(({ path }) => path)).size).toBe(2);
    for (const { name, id, answer, final } of paid) {
      expect([final.fee, Object.keys(final).includes('warnings')], name).toEqual([answer.fee, false]);
      const shown = await get<{ state: string; psbt?: PsbtWay }>(`/order?id=${id}`);
      expect([shown.state, shown.psbt], name).toEqual(['completed', undefined]);
    }
    expect((await world.world.audit()).differing).toBe(0);
  });
});
