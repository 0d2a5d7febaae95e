import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Inscribed } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { callClient } from '#test/support/orders/call-client.ts';
import { expectModelOfChain } from '#test/support/orders/chain-model.ts';
import { EtchingOrders, type EtchingShown, receiver } from '#test/support/orders/etching-orders.ts';
import { expectOrdsAnswers } from '#test/support/orders/ord-answers.ts';
import { RuneOrders } from '#test/support/orders/rune-orders.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';
import { etchedKinds } from './etched-kinds.ts';
import { rivalCases } from './rival-cases.ts';
import { wayCases } from './way-cases.ts';

const runMs = 240_000;

describe.skipIf(bitcoindForTests() === null)('etchings to order beside a real node', () => {
  let orders: EtchingOrders;
  beforeAll(async () => {
    orders = await EtchingOrders.start();
  }, runMs);
  afterAll(async () => {
    try {
      await expectOrdsAnswers(orders?.service);
    } finally {
      await orders?.close();
    }
  }, runMs);

  rivalCases(() => orders);
  etchedKinds(() => orders);
  wayCases(() => orders);

  test('the reveal is sent for the block with the sixth confirmation of its commit, and etches the ordered rune', async () => {
    const made = await orders.order({
      rune: 'FIRST•OF•ITS•KIND',
      symbol: '¤',
      divisibility: 2,
      premine: 1_000,
      terms: { amount: 10, cap: 2_000 },
      supply: 21_000,
      turbo: true,
      files: [{ name: 'a.txt', size: 5, dataURL: 'data:text/plain;base64,aGVsbG8=' }],
    });
    expect(made.runeProperties).toMatchObject({
      rune: 'FIRST•OF•ITS•KIND',
      supply: 21_000,
      premine: 1_000,
      cap: 2_000,
      amount: 10,
      divisibility: 2,
      symbol: '¤',
      turbo: true,
    });
    expect(made.warnings!.map(({ code }) => code)).toContain('name-taken');
    expect(made.charge).toMatchObject({
      description: 'Rune etching order',
      uri: expect.stringMatching(/&label=Rune%20etching%20order$/u) as string,
    });
    const { etchingTx } = await orders.committed(made);
    expect(etchingTx).toEqual({ commit: expect.stringMatching(/^[0-9a-f]{64}$/u) as string });
    expect(await orders.mempool()).toEqual([etchingTx!.commit]);
    const { height } = await orders.service.chain.mineMempool();
    await orders.service.chain.mineEmpty(3);
    expect((await orders.untilState(made.id, 'waiting-reveal')).etchingTx).toEqual(etchingTx);
    expect(await orders.mempool()).toEqual([]);
    // the next block gives the sixth confirmation
    await orders.service.chain.mineEmpty(1);
    await orders.untilState(made.id, 'queued');
    const reveal = await orders.revealed(made.id);
    const block = await orders.service.chain.mineMempool();
    expect(block.height).toBe(height + 5);
    const { files, rune, runeId } = await orders.untilState(made.id, 'completed');
    expect(files[0]!.inscriptionId).toBe(`${reveal}i0`);
    expect([rune, runeId]).toEqual(['FIRST•OF•ITS•KIND', `${block.height}:1`]);
    expect(await orders.runeOf('FIRST•OF•ITS•KIND')).toMatchObject({
      etching: reveal,
      spaced_rune: 'FIRST•OF•ITS•KIND',
      premine: 100_000,
      divisibility: 2,
      symbol: '¤',
      turbo: true,
      terms: { amount: 1_000, cap: 2_000 },
    });
    const balance = await fetch(new URL(`/address/${addressOf(receiver)}`, orders.service.origin), {
      headers: { accept: 'application/json' },
    });
    expect(JSON.stringify(await balance.json())).toContain('FIRST•OF•ITS•KIND');
    expect(await orders.differences()).toEqual([]);
  });

  test('createRunesEtchOrder of the public client etches what its body says', async () => {
    const { address } = customerAddress(840, 'p2wpkh');
    const { value, error } = await callClient<EtchingShown>(
      orders.service.origin,
      'Inscription',
      'createRunesEtchOrder',
      [
        {
          rune: 'ORDERED.BY.A.CLIENT',
          supply: 3,
          symbol: '🐉',
          divisibility: 38,
          fee: 3,
          receiveAddress: address,
          terms: {
            offset: { start: 1, end: 100 },
            height: { start: 1, end: 4_000_000 },
            cap: 4,
            amount: 0.5,
          },
          turbo: false,
          premine: 1,
        },
      ],
    );
    expect(error).toBeUndefined();
    const made = value!;
    await orders.committed(made);
    await orders.service.chain.mineMempool();
    await orders.service.chain.mineEmpty(4);
    const { etchingTx } = await orders.until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await orders.service.eventually(async () => (await orders.mempool()).includes(etchingTx!.reveal!));
    await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'completed');
    const read = await callClient<EtchingShown>(orders.service.origin, 'Inscription', 'getOrder', [made.id]);
    expect(read.value).toMatchObject({ orderType: 'rune-etch', etchingTx, state: 'completed' });
    const half = 5n * 10n ** 37n;
    expect(await orders.runeOf('ORDERED•BY•A•CLIENT')).toMatchObject({
      etching: etchingTx!.reveal,
      divisibility: 38,
      symbol: '🐉',
      turbo: false,
      terms: { cap: 4, height: [1, 4_000_000], offset: [1, 100] },
    });
    const { rows } = await orders.service.database.pool.query(
      `SELECT premine::text, amount::text FROM chain.runes WHERE txid = $1`,
      [Buffer.from(etchingTx!.reveal!, 'hex').reverse()],
    );
    expect(rows).toEqual([{ premine: String(2n * half), amount: String(half) }]);
  });

  test('an etching without a name or files does not wait', async () => {
    const made = await orders.order({ premine: '340282366920938463463374607431768211455' });
    expect(made.runeProperties).toMatchObject({
      rune: null,
      supply: '340282366920938463463374607431768211455',
    });
    await orders.committed(made);
    const { etchingTx } = await orders.until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await orders.service.eventually(async () => (await orders.mempool()).includes(etchingTx!.reveal!));
    const { height } = await orders.service.chain.mineMempool();
    const { rune, runeId } = await orders.untilState(made.id, 'completed');
    // the customer sees the id and the name of the etched rune
    expect(runeId).toMatch(new RegExp(String.raw`^${height}:[1-9]\d*$`, 'u'));
    expect(await orders.runeOf(rune!)).toMatchObject({ etching: etchingTx!.reveal });
    expect(await orders.differences()).toEqual([]);
  });

  /** Sum of an order in these accounts of its ledger, in sats. */
  const booked = async (id: string, accounts: readonly string[]): Promise<number> => {
    const { rows } = await orders.service.database.pool.query<{ sats: number }>(
      `SELECT coalesce(sum(CASE WHEN to_account = ANY($2) THEN amount ELSE 0 END
                           - CASE WHEN from_account = ANY($2) THEN amount ELSE 0 END), 0)::integer AS sats
         FROM service.ledger_entries WHERE order_id = $1`,
      [id, accounts],
    );
    return rows[0]!.sats;
  };

  test('an order whose name a stranger etches before the commit is refunded whole', async () => {
    const claim = await orders.rival('TAKENBEFOREIT');
    await orders.service.chain.mine([claim.commit]);
    await orders.service.chain.mineEmpty(4);
    const made = await orders.order({ rune: 'TAKENBEFOREIT', premine: 5 });
    await orders.service.chain.payAddress(made.charge.address, made.charge.amount);
    await orders.untilState(made.id, 'waiting-confirmation');
    await orders.service.chain.broadcast(claim.reveal);
    await orders.service.chain.mineMempool();
    const shown = await orders.untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(
      /^The rune TAKENBEFOREIT was already etched, in block \d+\. Choose another name\.$/u,
    );
    expect(shown.etchingTx).toBeUndefined();
    const { refund } = await orders.until(made.id, ({ refund: sent }) => sent !== undefined);
    await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'refunded');
    const fee = await booked(made.id, ['fee']);
    expect(refund!.amount).toBe(made.charge.amount - fee);
    expect(fee).toBeLessThan(2_000);
    expect(await orders.runeOf('TAKENBEFOREIT')).toMatchObject({ etching: claim.reveal.txid });
    expect(await orders.differences()).toEqual([]);
  });

  test('an order whose name a stranger etches while the reveal waits is refunded without the fee of the commit', async () => {
    const claim = await orders.rival('TAKENMEANWHILE');
    const made = await orders.order({ rune: 'TAKEN•MEANWHILE', premine: 5 });
    const { etchingTx } = await orders.committed(made);
    await orders.service.chain.mine([claim.commit]);
    await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'waiting-reveal');
    await orders.service.chain.mineEmpty(3);
    await orders.service.chain.mine([claim.reveal]);
    const shown = await orders.untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(/^The rune TAKEN•MEANWHILE was already etched/u);
    const { refund } = await orders.until(made.id, ({ refund: sent }) => sent !== undefined);
    await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'refunded');
    // miners got the fees of the commit and of the refund, whose rate depends on earlier blocks; no one else got anything
    expect(refund!.amount).toBe(made.charge.amount - (await booked(made.id, ['fee'])));
    expect(await booked(made.id, ['service', 'operator', 'referral'])).toBe(0);
    expect(etchingTx!.reveal).toBeUndefined();
    expect(await orders.differences()).toEqual([]);
  });

  /** Makes an order whose reveal is in the mempool. A stranger's transaction may etch the name at any time. */
  async function raced(
    name: string,
    body: object = {},
    more = 0,
  ): Promise<{ made: EtchingShown; claim: Inscribed; reveal: string }> {
    const claim = await orders.rival(name);
    const made = await orders.order({ rune: name, premine: 5, ...body });
    const { id, charge } = made;
    await orders.committed({ ...made, charge: { ...charge, amount: charge.amount + more } });
    await orders.service.chain.mine([claim.commit]);
    await orders.service.chain.mineMempool();
    await orders.service.chain.mineEmpty(4);
    return { made, claim, reveal: await orders.revealed(id) };
  }

  test('an order whose name a stranger etches in the block of the reveal is an error, and the rest is refunded', async () => {
    const { made, claim, reveal } = await raced('LOSTINONEBLOCK');
    await orders.service.bitcoind.rpc.call('generateblock', [addressOf(900), [claim.reveal.hex, reveal]]);
    const shown = await orders.untilState(made.id, 'error');
    expect(shown.error).toMatch(
      /^The reveal etched nothing, because another transaction etched the name first/u,
    );
    expect(await orders.runeOf('LOSTINONEBLOCK')).toMatchObject({ etching: claim.reveal.txid });
    const { refund } = await orders.until(made.id, ({ refund: sent }) => sent !== undefined);
    await orders.service.chain.mineMempool();
    await orders.service.eventually(async () => (await booked(made.id, ['owed'])) === 0);
    // the miner gets the chain fee, and the receiver gets the postage of the premine
    expect(refund!.amount).toBeGreaterThan(made.charge.amount - made.chainFee - 1_500);
    expect(await booked(made.id, ['service', 'operator', 'referral'])).toBe(0);
    expect((await orders.read(made.id)).state).toBe('error');
    expect(await orders.differences()).toEqual([]);
  });

  test('an excess payment for a lost name is refunded to the address that the operator names', async () => {
    const { made, claim, reveal } = await raced('LOSTANDOVERPAID', { refundAddress: undefined }, 20_000);
    await orders.service.bitcoind.rpc.call('generateblock', [addressOf(900), [claim.reveal.hex, reveal]]);
    await orders.untilState(made.id, 'error');
    await orders.service.eventually(async () => (await booked(made.id, ['owed'])) > 20_000);
    expect((await orders.read(made.id)).refund).toBeUndefined();
    const { exitCode, stdout } = await orders.service.command([
      'orders',
      'refund',
      made.id,
      '--to',
      addressOf(860),
    ]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('sats are owed') as string]);
    const { refund } = await orders.until(made.id, ({ refund: sent }) => sent !== undefined);
    expect(refund!.amount).toBeGreaterThan(made.charge.amount + 20_000 - made.chainFee - 2_000);
    await orders.service.chain.mineMempool();
    await orders.service.eventually(async () => (await booked(made.id, ['owed'])) === 0);
    expect((await orders.read(made.id)).state).toBe('error');
    expect(await orders.differences()).toEqual([]);
  });

  test('if a stranger etches the name just before the reveal, either the reveal or the refund spends the commit', async () => {
    const { made, claim, reveal } = await raced('LOSTBYONEBLOCK');
    await orders.service.chain.mine([claim.reveal]);
    const shown = await orders.untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(/^The rune LOSTBYONEBLOCK was already etched/u);
    // the node has the reveal, and then a block has it
    await orders.service.bitcoind.rpc.call('generateblock', [addressOf(900), [reveal]]);
    await orders.untilState(made.id, 'error');
    expect(await orders.differences()).toEqual([]);
  });

  test('of two orders for one name the first that commits gets it, and a third one is refused', async () => {
    const body = { rune: 'WANTEDBYSEVERAL', premine: 5 };
    const [first, second] = [await orders.order(body), await orders.order(body)];
    await orders.committed(first);
    await orders.service.chain.payAddress(second.charge.address, second.charge.amount);
    await orders.untilState(second.id, 'waiting-confirmation');
    await orders.service.chain.mineMempool();
    const shown = await orders.untilState(second.id, 'waiting-refund');
    expect(shown.error).toMatch(/^Another order of this service etches the name WANTEDBYSEVERAL\./u);
    const refused = await orders.service.post('/runes/etch', {
      receiveAddress: addressOf(receiver),
      ...body,
    });
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([
      400,
      expect.stringContaining('Another order of this service etches the name'),
    ]);
    const { refund } = await orders.until(second.id, ({ refund: sent }) => sent !== undefined);
    await orders.service.chain.mineEmpty(4);
    const { etchingTx } = await orders.until(first.id, ({ etchingTx: sent }) => sent?.reveal !== undefined);
    await orders.service.eventually(async () => (await orders.mempool()).includes(etchingTx!.reveal!));
    await orders.service.chain.mineMempool();
    await orders.untilState(first.id, 'completed');
    await orders.untilState(second.id, 'refunded');
    // a miner got the fee of the refund, whose rate depends on earlier blocks, and no one else got anything
    expect(shown.etchingTx).toBeUndefined();
    const fee = await booked(second.id, ['fee']);
    expect(refund!.amount).toBe(second.charge.amount - fee);
    expect(fee).toBeLessThan(2_000);
    expect(await orders.differences()).toEqual([]);
  });

  test('a restart while it waits, and a reorganisation of the commit, end in the same etching', async () => {
    const made = await orders.order({ rune: 'AFTERALLOFTHAT', terms: { amount: 1, cap: 10 } });
    const { etchingTx } = await orders.committed(made);
    const { hash } = await orders.service.chain.mineMempool();
    await orders.untilState(made.id, 'waiting-reveal');
    await orders.service.kill();
    await orders.service.begin();
    await orders.service.chain.mineEmpty(2);
    await orders.service.bitcoind.rpc.call('invalidateblock', [hash]);
    await orders.service.chain.mineEmpty(4);
    // the commit is sent again
    await orders.service.eventually(async () => (await orders.mempool()).includes(etchingTx!.commit));
    const { height } = await orders.service.chain.mineMempool();
    await orders.service.chain.mineEmpty(4);
    const { etchingTx: sent } = await orders.until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await orders.service.eventually(async () => (await orders.mempool()).includes(sent!.reveal!));
    expect((await orders.service.chain.mineMempool()).height).toBe(height + 5);
    await orders.untilState(made.id, 'completed');
    expect(await orders.runeOf('AFTERALLOFTHAT')).toMatchObject({ etching: sent!.reveal, premine: 0 });
    expect(await orders.differences()).toEqual([]);
  });

  test('a taken name is refused before an address is shown, and so is its price', async () => {
    const pending = await orders.rival('PENDINGRIVALRY');
    await orders.service.chain.mine([pending.commit]);
    await orders.service.chain.mineEmpty(4);
    await orders.service.chain.broadcast(pending.reveal);
    const body = { receiveAddress: addressOf(receiver), premine: 5 };
    const refusal = async (rune: string): Promise<string> => {
      const answers = [
        await orders.service.post('/runes/etch', { ...body, rune }),
        await orders.service.post('/price', { type: 'rune-etch', order: { ...body, rune } }),
      ];
      const [created, priced] = (await Promise.all(answers.map((answer) => answer.json()))) as {
        error: { msg: string }[];
      }[];
      expect(created).toEqual(priced);
      return created!.error[0]!.msg;
    };
    await orders.service.eventually(async () =>
      /^rune: The pending transaction [0-9a-f]{64} etches the name PENDINGRIVALRY\. /u.test(
        await refusal('PENDINGRIVALRY'),
      ),
    );
    await orders.service.chain.mineMempool();
    await orders.service.eventually(async () =>
      /^rune: The rune PENDING•RIVALRY was already etched, in block \d+\. /u.test(
        await refusal('PENDING•RIVALRY'),
      ),
    );
    expect(await refusal('UNDERTWELVE')).toMatch(
      /^rune: The name UNDERTWELVE is locked until block \d+, but the first block that could have this etching is \d+\.$/u,
    );
  });

  test('an independent reader of the protocol finds the same runes and balances in the blocks', async () => {
    // tests run in any order, so etch at least one rune here
    await new RuneOrders(orders.service).etch({});
    await orders.service.chain.mineMempool();
    await expectModelOfChain(orders.service);
  });
});
