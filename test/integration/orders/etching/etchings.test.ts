import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import type { Inscribed } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { callClient } from '#test/support/orders/call-client.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { customerAddress } from '#test/support/psbts/customer-address.ts';

const receiver = 820;
const refunded = 830;
const runMs = 240_000;
const opDrop = 0x75;

interface Etched {
  readonly id: string;
  readonly state: string;
  readonly orderType: string;
  readonly error?: string;
  readonly charge: { readonly address: string; readonly amount: number };
  readonly chainFee: number;
  readonly files: readonly { readonly inscriptionId?: string }[];
  readonly etchingTx?: { readonly commit: string; readonly reveal?: string };
  readonly runeProperties: { readonly rune: string | null; readonly supply: number | string };
  readonly refund?: { readonly amount: number };
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}
interface Rune404 {
  readonly entry: { readonly etching: string; readonly premine: number; readonly spaced_rune: string };
}

const nameOf = (text: string): Rune => parseSpacedRune(text)!.rune;

describe.skipIf(bitcoindForTests() === null)('etchings to order beside a real node', () => {
  let service: OrderService;
  beforeAll(async () => {
    service = await OrderService.start({ INDEX_RUNES: 'true' });
  }, runMs);
  afterAll(() => service?.close());

  const read = async (id: string): Promise<Etched> => (await service.order(id)) as unknown as Etched;

  async function order(body: object, path = '/runes/etch'): Promise<Etched> {
    const answer = await service.post(path, {
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refunded),
      fee: 2,
      ...body,
    });
    const made = (await answer.json()) as Etched;
    expect([answer.status, made]).toMatchObject([200, { state: 'waiting-payment', orderType: 'rune-etch' }]);
    return made;
  }

  const until = (id: string, isSo: (shown: Etched) => boolean): Promise<Etched> =>
    service.eventually(async () => {
      const shown = await read(id);
      if (isSo(shown)) return shown;
      throw new Error(
        `order ${id} is ${shown.state}: ${shown.error ?? ''}\n${service.stderr().slice(-2000)}`,
      );
    });
  const untilState = (id: string, state: string): Promise<Etched> =>
    until(id, (shown) => shown.state === state);

  /** Pays it, mines the payment, and waits until the commit is in the mempool. */
  async function committed({ id, charge }: Etched): Promise<Etched> {
    await service.chain.payAddress(charge.address, charge.amount);
    await untilState(id, 'waiting-confirmation');
    await service.chain.mineMempool();
    return until(id, ({ etchingTx }) => etchingTx !== undefined);
  }

  const mempool = (): Promise<string[]> => service.bitcoind.rpc.call<string[]>('getrawmempool');

  const runeOf = async (name: string): Promise<Rune404['entry'] | null> => {
    const answer = await fetch(new URL(`/rune/${name}`, service.origin), {
      headers: { accept: 'application/json' },
    });
    return answer.status === 404 ? null : ((await answer.json()) as Rune404).entry;
  };

  /** A stranger's transactions that etch a name: the first one claims it. */
  const rival = (name: string): Promise<Inscribed> => {
    const commitment = runeCommitment(nameOf(name));
    const runestone = encipher({
      kind: 'runestone',
      edicts: [],
      etching: { ...plainEtching, rune: nameOf(name), premine: asU128(7n) },
      mint: null,
      pointer: null,
    });
    return service.chain.inscribe(Uint8Array.of(commitment.length, ...commitment, opDrop), {
      payments: [{ value: 10_000 }, { value: 0, outputScript: runestone }],
    });
  };

  const differences = async (): Promise<unknown> =>
    service.eventually(async () => {
      const { differences: found } = await auditOrders({
        database: service.database.pool,
        node: service.bitcoind.rpc,
      });
      if (found.length > 0) throw new Error(JSON.stringify(found));
      return found;
    });

  test('the reveal is sent for the block that gives its commit the sixth confirmation, and etches what was asked', async () => {
    const made = await order({
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
    const { etchingTx } = await committed(made);
    expect(etchingTx).toEqual({ commit: expect.stringMatching(/^[0-9a-f]{64}$/u) as string });
    expect(await mempool()).toEqual([etchingTx!.commit]);
    const { height } = await service.chain.mineMempool();
    await service.chain.mineEmpty(3);
    expect((await untilState(made.id, 'waiting-reveal')).etchingTx).toEqual(etchingTx);
    expect(await mempool()).toEqual([]);
    // the next block gives it the sixth confirmation
    await service.chain.mineEmpty(1);
    const sent = await until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    expect(sent.state).toBe('queued');
    await service.eventually(async () => (await mempool()).includes(sent.etchingTx!.reveal!));
    const block = await service.chain.mineMempool();
    expect(block.height).toBe(height + 5);
    const { files } = await untilState(made.id, 'completed');
    expect(files[0]!.inscriptionId).toBe(`${sent.etchingTx!.reveal}i0`);
    expect(await runeOf('FIRST•OF•ITS•KIND')).toMatchObject({
      etching: sent.etchingTx!.reveal,
      spaced_rune: 'FIRST•OF•ITS•KIND',
      premine: 100_000,
      divisibility: 2,
      symbol: '¤',
      turbo: true,
      terms: { amount: 1_000, cap: 2_000 },
    });
    const balance = await fetch(new URL(`/address/${addressOf(receiver)}`, service.origin), {
      headers: { accept: 'application/json' },
    });
    expect(JSON.stringify(await balance.json())).toContain('FIRST•OF•ITS•KIND');
    expect(await differences()).toEqual([]);
  });

  test('createRunesEtchOrder of the public client etches what its body says', async () => {
    const { address } = customerAddress(840, 'p2wpkh');
    const { value, error } = await callClient<Etched>(service.origin, 'Inscription', 'createRunesEtchOrder', [
      {
        rune: 'ORDERED.BY.A.CLIENT',
        supply: 3,
        symbol: '🐉',
        divisibility: 38,
        fee: 3,
        receiveAddress: address,
        terms: { offset: { start: 1, end: 100 }, height: { start: 1, end: 4_000_000 }, cap: 4, amount: 0.5 },
        turbo: false,
        premine: 1,
      },
    ]);
    expect(error).toBeUndefined();
    const made = value!;
    await committed(made);
    await service.chain.mineMempool();
    await service.chain.mineEmpty(4);
    const { etchingTx } = await until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await service.eventually(async () => (await mempool()).includes(etchingTx!.reveal!));
    await service.chain.mineMempool();
    await untilState(made.id, 'completed');
    const read = await callClient<Etched>(service.origin, 'Inscription', 'getOrder', [made.id]);
    expect(read.value).toMatchObject({ orderType: 'rune-etch', etchingTx, state: 'completed' });
    const half = 5n * 10n ** 37n;
    expect(await runeOf('ORDERED•BY•A•CLIENT')).toMatchObject({
      etching: etchingTx!.reveal,
      divisibility: 38,
      symbol: '🐉',
      turbo: false,
      terms: { cap: 4, height: [1, 4_000_000], offset: [1, 100] },
    });
    const { rows } = await service.database.pool.query(
      `SELECT premine::text, amount::text FROM chain.runes WHERE txid = $1`,
      [Buffer.from(etchingTx!.reveal!, 'hex').reverse()],
    );
    expect(rows).toEqual([{ premine: String(2n * half), amount: String(half) }]);
  });

  test('an etching without a name or files waits for nothing', async () => {
    const made = await order({ premine: '340282366920938463463374607431768211455' });
    expect(made.runeProperties).toMatchObject({
      rune: null,
      supply: '340282366920938463463374607431768211455',
    });
    await committed(made);
    const { etchingTx } = await until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await service.eventually(async () => (await mempool()).includes(etchingTx!.reveal!));
    await service.chain.mineMempool();
    await untilState(made.id, 'completed');
    expect(await differences()).toEqual([]);
  });

  test('a name that a stranger etches before the commit is refunded whole', async () => {
    const claim = await rival('TAKENBEFOREIT');
    await service.chain.mine([claim.commit]);
    await service.chain.mineEmpty(4);
    const made = await order({ rune: 'TAKENBEFOREIT', premine: 5 });
    await service.chain.payAddress(made.charge.address, made.charge.amount);
    await untilState(made.id, 'waiting-confirmation');
    await service.chain.broadcast(claim.reveal);
    await service.chain.mineMempool();
    const shown = await untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(
      /^The rune TAKENBEFOREIT is etched already, in block \d+\. Choose another name\.$/u,
    );
    expect(shown.etchingTx).toBeUndefined();
    const { refund } = await until(made.id, ({ refund: sent }) => sent !== undefined);
    await service.chain.mineMempool();
    await untilState(made.id, 'refunded');
    expect(refund!.amount).toBeGreaterThan(made.charge.amount - 500);
    expect(await runeOf('TAKENBEFOREIT')).toMatchObject({ etching: claim.reveal.txid });
    expect(await differences()).toEqual([]);
  });

  test('a name that a stranger etches while the reveal waits is refunded without the fee of the commit', async () => {
    const claim = await rival('TAKENMEANWHILE');
    const made = await order({ rune: 'TAKEN•MEANWHILE', premine: 5 });
    const { etchingTx } = await committed(made);
    await service.chain.mine([claim.commit]);
    await service.chain.mineMempool();
    await untilState(made.id, 'waiting-reveal');
    await service.chain.mineEmpty(3);
    await service.chain.mine([claim.reveal]);
    const shown = await untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(/^The rune TAKEN•MEANWHILE is etched already/u);
    const { refund } = await until(made.id, ({ refund: sent }) => sent !== undefined);
    await service.chain.mineMempool();
    await untilState(made.id, 'refunded');
    expect(refund!.amount).toBeLessThan(made.charge.amount);
    expect(refund!.amount).toBeGreaterThan(made.charge.amount - made.chainFee);
    expect(etchingTx!.reveal).toBeUndefined();
    expect(await differences()).toEqual([]);
  });

  /** An order whose reveal is in the mempool, while a stranger's transaction may etch the name at any time. */
  async function raced(name: string): Promise<{ made: Etched; claim: Inscribed; reveal: string }> {
    const claim = await rival(name);
    const made = await order({ rune: name, premine: 5 });
    await committed(made);
    await service.chain.mine([claim.commit]);
    await service.chain.mineMempool();
    await service.chain.mineEmpty(4);
    const { etchingTx } = await until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    const reveal = etchingTx!.reveal!;
    await service.eventually(async () => (await mempool()).includes(reveal));
    return { made, claim, reveal };
  }

  test('a name that a stranger etches in the block of the reveal is an error, and nothing is refunded', async () => {
    const { made, claim, reveal } = await raced('LOSTINONEBLOCK');
    const miner = addressOf(900);
    await service.bitcoind.rpc.call('generateblock', [miner, [claim.reveal.hex, reveal]]);
    const shown = await untilState(made.id, 'error');
    expect(shown.error).toMatch(/^Another transaction etched the name first/u);
    expect(await runeOf('LOSTINONEBLOCK')).toMatchObject({ etching: claim.reveal.txid });
    expect(await differences()).toEqual([]);
    await service.chain.mineEmpty(2);
    expect((await read(made.id)).state).toBe('error');
  });

  test('a name that a stranger etches just before the reveal has the commit spent by one of reveal and refund', async () => {
    const { made, claim, reveal } = await raced('LOSTBYONEBLOCK');
    await service.chain.mine([claim.reveal]);
    const shown = await untilState(made.id, 'waiting-refund');
    expect(shown.error).toMatch(/^The rune LOSTBYONEBLOCK is etched already/u);
    // the node has the reveal, and a block does, too
    await service.bitcoind.rpc.call('generateblock', [addressOf(900), [reveal]]);
    await untilState(made.id, 'error');
    expect(await differences()).toEqual([]);
  });

  test('of two orders for one name the first that commits has it, and no third one is taken', async () => {
    const body = { rune: 'WANTEDBYSEVERAL', premine: 5 };
    const [first, second] = [await order(body), await order(body)];
    await committed(first);
    await service.chain.payAddress(second.charge.address, second.charge.amount);
    await untilState(second.id, 'waiting-confirmation');
    await service.chain.mineMempool();
    const shown = await untilState(second.id, 'waiting-refund');
    expect(shown.error).toMatch(/^Another order of this service etches the name WANTEDBYSEVERAL\./u);
    const refused = await service.post('/runes/etch', { receiveAddress: addressOf(receiver), ...body });
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([
      400,
      expect.stringContaining('Another order of this service etches the name'),
    ]);
    const { refund } = await until(second.id, ({ refund: sent }) => sent !== undefined);
    expect(refund!.amount).toBeGreaterThan(second.charge.amount - 500);
    await service.chain.mineEmpty(4);
    const { etchingTx } = await until(first.id, ({ etchingTx: sent }) => sent?.reveal !== undefined);
    await service.eventually(async () => (await mempool()).includes(etchingTx!.reveal!));
    await service.chain.mineMempool();
    await untilState(first.id, 'completed');
    await untilState(second.id, 'refunded');
    expect(await differences()).toEqual([]);
  });

  test('a restart while it waits, and a commit that a reorganisation takes back, end in the same etching', async () => {
    const made = await order({ rune: 'AFTERALLOFTHAT', terms: { amount: 1, cap: 10 } });
    const { etchingTx } = await committed(made);
    const { hash } = await service.chain.mineMempool();
    await untilState(made.id, 'waiting-reveal');
    await service.kill();
    await service.begin();
    await service.chain.mineEmpty(2);
    await service.bitcoind.rpc.call('invalidateblock', [hash]);
    await service.chain.mineEmpty(4);
    // it is sent again
    await service.eventually(async () => (await mempool()).includes(etchingTx!.commit));
    const { height } = await service.chain.mineMempool();
    await service.chain.mineEmpty(4);
    const { etchingTx: sent } = await until(made.id, (shown) => shown.etchingTx?.reveal !== undefined);
    await service.eventually(async () => (await mempool()).includes(sent!.reveal!));
    expect((await service.chain.mineMempool()).height).toBe(height + 5);
    await untilState(made.id, 'completed');
    expect(await runeOf('AFTERALLOFTHAT')).toMatchObject({ etching: sent!.reveal, premine: 0 });
    expect(await differences()).toEqual([]);
  });

  test('a name that is taken is refused before an address is shown, and so is its price', async () => {
    const pending = await rival('PENDINGRIVALRY');
    await service.chain.mine([pending.commit]);
    await service.chain.mineEmpty(4);
    await service.chain.broadcast(pending.reveal);
    const body = { receiveAddress: addressOf(receiver), premine: 5 };
    const refusal = async (rune: string): Promise<string> => {
      const answers = [
        await service.post('/runes/etch', { ...body, rune }),
        await service.post('/price', { type: 'rune-etch', order: { ...body, rune } }),
      ];
      const [created, priced] = (await Promise.all(answers.map((answer) => answer.json()))) as {
        error: { msg: string }[];
      }[];
      expect(created).toEqual(priced);
      return created!.error[0]!.msg;
    };
    await service.eventually(async () =>
      /^rune: The pending transaction [0-9a-f]{64} etches the name PENDINGRIVALRY\. /u.test(
        await refusal('PENDINGRIVALRY'),
      ),
    );
    await service.chain.mineMempool();
    await service.eventually(async () =>
      /^rune: The rune PENDING•RIVALRY is etched already, in block \d+\. /u.test(
        await refusal('PENDING•RIVALRY'),
      ),
    );
    expect(await refusal('UNDERTWELVE')).toMatch(
      /^rune: The name UNDERTWELVE is locked until block \d+: the first block that could etch it for this order is \d+\.$/u,
    );
  });
});
