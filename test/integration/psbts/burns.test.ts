import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { BurnWorld, burningCustomers, singleCustomer } from '#test/support/psbts/burn-world.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import { psbtApp } from '#test/support/psbts/psbt-app.ts';
import { signingLibraries } from '#test/support/psbts/sign-psbt.ts';

const { payment: owner, ordinals: other } = singleCustomer;

describe.skipIf(bitcoindForTests() === null)('burns by PSBT', () => {
  let world: BurnWorld;
  beforeAll(async () => {
    world = await BurnWorld.start();
  });
  afterAll(() => world?.close());

  test('of BRC-20 are mined for each type of payment address, signed by either library', async () => {
    const made = await Promise.all(
      burningCustomers.map(async (customer, index) => {
        const answer = await world.built('/create-burn-psbt', {
          utxo: world.transfers[index]!.name,
          burnAmount: 600,
          changeAmount: '700',
          burnType: 'BRC20',
          feeRate: 30,
          ...signerBody(customer.payment, customer.ordinals),
        });
        expect(answer.ordinalInputIndices).toEqual([0]);
        expect(answer.warnings.filter((text) => /inscribed|fee/u.test(text))).toEqual([]);
        expect(answer.warnings.at(-1)).toMatch(/a maxburnamount of 0\.000006 /u);
        return answer;
      }),
    );
    const sent = [];
    for (const [index, customer] of burningCustomers.entries())
      sent.push(await world.send(customer, made[index]!));
    await world.mine();
    for (const [index, { ids }] of world.transfers.entries()) {
      const burn = sent[index]!;
      expect(Buffer.from(burn.getOutput(0).script!).toString('hex')).toBe('6a');
      expect(burn.getOutput(0).amount).toBe(600n);
      expect(burn.getOutput(1).amount).toBeGreaterThanOrEqual(700n);
      const rate = made[index]!.fee / burn.vsize;
      expect(rate).toBeGreaterThanOrEqual(30);
      expect(rate).toBeLessThan(30 * 1.01);
      const place = await world.placeOf(ids[0]!);
      expect(place.satpoint).toBe(`${burn.id}:0:0`);
      expect(place.charms).toContain('burned');
    }
  });

  test('of one inscribed sat are mined for each type of payment address, wherever the sat is', async () => {
    const made = await Promise.all(
      burningCustomers.map(({ payment, ordinals }, index) =>
        world.built('/tokenpay/create-burn-inscription-psbt', {
          inscriptionId: world.inscribed[index]!.ids[0]!,
          ...(index % 2 === 0 ? {} : { utxo: world.inscribed[index]!.name }),
          ...signerBody(payment, ordinals),
          feeRate: index === 0 ? '0.00002' : 2,
          metadata: 'gone',
        }),
      ),
    );
    const sent = [];
    for (const [index, customer] of burningCustomers.entries())
      sent.push(await world.send(customer, made[index]!));
    await world.mine();
    for (const [index, { payment, ordinals }] of burningCustomers.entries()) {
      const { fee, outputs, runeInputs, paymentInputs } = made[index]!;
      expect([runeInputs?.address, paymentInputs?.address]).toEqual([ordinals.address, payment.address]);
      const burn = sent[index]!;
      const vout = outputs.findIndex(({ purpose }) => purpose === 'burn');
      expect(outputs[vout]?.value).toBe(1);
      expect(Buffer.from(burn.getOutput(vout).script!).toString('hex')).toBe('6a0564676f6e65');
      const place = await world.placeOf(world.inscribed[index]!.ids[0]!);
      expect(place.satpoint).toBe(`${burn.id}:${vout}:0`);
      expect(place.charms).toContain('burned');
      // all sats of the output return; an output below the dust limit is padded
      const returned = outputs.filter(({ purpose }) => purpose === 'ordinals');
      const { value } = world.inscribed[index]!.coin;
      expect(returned.reduce((sum, each) => sum + each.value, 0)).toBeGreaterThanOrEqual(value - 1);
      for (const each of returned) expect(each.value).toBeGreaterThanOrEqual(330);
      const page = await world.app.inject({
        url: `/inscription/${world.inscribed[index]!.ids[0]!}`,
        headers: { accept: 'text/html' },
      });
      expect(page.body).toContain('<h2>Burn metadata</h2><pre class="json">&quot;gone&quot;</pre>');
      expect(fee / burn.vsize).toBeGreaterThanOrEqual(2);
      expect(fee / burn.vsize).toBeLessThan(2 * 1.02);
    }
  });

  test('give the module of BRC2.0 its inscription, and runes return to the ordinals address', async () => {
    const customer = { payment: owner, ordinals: other, library: signingLibraries[0]! };
    const { name, ids } = world.cases.runic;
    const made = await world.built('/create-burn-psbt', {
      utxo: name,
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
    // the inscription was moved before, and all remaining sats are the fee
    expect(made.warnings).toEqual([
      expect.stringMatching(/^The inscription has already left the output in which it was made\./u) as string,
      expect.stringMatching(
        /^The fee is 6124 sats, .* With a changeAmount of \d{4} the fee is \d{3,4} sats/u,
      ) as string,
      expect.stringContaining('a maxburnamount of 0.00000546 ') as string,
    ]);
    const padded = await world.built('/tokenpay/create-burn-inscription-psbt', {
      utxo: world.cases.runicLater.name,
      ...signerBody(owner, other),
      feeRate: 1,
    });
    const burn = await world.send(customer, made);
    const later = await world.send(customer, padded);
    await world.mine();
    expect(Buffer.from(burn.getOutput(0).script!).toString('hex')).toBe('6a09425243323050524f47');
    expect((await world.placeOf(ids[0]!)).charms).toContain('burned');
    expect((await world.placeOf(world.cases.runicLater.ids[0]!)).charms).toContain('burned');
    const runesAt = async (at: string): Promise<number> => {
      const answer = await world.app.inject({
        url: `/output/${at}`,
        headers: { accept: 'application/json' },
      });
      return Object.keys(answer.json<{ runes: object }>().runes).length;
    };
    expect(await runesAt(`${burn.id}:1`)).toBe(1);
    const vout = padded.outputs.findIndex(({ purpose }) => purpose === 'ordinals');
    expect(await runesAt(`${later.id}:${vout}`)).toBe(1);
  });

  test('of an output with two inscriptions are refused, or name the one to burn', async () => {
    const { name, ids } = world.cases.both;
    const burn = { burnAmount: 1, changeAmount: 330, burnType: 'BRC20', ...signerBody(owner, other) };
    expect((await world.ask('/create-burn-psbt', { utxo: name, ...burn })).body.message).toBe(
      `utxo: the output ${name} holds 2 inscriptions. Send the other inscriptions to outputs of their own first.`,
    );
    const url = '/tokenpay/create-burn-inscription-psbt';
    const signers = { ...signerBody(owner, other), feeRate: 1 };
    expect((await world.ask(url, { inscriptionId: ids[0], ...signers })).body.message).toMatch(
      /^utxo is required\./u,
    );
    expect((await world.ask(url, { utxo: name, ...signers })).body.message).toMatch(
      /^inscriptionId is required\./u,
    );
    const made = await world.built(url, { inscriptionId: ids[1], utxo: name, ...signers });
    expect(made.warnings).toEqual([
      `${ids[0]}, which is in the same output, returns to the ordinals address.`,
      'Nodes refuse burned sats by default, and wallets that send the transaction may do so as well. Send the transaction with sendrawtransaction and a maxburnamount of 0.00000001 (bitcoins).',
    ]);
    await world.send({ payment: owner, ordinals: other, library: signingLibraries[1]! }, made);
    await world.mine();
    expect((await world.placeOf(ids[1]!)).charms).toContain('burned');
    expect((await world.placeOf(ids[0]!)).charms).not.toContain('burned');
  });

  test('of outputs that are spent, unconfirmed, foreign or empty are refused in the form of builders', async () => {
    const { chain } = world.indexed;
    const pending = transaction([world.cases.spent.coin], [{ value: 8_000, to: other.owner }]);
    await chain.broadcast(pending);
    const burn = { burnAmount: 1, changeAmount: 330, burnType: 'BRC20', ...signerBody(owner, other) };
    const refused = async (utxo: string): Promise<string | undefined> => {
      const { status, body } = await world.ask('/create-burn-psbt', { utxo, ...burn });
      expect(status).toBe(400);
      expect(body).toEqual({ success: false, status: 400, message: expect.any(String) as string, stack: {} });
      return body.message;
    };
    expect(await refused(world.cases.spent.name)).toContain(`is spent by ${pending.txid} in the mempool`);
    expect(await refused(`${pending.txid}:0`)).toContain('is not confirmed');
    expect(await refused(world.cases.gone.name)).toContain('is spent, or does not exist');
    expect(await refused(world.cases.foreign.name)).toContain('does not belong to');
    const moved = transaction(
      [world.cases.plain.coin],
      [
        { value: 4_000, to: other.owner },
        { value: 4_500, to: other.owner },
      ],
    );
    await chain.broadcast(moved);
    await world.mine();
    expect(await refused(`${moved.txid}:1`)).toContain('holds no inscription');
    const url = '/tokenpay/create-burn-inscription-psbt';
    const wrong = await world.ask(url, {
      inscriptionId: world.cases.kept.ids[0],
      utxo: `${moved.txid}:0`,
      ...signerBody(owner, other),
    });
    expect(wrong.body.message).toContain(`does not hold ${world.cases.kept.ids[0]}`);
    const unknown = await world.ask(url, {
      inscriptionId: `${'0'.repeat(64)}i0`,
      ...signerBody(owner, other),
    });
    expect(unknown).toMatchObject({ status: 404, body: { success: false, status: 404 } });
    const burned = await world.ask(url, {
      inscriptionId: world.cases.gone.ids[0],
      ...signerBody(owner, other),
    });
    expect(burned.body.message).toContain('is burned already');
    // the sats that are left are too few for any fee, and no other coins may be spent
    const poor = await world.ask('/create-burn-psbt', {
      ...burn,
      utxo: `${moved.txid}:0`,
      changeAmount: 3_990,
    });
    expect(poor.body.message).toMatch(
      /leave 9 of the 4000 sats of the output for the fee, but the fee is \d+ sats at the node's estimate/u,
    );
    const over = await world.ask('/create-burn-psbt', {
      ...burn,
      utxo: `${moved.txid}:0`,
      changeAmount: 900_000,
    });
    expect(over.body.message).toMatch(
      /need 896001 sats more than the 4000 sats of the output, without the fee, but the fee is \d+ sats at the node's estimate/u,
    );
    const short = await world.ask('/create-burn-psbt', {
      ...burn,
      utxo: `${moved.txid}:0`,
      changeAmount: 900_000,
      feeRate: 1,
    });
    expect(short.body.message).toMatch(
      /^Not enough cardinal spendable funds\.\nAddress has: \d+ sats\nNeeded: \d+ sats/u,
    );
  });

  test('of outputs that are not proven to hold nothing else are 503 with the reason', async () => {
    const { pool } = world.indexed.database;
    const set = (name: string, isFollowed: boolean) =>
      pool.query('UPDATE chain.derived_tables SET is_followed = $2 WHERE name = $1', [name, isFollowed]);
    const { name } = world.cases.kept;
    const body = { utxo: name, ...signerBody(owner, other), feeRate: 1 };
    const url = '/tokenpay/create-burn-inscription-psbt';
    await set('runes', false);
    const runes = await world.app.inject({ method: 'POST', url, payload: body });
    await set('runes', true);
    expect(runes.statusCode).toBe(503);
    expect(runes.json()).toEqual({
      status: 'error',
      reason: expect.stringMatching(
        /^cannot prove that these coins hold nothing, because .* runes are not indexed/u,
      ) as string,
    });
    await set('sats', false);
    const made = await world.built(url, body);
    await set('sats', true);
    expect(made.unproven).toEqual([
      expect.stringContaining('not looked for in the output that is burned') as string,
      expect.stringContaining('not looked for in the payment coins') as string,
    ]);
  });

  test('take fee and inscription from one address, and name the inputs of both parts', async () => {
    const customer = customerAddress(330);
    const { chain } = world.indexed;
    const made = await chain.inscribe({ contentType: 'text/plain', body: 'one' }, { to: 330 });
    const money = transaction(
      [await chain.coin()],
      [{ value: 10_000 }, { value: 50_000, to: 330 }, { value: 4_900_000_000 }],
    );
    await chain.mine([...made.transactions, money]);
    await world.indexed.atTip();
    const answer = await world.built('/tokenpay/create-burn-inscription-psbt', {
      inscriptionId: made.reveal.id(),
      paymentAddress: customer.address,
      paymentPublicKey: customer.publicKey,
      ordinalPublicKey: customer.publicKey,
    });
    expect(answer.runeInputs).toEqual({ indices: [0], address: customer.address });
    expect(answer.paymentInputs).toEqual({ indices: [1], address: customer.address });
    expect(answer.warnings).toEqual([
      'The inscribed sat is itself a special sat, and is burned with the inscription.',
      expect.stringContaining('maxburnamount') as string,
    ]);
    await world.send({ payment: customer, ordinals: customer, library: signingLibraries[0]! }, answer);
    await world.mine();
    expect((await world.placeOf(made.reveal.id())).charms).toContain('burned');
  });

  test('name all faults of a request at once', async () => {
    const empty = await world.ask('/create-burn-psbt', {});
    expect(empty.body.message?.split('\n')).toEqual([
      'utxo is required.',
      'burnAmount is required.',
      'changeAmount is required.',
      'burnType is required.',
      'paymentPublicKey is required.',
      'paymentAddress is required.',
      'ordinalPublicKey is required.',
    ]);
    const inscription = await world.ask('/tokenpay/create-burn-inscription-psbt', {
      metadata: '€'.repeat(30),
    });
    expect(inscription.body.message?.split('\n')).toEqual([
      'inscriptionId or utxo is required.',
      'paymentPublicKey is required.',
      'paymentAddress is required.',
      'ordinalPublicKey is required.',
      'metadata has 90 bytes, but at most 80 are accepted',
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
    const { name } = world.cases.both;
    const valid = {
      utxo: name,
      burnAmount: 1,
      changeAmount: 330,
      burnType: 'BRC20',
      ...signerBody(owner, other),
    };
    const { status, body } = await world.ask('/create-burn-psbt', { ...valid, ...wrong });
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  test('with metadata that the node does not relay are refused with the longest that it relays', async () => {
    const { rpc } = world.indexed.bitcoind;
    const older: NodeRpc = {
      ...rpc,
      call: async <Result>(...parameters: Parameters<NodeRpc['call']>) => {
        const answer = await rpc.call<Result>(...parameters);
        if (parameters[0] !== 'getmempoolinfo') return answer;
        const { maxdatacarriersize: _, ...others } = answer as Record<string, unknown>;
        return others as Result;
      },
    };
    const olderApp = psbtApp(world.indexed, { node: older });
    const body = { inscriptionId: world.cases.kept.ids[0], ...signerBody(owner, other), feeRate: 1 };
    const answerTo = async (bytes: number) =>
      olderApp.inject({
        method: 'POST',
        url: '/tokenpay/create-burn-inscription-psbt',
        payload: { ...body, metadata: 'x'.repeat(bytes) },
      });
    expect((await answerTo(79)).json<{ message: string }>().message).toBe(
      'metadata: 79 bytes make an OP_RETURN output of 84 bytes, but the node relays at most 83. Send at most 78 bytes.',
    );
    expect((await answerTo(78)).statusCode).toBe(200);
    expect(
      (await world.ask('/tokenpay/create-burn-inscription-psbt', { ...body, metadata: 'x'.repeat(80) }))
        .status,
    ).toBe(200);
    await olderApp.close();
  });
});
