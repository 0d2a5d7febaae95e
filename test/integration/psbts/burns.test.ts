import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { burnScript, type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import {
  type CustomerAddress,
  customerAddress,
  paymentTypes,
  signerBody,
} from '#test/support/psbts/customer-address.ts';
import { psbtApp } from '#test/support/psbts/psbt-app.ts';
import { type SigningLibrary, signingLibraries } from '#test/support/psbts/sign-psbt.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

interface Built {
  readonly psbtBase64: string;
  readonly psbtHex: string;
  readonly ordinalInputIndices?: readonly number[];
  readonly paymentInputIndices?: readonly number[];
  readonly runeInputs?: { readonly indices: readonly number[]; readonly address: string };
  readonly paymentInputs?: { readonly indices: readonly number[]; readonly address: string };
  readonly fee: number;
  readonly outputs: readonly { readonly value: number; readonly purpose: string }[];
  readonly warnings: readonly string[];
  readonly unproven: readonly string[];
}

/** A customer with both addresses, and the library that signs for them. */
interface Customer {
  readonly payment: CustomerAddress;
  readonly ordinals: CustomerAddress;
  readonly library: SigningLibrary;
}

const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;
const customers = paymentTypes.flatMap((type, index) =>
  signingLibraries.map((library, place): Customer => {
    const owner = 200 + 10 * index + 2 * place;
    return { payment: customerAddress(owner, type), ordinals: customerAddress(owner + 1), library };
  }),
);
const transfer = '{"p":"brc-20","op":"transfer","tick":"ordi","amt":"1"}';
const stranger = 300;
/** The addresses of the cases beside those of all customers. */
const [owner, other] = [customerAddress(310, 'p2wpkh'), customerAddress(311)] as const;

describe.skipIf(bitcoindForTests() === null)('burns by PSBT', () => {
  let indexed: IndexedNode;
  let app: App;
  /** For each customer an output with a transfer, and one with an inscription that does not begin it. */
  const transfers: Coin[] = [];
  const inscribed: { readonly coin: Coin; readonly id: string }[] = [];
  const named: Record<string, { readonly coin: Coin; readonly ids: readonly string[] }> = {};

  beforeAll(async () => {
    indexed = await startIndexedNode({ indexSats: true });
    const { chain } = indexed;
    // the first sat of a block is special, and stays in the first output
    const plain = async (...outputs: Parameters<typeof transaction>[1]) => {
      const coin = await chain.coin();
      const spent = outputs.reduce((sum, { value }) => sum + value, 0);
      const made = transaction(
        [coin],
        [{ value: 10_000 }, ...outputs, { value: coin.value - spent - 60_000 }],
      );
      return made;
    };
    const money = await plain(
      ...customers.flatMap(({ payment }) =>
        [60_000, 50_000, 40_000].map((value) => ({ value, to: payment.owner, type: payment.type })),
      ),
      ...[70_000, 80_000].map((value) => ({ value, to: owner.owner, type: owner.type })),
      ...Array.from({ length: 6 }, () => ({ value: 5_000, to: stranger })),
    );
    const sources = await plain(...Array.from({ length: 4 }, () => ({ value: 2_000_000 })));
    const batch = async (
      from: Coin,
      sizes: readonly number[],
      owners: readonly number[],
      body = transfer,
    ) => {
      const contents = sizes.map((_, index) => ({
        contentType: 'text/plain',
        body,
        pointer: sizes.slice(0, index).reduce((sum, size) => sum + size, 0),
      }));
      const payments = sizes.map((value, index) => ({ value, to: owners[index] ?? 0 }));
      return chain.inscribe(contents, { from, payments });
    };
    const ownersOf = customers.map(({ ordinals }) => ordinals.owner);
    const first = await batch(
      sources.coin(1),
      customers.map(() => 1_000),
      ownersOf,
    );
    const second = await batch(
      sources.coin(2),
      customers.map(() => 10_000),
      customers.map(() => stranger),
      'gone',
    );
    // each inscription of the second batch is moved to a place within an output of its customer
    const offsets = [0, 100, 4_000, 329, 330, 9_999, 5_000, 1];
    const moves = customers.map(({ ordinals }, index) => {
      const before = money.coin(money.coins.length - 1);
      return { ordinals, index, before };
    });
    const fillers = await plain(...moves.map(() => ({ value: 20_000, to: stranger })));
    const moved = moves.map(({ ordinals, index }) => {
      const offset = offsets[index % offsets.length]!;
      const filler = fillers.coin(1 + index);
      const whole = 20_000 - offset;
      const made = transaction(
        [filler, second.reveal.coin(index)],
        [
          { value: whole, to: stranger },
          { value: 9_000 + offset, to: ordinals.owner },
        ],
      );
      inscribed.push({ coin: made.coin(1), id: second.reveal.id(index) });
      return made;
    });
    transfers.push(...customers.map((_, index) => first.reveal.coin(index)));
    // outputs of the other cases
    const cases = await batch(
      sources.coin(3),
      Array.from({ length: 8 }, () => 10_000),
      Array.from({ length: 8 }, () => stranger),
    );
    const id = (index: number): string => cases.reveal.id(index);
    const runic = transaction(
      [cases.reveal.coin(0)],
      [
        { value: 9_000, to: other.owner },
        { value: 0, outputScript: premined(1_000) },
      ],
    );
    const runicLater = transaction(
      [fillers.coin(0), cases.reveal.coin(1)],
      [
        { value: 9_900, to: stranger },
        { value: 9_000, to: other.owner },
        { value: 0, outputScript: premined(1_000, 1) },
      ],
    );
    const both = transaction(
      [cases.reveal.coin(2), cases.reveal.coin(3)],
      [{ value: 19_000, to: other.owner }],
    );
    const rest = transaction([cases.reveal.coin(4)], [{ value: 9_000, to: other.owner }]);
    const spent = transaction([cases.reveal.coin(5)], [{ value: 9_000, to: other.owner }]);
    const gone = transaction(
      [cases.reveal.coin(6)],
      [{ value: 1, outputScript: burnScript }, { value: 9_000 }],
    );
    const kept = transaction([cases.reveal.coin(7)], [{ value: 9_000, to: other.owner }]);
    Object.assign(named, {
      gone: { coin: cases.reveal.coin(6), ids: [id(6)] },
      kept: { coin: kept.coin(0), ids: [id(7)] },
      runic: { coin: runic.coin(0), ids: [id(0)] },
      runicLater: { coin: runicLater.coin(1), ids: [id(1)] },
      both: { coin: both.coin(0), ids: [id(2), id(3)] },
      plain: { coin: rest.coin(0), ids: [id(4)] },
      spent: { coin: spent.coin(0), ids: [id(5)] },
      bare: { coin: money.coin(1 + customers.length * 3 + 2), ids: [] },
    });
    await chain.mine([
      money,
      sources,
      fillers,
      ...first.transactions,
      ...second.transactions,
      ...cases.transactions,
      ...moved,
      runic,
      runicLater,
      both,
      rest,
      spent,
      gone,
      kept,
    ]);
    await indexed.atTip();
    app = psbtApp(indexed);
    await app.ready();
  }, 120_000);

  afterAll(async () => {
    await app.close();
    await indexed.close();
  });

  const ask = async (url: string, payload: object) => {
    const answer = await app.inject({ method: 'POST', url, payload });
    return { status: answer.statusCode, body: answer.json<Built & { readonly message?: string }>() };
  };
  const built = async (url: string, payload: object): Promise<Built> => {
    const { status, body } = await ask(url, payload);
    expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
    return body;
  };

  /** Signs a PSBT by its indices, and sends it as a wallet does; its transaction. */
  async function send({ payment, ordinals, library }: Customer, made: Built): Promise<Transaction> {
    const signed = library.sign(made.psbtBase64, [
      { by: ordinals, indices: made.ordinalInputIndices ?? made.runeInputs?.indices ?? [] },
      { by: payment, indices: made.paymentInputIndices ?? made.paymentInputs?.indices ?? [] },
    ]);
    const hex = library.finalize(signed);
    await indexed.bitcoind.rpc.call<TxidHex>('sendrawtransaction', [hex, '0.10', '0.001']);
    return Transaction.fromRaw(Buffer.from(hex, 'hex'), { allowUnknownOutputs: true });
  }

  async function mined(): Promise<void> {
    await indexed.chain.mineMempool();
    await indexed.atTip();
  }

  const placeOf = async (id: string) => {
    const answer = await app.inject({ url: `/inscription/${id}`, headers: { accept: 'application/json' } });
    return answer.json<{ charms: string[]; satpoint: string }>();
  };

  test('of BRC-20 are mined for each type of payment address, signed by either library', async () => {
    const made = await Promise.all(
      customers.map(async (customer, index) => {
        const answer = await built('/create-burn-psbt', {
          utxo: outpoint(transfers[index]!),
          burnAmount: 600,
          changeAmount: '700',
          burnType: 'BRC20',
          feeRate: 30,
          ...signerBody(customer.payment, customer.ordinals),
        });
        expect(answer.ordinalInputIndices).toEqual([0]);
        expect(answer.warnings.filter((text) => text.includes('burned') || text.includes('fee'))).toEqual([]);
        return answer;
      }),
    );
    const sent = [];
    for (const [index, customer] of customers.entries()) sent.push(await send(customer, made[index]!));
    await mined();
    for (const [index, { coin }] of transfers.map((each, place) => [place, { coin: each }] as const)) {
      const burn = sent[index]!;
      expect(Buffer.from(burn.getOutput(0).script!).toString('hex')).toBe('6a');
      expect(burn.getOutput(0).amount).toBe(600n);
      expect(burn.getOutput(1).amount).toBeGreaterThanOrEqual(700n);
      const rate = made[index]!.fee / burn.vsize;
      expect(rate).toBeGreaterThanOrEqual(30);
      expect(rate).toBeLessThan(30 * 1.01);
      const place = await placeOf(`${coin.txid}i${index}`);
      expect(place.satpoint).toBe(`${burn.id}:0:0`);
      expect(place.charms).toContain('burned');
    }
  });

  test('of one inscribed sat are mined for each type of payment address, wherever the sat is', async () => {
    const made = await Promise.all(
      customers.map(({ payment, ordinals }, index) =>
        built('/tokenpay/create-burn-inscription-psbt', {
          inscriptionId: inscribed[index]!.id,
          ...(index % 2 === 0 ? {} : { utxo: outpoint(inscribed[index]!.coin) }),
          ...signerBody(payment, ordinals),
          feeRate: index === 0 ? '0.00002' : 2,
          metadata: 'gone',
        }),
      ),
    );
    const sent = [];
    for (const [index, customer] of customers.entries()) sent.push(await send(customer, made[index]!));
    await mined();
    for (const [index, { payment, ordinals }] of customers.entries()) {
      const { fee, outputs, runeInputs, paymentInputs } = made[index]!;
      expect([runeInputs?.address, paymentInputs?.address]).toEqual([ordinals.address, payment.address]);
      const burn = sent[index]!;
      const vout = outputs.findIndex(({ purpose }) => purpose === 'burn');
      expect(outputs[vout]?.value).toBe(1);
      expect(Buffer.from(burn.getOutput(vout).script!).toString('hex')).toBe('6a0564676f6e65');
      const place = await placeOf(inscribed[index]!.id);
      expect(place.satpoint).toBe(`${burn.id}:${vout}:0`);
      expect(place.charms).toContain('burned');
      // the sats of the output all return, or are padded
      const returned = outputs.filter(({ purpose }) => purpose === 'ordinals');
      const { value } = inscribed[index]!.coin;
      expect(returned.reduce((sum, each) => sum + each.value, 0)).toBeGreaterThanOrEqual(value - 1);
      for (const each of returned) expect(each.value).toBeGreaterThanOrEqual(330);
      expect(fee / burn.vsize).toBeGreaterThanOrEqual(2);
      expect(fee / burn.vsize).toBeLessThan(2 * 1.02);
    }
  });

  test('give the module of BRC2.0 its inscription, and runes return to the ordinals address', async () => {
    const customer = { payment: owner, ordinals: other, library: signingLibraries[0]! };
    const { coin, ids } = named['runic']!;
    const made = await built('/create-burn-psbt', {
      utxo: outpoint(coin),
      burnAmount: 546,
      changeAmount: 2_000,
      burnType: 'BRC20PROG',
      ...signerBody(owner, other),
    });
    expect(made.paymentInputIndices).toEqual([]);
    expect(made.outputs.map(({ purpose, value }) => `${purpose} ${value}`)).toEqual([
      'burn 546',
      'ordinals 330',
      'change 2000',
    ]);
    expect(made.fee).toBe(9_000 - 546 - 330 - 2_000);
    // it was moved before, and the fee is all that is left
    expect(made.warnings).toEqual([
      expect.stringMatching(/^The inscription has left the output that it was made in\./u) as string,
      expect.stringMatching(
        /^The fee is 6124 sats, .* with a changeAmount of 7\d+ it is 1\d\d sats/u,
      ) as string,
    ]);
    const padded = await built('/tokenpay/create-burn-inscription-psbt', {
      utxo: outpoint(named['runicLater']!.coin),
      ...signerBody(owner, other),
      feeRate: 1,
    });
    const burn = await send(customer, made);
    const later = await send(customer, padded);
    await mined();
    expect(Buffer.from(burn.getOutput(0).script!).toString('hex')).toBe('6a09425243323050524f47');
    expect((await placeOf(ids[0]!)).charms).toContain('burned');
    expect((await placeOf(named['runicLater']!.ids[0]!)).charms).toContain('burned');
    const runesAt = async (at: string): Promise<number> => {
      const answer = await app.inject({ url: `/output/${at}`, headers: { accept: 'application/json' } });
      return Object.keys(answer.json<{ runes: object }>().runes).length;
    };
    expect(await runesAt(`${burn.id}:1`)).toBe(1);
    const vout = padded.outputs.findIndex(({ purpose }) => purpose === 'ordinals');
    expect(await runesAt(`${later.id}:${vout}`)).toBe(1);
  });

  test('of an output with two inscriptions are refused, or name the one to burn', async () => {
    const { coin, ids } = named['both']!;
    const burn = { burnAmount: 1, changeAmount: 330, burnType: 'BRC20', ...signerBody(owner, other) };
    expect((await ask('/create-burn-psbt', { utxo: outpoint(coin), ...burn })).body.message).toBe(
      `utxo: the output ${outpoint(coin)} holds 2 inscriptions: send the others to outputs of their own first.`,
    );
    const url = '/tokenpay/create-burn-inscription-psbt';
    const signers = { ...signerBody(owner, other), feeRate: 1 };
    expect((await ask(url, { inscriptionId: ids[0], ...signers })).body.message).toMatch(
      /^utxo is required\./u,
    );
    expect((await ask(url, { utxo: outpoint(coin), ...signers })).body.message).toMatch(
      /^inscriptionId is required\./u,
    );
    const made = await built(url, { inscriptionId: ids[1], utxo: outpoint(coin), ...signers });
    expect(made.warnings).toEqual([`${ids[0]}, in the same output, returns to the ordinals address.`]);
    await send({ payment: owner, ordinals: other, library: signingLibraries[1]! }, made);
    await mined();
    expect((await placeOf(ids[1]!)).charms).toContain('burned');
    expect((await placeOf(ids[0]!)).charms).not.toContain('burned');
  });

  test('of outputs that are spent, unconfirmed, foreign or empty are refused in the form of builders', async () => {
    const { chain } = indexed;
    const pending = transaction([named['spent']!.coin], [{ value: 8_000, to: other.owner }]);
    await chain.broadcast(pending);
    const burn = { burnAmount: 1, changeAmount: 330, burnType: 'BRC20', ...signerBody(owner, other) };
    const refused = async (utxo: string): Promise<string | undefined> => {
      const { status, body } = await ask('/create-burn-psbt', { utxo, ...burn });
      expect(status).toBe(400);
      expect(body).toEqual({ success: false, status: 400, message: expect.any(String) as string, stack: {} });
      return body.message;
    };
    expect(await refused(outpoint(named['spent']!.coin))).toContain(
      `is spent by ${pending.txid} in the mempool`,
    );
    expect(await refused(`${pending.txid}:0`)).toContain('is not confirmed');
    expect(await refused(outpoint(named['gone']!.coin))).toContain('is spent, or does not exist');
    expect(await refused(outpoint(named['bare']!.coin))).toContain('does not belong to');
    const moved = transaction(
      [named['plain']!.coin],
      [
        { value: 4_000, to: other.owner },
        { value: 4_500, to: other.owner },
      ],
    );
    await chain.broadcast(moved);
    await mined();
    expect(await refused(`${moved.txid}:1`)).toContain('holds no inscription');
    const url = '/tokenpay/create-burn-inscription-psbt';
    const wrong = await ask(url, {
      inscriptionId: named['kept']!.ids[0],
      utxo: `${moved.txid}:0`,
      ...signerBody(owner, other),
    });
    expect(wrong.body.message).toContain(`does not hold ${named['kept']!.ids[0]}`);
    const unknown = await ask(url, { inscriptionId: `${'0'.repeat(64)}i0`, ...signerBody(owner, other) });
    expect(unknown).toMatchObject({ status: 404, body: { success: false, status: 404 } });
    const burned = await ask(url, { inscriptionId: named['gone']!.ids[0], ...signerBody(owner, other) });
    expect(burned.body.message).toContain('is burned already');
    // 500 sats: not enough for any fee without coins
    const poor = await ask('/create-burn-psbt', { ...burn, utxo: `${moved.txid}:0`, changeAmount: 3_990 });
    expect(poor.body.message).toMatch(
      /leave 9 of its 4000 sats for the fee, which is \d+ sats at the node's estimate/u,
    );
    const short = await ask('/create-burn-psbt', {
      ...burn,
      utxo: `${moved.txid}:0`,
      changeAmount: 900_000,
      feeRate: 1,
    });
    expect(short.body.message).toMatch(
      /^Not enough cardinal spendable funds\.\nAddress has: \d+ sats\nNeeded: \d+ sats/u,
    );
  });

  test('name all that is wrong with a request at once', async () => {
    const empty = await ask('/create-burn-psbt', {});
    expect(empty.body.message?.split('\n')).toEqual([
      'utxo is required.',
      'burnAmount is required.',
      'changeAmount is required.',
      'burnType is required.',
      'paymentPublicKey is required.',
      'paymentAddress is required.',
      'ordinalPublicKey is required.',
    ]);
    const inscription = await ask('/tokenpay/create-burn-inscription-psbt', { metadata: '€'.repeat(30) });
    expect(inscription.body.message?.split('\n')).toEqual([
      'inscriptionId or utxo is required.',
      'paymentPublicKey is required.',
      'paymentAddress is required.',
      'ordinalPublicKey is required.',
      'metadata has 90 bytes, and no more than 80 are taken',
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['burnAmount 0', { burnAmount: 0 }, /^burnAmount must be from 1 to 10000$/u],
    ['burnAmount 10,001', { burnAmount: 10_001 }, /^burnAmount must be from 1 to 10000$/u],
    ['burnAmount in words', { burnAmount: 'all' }, /^burnAmount must be a whole number/u],
    ['changeAmount 329', { changeAmount: 329 }, /^changeAmount must be at least 330$/u],
    ['another type', { burnType: 'BRC21' }, /^burnType must be one of BRC20, BRC20PROG$/u],
    ['feeRate 0.05', { feeRate: 0.05 }, /^feeRate must be from 0\.1 to 10000/u],
    ['feeRate 10^9', { feeRate: 1e9 }, /^feeRate must be from 0\.1 to 10000/u],
    ['no output', { utxo: 'abc:0' }, /^utxo is not an output/u],
    ['a key off the curve', { ordinalPublicKey: '00'.repeat(32) }, /not a point of the curve/u],
    [
      'a key of another address',
      { paymentPublicKey: customerAddress(999, 'p2wpkh').publicKey },
      /is not the key of/u,
    ],
    [
      'dust of P2PKH',
      { ...signerBody(customerAddress(320, 'p2pkh'), other), changeAmount: 400 },
      /less than 546 sats/u,
    ],
  ])('refuse %s', async (_, wrong, message) => {
    const { coin } = named['both']!;
    const valid = {
      utxo: outpoint(coin),
      burnAmount: 1,
      changeAmount: 330,
      burnType: 'BRC20',
      ...signerBody(owner, other),
    };
    const { status, body } = await ask('/create-burn-psbt', { ...valid, ...wrong });
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  test('with metadata that the node does not relay are refused with the longest that it does', async () => {
    const { rpc } = indexed.bitcoind;
    const older: NodeRpc = {
      ...rpc,
      call: async <Result>(...parameters: Parameters<NodeRpc['call']>) => {
        const answer = await rpc.call<Result>(...parameters);
        if (parameters[0] !== 'getmempoolinfo') return answer;
        const { maxdatacarriersize: _, ...others } = answer as Record<string, unknown>;
        return others as Result;
      },
    };
    const olderApp = psbtApp(indexed, { node: older });
    const body = { inscriptionId: named['kept']!.ids[0], ...signerBody(owner, other), feeRate: 1 };
    const answerTo = async (bytes: number) =>
      olderApp.inject({
        method: 'POST',
        url: '/tokenpay/create-burn-inscription-psbt',
        payload: { ...body, metadata: 'x'.repeat(bytes) },
      });
    expect((await answerTo(79)).json<{ message: string }>().message).toBe(
      'metadata: 79 bytes make an OP_RETURN of 84 bytes, and the node relays 83: send at most 78.',
    );
    expect((await answerTo(78)).statusCode).toBe(200);
    expect(
      (await ask('/tokenpay/create-burn-inscription-psbt', { ...body, metadata: 'x'.repeat(80) })).status,
    ).toBe(200);
    await olderApp.close();
  });
});
