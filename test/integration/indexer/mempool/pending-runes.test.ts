import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRune, type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { Edict, Etching, Runestone } from '#kernel/runes/runestone/artifact.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import {
  addressOf,
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';

interface Moved {
  readonly output: string;
  readonly address: string | null;
  readonly id: string | null;
  readonly rune: string | null;
  readonly etchedBy: string | null;
  readonly amount: string;
}
interface Pending {
  readonly transactions: {
    readonly txid: string;
    readonly etching: {
      readonly rune: string | null;
      readonly state: string;
      readonly matureHeight: number | null;
      readonly rivals: string[];
      readonly warning: string | null;
    } | null;
    readonly minted: Moved[];
    readonly sent: Moved[];
    readonly received: Moved[];
    readonly burned: Moved[];
  }[];
}

const opDrop = 0x75;
const fee = 5000;
const terms = (amount: number, cap: number) => ({
  amount: smallU128(amount),
  cap: smallU128(cap),
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
});

describe.skipIf(bitcoindThatRelaysReveals() === null)('runes in the mempool of a real node', () => {
  let live: LiveMempool;

  beforeAll(async () => {
    live = await LiveMempool.start();
    live.index();
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
  });
  afterAll(() => live.close());

  /** A transaction with a runestone at output 0. The rest of the coins returns to owner 0. */
  function stone(
    coins: readonly Coin[],
    parts: Partial<Omit<Runestone, 'kind'>>,
    owners: readonly number[],
  ): RegtestTransaction {
    const whole = {
      kind: 'runestone',
      edicts: [],
      etching: null,
      mint: null,
      pointer: null,
      ...parts,
    } as const;
    const left = coins.reduce((sum, { value }) => sum + value, 0) - owners.length * 10_000 - fee;
    return transaction(coins, [
      { value: 0, outputScript: encipher(whole) },
      ...owners.map((to) => ({ value: 10_000, to })),
      { value: left, to: 0 },
    ]);
  }

  const pending = (query = ''): Promise<Pending> => live.get<Pending>(`/mempool/runes${query}`);
  const ofTransaction = async ({ txid }: RegtestTransaction): Promise<Pending['transactions'][number]> => {
    const found = (await pending()).transactions.find((each) => each.txid === txid);
    if (found === undefined) throw new Error(`${txid} is not pending`);
    return found;
  };

  /** Etches a rune without a name in its own block, and returns the rune's id. */
  async function etch(
    amount: number,
    cap: number,
    owner = 20,
  ): Promise<{ id: string; etching: RegtestTransaction }> {
    const etching = stone(
      [await live.chain.coin()],
      { etching: { ...plainEtching, premine: smallU128(1000), terms: terms(amount, cap) }, pointer: 1 },
      [owner],
    );
    const { height } = await live.chain.mine([etching]);
    await live.indexed();
    return { id: `${height}:1`, etching };
  }

  const idOf = (id: string): Edict['id'] => {
    const [block = 0, tx = 0] = id.split(':').map(Number);
    return { block: smallU128(block), tx };
  };

  /** A mined output that commits to a name, and the coin that reveals it. */
  async function commit(name: Rune): Promise<{ transaction: RegtestTransaction; coin: Coin }> {
    const push = runeCommitment(name);
    const script = Buffer.concat([Buffer.from([push.length]), push, Buffer.from([opDrop])]);
    const from = await live.chain.coin();
    const made = transaction(
      [from],
      [
        { value: 100_000, commit: script },
        { value: from.value - 105_000, to: 0 },
      ],
    );
    return { transaction: made, coin: made.coin(0) };
  }

  test('a mint and the transaction that spends it are pending together, and indexed once mined', async () => {
    const { id, etching } = await etch(100, 5, 1);
    const mint = stone([await live.chain.coin()], { mint: idOf(id), pointer: 1 }, [2]);
    const send = stone(
      [mint.coin(1), await live.chain.coin()],
      { edicts: [{ id: idOf(id), amount: smallU128(40), output: 1 }], pointer: 2 },
      [3, 4],
    );
    const premine = stone([etching.coin(1), await live.chain.coin()], { pointer: 1 }, [3]);
    for (const each of [mint, send, premine]) await live.chain.broadcast(each);
    await live.eventually(async () => {
      expect((await pending(`?rune=${id}`)).transactions).toHaveLength(3);
    });
    expect(await ofTransaction(mint)).toMatchObject({
      etching: null,
      minted: [{ id, amount: '100' }],
      sent: [],
      received: [{ id, amount: '100', output: `${mint.txid}:1`, address: addressOf(2) }],
      burned: [],
    });
    expect(await ofTransaction(send)).toMatchObject({
      minted: [],
      sent: [{ id, amount: '100', output: `${mint.txid}:1`, address: addressOf(2) }],
      received: [
        { id, amount: '40', output: `${send.txid}:1`, address: addressOf(3) },
        { id, amount: '60', output: `${send.txid}:2`, address: addressOf(4) },
      ],
    });
    expect(await ofTransaction(premine)).toMatchObject({
      sent: [{ id, amount: '1000', output: `${etching.txid}:1`, address: addressOf(1) }],
      received: [{ id, amount: '1000', address: addressOf(3) }],
    });
    expect(await live.get(`/rune/${id}/minting`)).toMatchObject({ state: 'open', mints: 0, pendingMints: 1 });
    const unconfirmed = async (owner: number): Promise<unknown> =>
      live.get(`/address/${addressOf(owner)}/runes?pending=1`);
    expect(await unconfirmed(3)).toMatchObject({
      runes: [],
      pending: [{ id, received: { amount: '1040' }, sent: { amount: '0' } }],
    });
    expect(await unconfirmed(2)).toMatchObject({
      pending: [{ id, received: { amount: '100' }, sent: { amount: '100' } }],
    });
    expect(await unconfirmed(1)).toMatchObject({
      runes: [{ id, amount: '1000' }],
      pending: [{ id, received: { amount: '0' }, sent: { amount: '1000' } }],
    });
    expect((await pending(`?address=${addressOf(4)}`)).transactions.map(({ txid }) => txid)).toEqual([
      send.txid,
    ]);
    const paged = await live.get<Pending & { nextCursor: string }>(`/mempool/runes?rune=${id}&limit=1`);
    expect((await pending(`?rune=${id}&limit=9&cursor=${paged.nextCursor}`)).transactions).toHaveLength(2);

    // an inscription is never both pending and indexed
    const seen = new Set<string>();
    let isIndexed = false;
    const watching = (async () => {
      while (!isIndexed) {
        const { runes, pending: coming } = (await unconfirmed(3)) as { runes: Moved[]; pending: unknown[] };
        seen.add(`${runes.length} ${coming.length}`);
        isIndexed = runes.length > 0;
      }
    })();
    await live.chain.mine([mint, send, premine]);
    await watching;
    expect([...seen].sort()).toEqual(['0 1', '1 0']);
    await live.eventually(async () => expect((await pending(`?rune=${id}`)).transactions).toEqual([]));
    expect(await unconfirmed(3)).toMatchObject({ runes: [{ id, amount: '1040' }], pending: [] });
    expect(await live.get(`/rune/${id}/minting`)).toMatchObject({ mints: 1, pendingMints: 0 });
  });

  test('a mint that came too late gives nothing, and runes sent to a cenotaph are burned', async () => {
    const { id, etching } = await etch(7, 1);
    const first = stone([await live.chain.coin()], { mint: idOf(id), pointer: 1 }, [5]);
    const second = stone([await live.chain.coin()], { mint: idOf(id), pointer: 1 }, [6]);
    // the runestone has an even tag that no rule knows
    const broken = transaction(
      [etching.coin(1), await live.chain.coin()],
      [
        { value: 0, outputScript: Uint8Array.of(0x6a, 0x5d, 2, 0x7e, 0) },
        { value: 10_000, to: 5 },
      ],
    );
    for (const each of [first, second, broken]) await live.chain.broadcast(each);
    await live.eventually(async () => {
      for (const each of [first, second])
        expect(await ofTransaction(each)).toMatchObject({
          minted: [{ amount: '7' }],
          received: [{ amount: '7' }],
        });
      expect(await ofTransaction(broken)).toMatchObject({
        sent: [{ amount: '1000' }],
        received: [],
        burned: [{ id, amount: '1000' }],
      });
    });
    await live.chain.mine([first, broken]);
    // the second transaction is still pending, but has no effect
    await live.eventually(async () => expect((await pending(`?rune=${id}`)).transactions).toEqual([]));
    expect(await live.get(`/rune/${id}/minting`)).toMatchObject({
      state: 'used-up',
      left: '0',
      pendingMints: 0,
    });
    expect(await live.bitcoind.rpc.call('getrawmempool')).toContain(second.txid);
    // the second transaction gives units again after the other transaction is taken back
    await live.chain.takeBack(1);
    await live.eventually(async () => {
      expect(await ofTransaction(second)).toMatchObject({ minted: [{ amount: '7' }] });
    });
    await live.chain.mine([second, broken]);
    await live.eventually(async () => expect((await pending(`?rune=${id}`)).transactions).toEqual([]));
  });

  test('runes of an output that was pending before are sent and burned like those of a block', async () => {
    const { id, etching } = await etch(7, 1);
    const moved = stone([etching.coin(1), await live.chain.coin()], { pointer: 1 }, [14]);
    const parts = stone(
      [moved.coin(1), await live.chain.coin()],
      { edicts: [{ id: idOf(id), amount: smallU128(400), output: 1 }], pointer: 2 },
      [15, 16],
    );
    const burning = transaction(
      [parts.coin(1), await live.chain.coin()],
      [
        { value: 0, outputScript: Uint8Array.of(0x6a, 0x5d, 2, 0x7e, 0) },
        { value: 10_000, to: 5 },
      ],
    );
    // each transaction is processed separately
    for (const each of [moved, parts, burning]) {
      await live.chain.broadcast(each);
      await live.eventually(async () => void (await ofTransaction(each)));
    }
    expect(await ofTransaction(parts)).toMatchObject({
      sent: [{ id, amount: '1000' }],
      received: [
        { id, amount: '400', address: addressOf(15) },
        { id, amount: '600', address: addressOf(16) },
      ],
    });
    expect(await ofTransaction(burning)).toMatchObject({
      sent: [{ id, amount: '400' }],
      received: [],
      burned: [{ id, amount: '400' }],
    });
    await live.chain.mine([moved, parts, burning]);
    await live.eventually(async () => expect((await pending(`?rune=${id}`)).transactions).toEqual([]));
  });

  test('etchings of one name warn of each other, with the reason that keeps each from it', async () => {
    const name = parseRune('RIVALSFORANAME')!;
    const other = parseRune('ANOTHERNAMEHERE')!;
    const old = await commit(name);
    await live.chain.mine([old.transaction]);
    await live.chain.mineEmpty(4);
    const young = await commit(name);
    const { height: youngHeight } = await live.chain.mine([young.transaction]);
    await live.indexed();
    const etchingOf = (rune: Rune): Etching => ({
      ...plainEtching,
      rune,
      spacers: 1 << 5,
      premine: smallU128(9),
    });
    const mature = stone([old.coin, await live.chain.coin()], { etching: etchingOf(name), pointer: 1 }, [7]);
    const immature = stone([young.coin, await live.chain.coin()], { etching: etchingOf(name) }, [8]);
    const replaced = await live.chain.coin();
    const without = stone([replaced], { etching: etchingOf(name) }, [8]);
    for (const each of [mature, immature, without]) await live.chain.broadcast(each);
    await live.eventually(async () => {
      const found = await Promise.all([mature, immature, without].map(ofTransaction));
      expect(
        found.map(({ etching }) => [etching?.state, etching?.matureHeight, etching?.rivals.length]),
      ).toEqual([
        ['open', youngHeight, 2],
        ['immature', youngHeight + 5, 2],
        ['uncommitted', null, 2],
      ]);
      expect(found[0]).toMatchObject({
        etching: {
          rune: 'RIVALS•FORANAME',
          warning: '2 others etch the same name, so at most one of them gets it',
        },
        received: [{ amount: '9', id: null, rune: 'RIVALS•FORANAME', etchedBy: mature.txid }],
      });
      expect(found[1]?.received).toEqual([]);
    });
    const claims = async (): Promise<string[][]> => {
      const { pending: listed } = await live.get<{ pending: { txid: string; state: string }[] }>(
        '/rune/RIVALSFORANAME/name',
      );
      return listed.map(({ txid, state }) => [txid, state]);
    };
    expect(await claims()).toEqual([
      [mature.txid, 'open'],
      [immature.txid, 'immature'],
      [without.txid, 'uncommitted'],
    ]);
    // the rune that this transaction sends is pending too, and has no id yet
    const onward = stone([mature.coin(1), await live.chain.coin()], { pointer: 1 }, [9]);
    await live.chain.broadcast(onward);
    await live.eventually(async () => {
      expect(await ofTransaction(onward)).toMatchObject({
        sent: [{ amount: '9', etchedBy: mature.txid }],
        received: [{ amount: '9', id: null, etchedBy: mature.txid, address: addressOf(9) }],
      });
    });
    // replace the etching by one with another name
    const better = transaction(
      [replaced],
      [
        {
          value: 0,
          outputScript: encipher({
            kind: 'runestone',
            edicts: [],
            etching: etchingOf(other),
            mint: null,
            pointer: null,
          }),
        },
        { value: replaced.value - 100_000, to: 8 },
      ],
    );
    await live.chain.broadcast(better);
    await live.eventually(async () => {
      expect((await ofTransaction(better)).etching).toMatchObject({
        state: 'uncommitted',
        rivals: [],
        warning: null,
      });
      expect((await ofTransaction(mature)).etching?.rivals).toEqual([immature.txid]);
    });
    // the first etching is mined, so the other etching finds its name taken
    await live.chain.mine([mature, onward]);
    await live.eventually(async () => {
      expect((await ofTransaction(immature)).etching).toMatchObject({ state: 'taken', rivals: [] });
    });
    expect(await claims()).toEqual([[immature.txid, 'taken']]);
    expect(await live.get('/rune/RIVALS.FORANAME/name')).toMatchObject({
      state: 'taken',
      takenBy: { divisibility: 0 },
    });
    expect((await live.get<{ runes: Moved[] }>(`/address/${addressOf(9)}/runes`)).runes).toMatchObject([
      { rune: 'RIVALS•FORANAME', amount: '9' },
    ]);
  });

  test('a restarted follower finds the same', async () => {
    const { id } = await etch(3, 9);
    const mint = stone([await live.chain.coin()], { mint: idOf(id), pointer: 1 }, [12]);
    const send = stone([mint.coin(1), await live.chain.coin()], { pointer: 1 }, [13]);
    for (const each of [mint, send]) await live.chain.broadcast(each);
    const shown = async () => {
      const { transactions } = await pending(`?rune=${id}`);
      return transactions.map(({ txid, minted, sent, received }) => ({ txid, minted, sent, received }));
    };
    await live.eventually(async () => expect(await shown()).toHaveLength(2));
    const before = await shown();
    await live.stopFollowing();
    expect(await live.get('/mempool/runes')).toMatchObject({ code: 'mempool_not_followed' });
    live.follow();
    await live.eventually(async () => expect(await shown()).toHaveLength(2));
    expect(new Set((await shown()).map((each) => JSON.stringify(each)))).toEqual(
      new Set(before.map((each) => JSON.stringify(each))),
    );
  });
});
