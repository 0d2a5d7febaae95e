import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import type { Inscribed, InscribeOptions } from '#test/builders/regtest/regtest-chain.ts';
import {
  addressOf,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';

interface Page {
  totalItems: number;
  totalPages: number;
  results: { inscriptionid: string; blockheight: string | null; pending?: string }[];
}
interface Transfers {
  transfers: {
    inscription: string;
    txid: string;
    fee: number | null;
    from: { satpoint: string; address: string };
    to: { kind: string; satpoint: string | null; address: string | null };
  }[];
}
interface Inscriptions {
  inscriptions: {
    id: string;
    replaces: string[];
    fee: number;
    to: { satpoint: string };
    contentHash: string;
  }[];
}
interface Departures {
  departures: { txid: string; reason: string; replacedBy: string | null }[];
}

const hasBitcoind = bitcoindThatRelaysReveals() !== null;

for (const source of ['zmq', 'polling'] as const) {
  describe.skipIf(!hasBitcoind)(`a real node, followed by ${source}`, () => {
    let live: LiveMempool;
    let words = 0;

    beforeAll(async () => {
      live = await LiveMempool.start(source === 'zmq' ? {} : { zmq: [] });
      live.index();
      await live.indexed();
      live.follow();
      await live.eventually(async () => {
        expect(await live.get('/mempool')).toMatchObject({ following: true, state: 'following', source });
      });
    });
    afterAll(() => live.close());

    /** A reveal that is in the mempool first. */
    const inscribe = (body: string, options: InscribeOptions = {}): Promise<Inscribed> =>
      live.chain.inscribe({ contentType: 'text/plain', body }, options);
    const word = (): string => `unheard${source}${words++}x`;
    const search = (text: string, pending = true): Promise<Page> =>
      live.get(`/search?text=${text}${pending ? '&pending=1' : ''}`);
    const broadcast = async (...transactions: RegtestTransaction[]): Promise<void> => {
      for (const one of transactions) await live.chain.broadcast(one);
    };
    /** Asserts that a search with pending=1 finds one match, with its height. */
    const expectFound = async (text: string, id: string, height: string | null): Promise<void> => {
      const page = await search(text);
      expect(page).toMatchObject({ totalItems: 1, totalPages: 1 });
      expect(page.results).toEqual([expect.objectContaining({ inscriptionid: id, blockheight: height })]);
      expect(page.results[0]?.pending).toBe(height === null ? 'true' : undefined);
    };

    test('a reveal is found before it is mined, and never missing or twice when it is', async () => {
      const text = word();
      const { commit, reveal } = await inscribe(text);
      await broadcast(commit, reveal);
      await live.eventually(() => expectFound(text, reveal.id(), null));
      expect((await search(text, false)).totalItems).toBe(0);
      await live.eventually(async () => {
        expect(await live.get('/status')).toMatchObject({ satscribe: { mempool: { reveals: 'accepted' } } });
      });
      const { inscriptions } = await live.get<Inscriptions>('/mempool/inscriptions');
      const shown = inscriptions.find(({ id }) => id === reveal.id());
      expect(shown).toMatchObject({
        fee: commit.coin(0).value - 10_000,
        to: { satpoint: `${reveal.txid}:0:0` },
      });
      expect(await live.get(`/search?hash=${shown?.contentHash}&pending=1`)).toMatchObject({ totalItems: 1 });

      const totals = new Set<number>();
      const height = { now: null as string | null };
      const watching = (async () => {
        while (height.now === null) {
          const page = await search(text);
          totals.add(page.totalItems);
          height.now = page.results[0]?.blockheight ?? null;
        }
        for (let again = 0; again < 20; again++) totals.add((await search(text)).totalItems);
      })();
      const mined = await live.chain.mine([commit, reveal]);
      await watching;
      expect([...totals]).toEqual([1]);
      expect(height.now).toBe(String(mined.height));
      expect(
        (await live.get<Page>(`/indexer/inscription?id=${reveal.id()}&pending=1`)).results[0],
      ).toMatchObject({
        blockheight: String(mined.height),
      });
    });

    test('a reveal is pending again as soon as its block is taken back', async () => {
      const text = word();
      const { commit, reveal } = await inscribe(text);
      await broadcast(commit, reveal);
      await live.eventually(() => expectFound(text, reveal.id(), null));
      const { height } = await live.chain.mine([commit, reveal]);
      await live.eventually(() => expectFound(text, reveal.id(), String(height)));
      const totals = new Set<number>();
      let isPending = false;
      const watching = (async () => {
        while (!isPending) {
          const page = await search(text);
          totals.add(page.totalItems);
          isPending = page.results[0]?.pending === 'true';
        }
      })();
      await live.chain.takeBack(1);
      await watching;
      expect([...totals]).toEqual([1]);
      const again = await live.chain.mine([commit, reveal]);
      await live.eventually(() => expectFound(text, reveal.id(), String(again.height)));
    });

    test('a reveal that is neither on the new branch nor in the mempool disappears with its block', async () => {
      const text = word();
      const from = await live.chain.coin();
      const { commit, reveal } = await inscribe(text, { from });
      await broadcast(commit, reveal);
      await live.eventually(() => expectFound(text, reveal.id(), null));
      const { height } = await live.chain.mine([commit, reveal]);
      await live.eventually(() => expectFound(text, reveal.id(), String(height)));
      const { rpc } = live.bitcoind;
      await live.chain.takeBack(1);
      // the new branch spends the coin in another way
      await live.chain.mine([transaction([from], [{ value: from.value - 500_000 }])]);
      expect(await rpc.call<string[]>('getrawmempool')).not.toContain(reveal.txid);
      await live.chain.mineEmpty(1);
      await live.eventually(async () => expect((await search(text)).totalItems).toBe(0));
    });

    test('a transaction that the node drops disappears, and is reported as evicted', async () => {
      const text = word();
      const { commit, reveal } = await inscribe(text);
      await broadcast(commit, reveal);
      await live.eventually(() => expectFound(text, reveal.id(), null));
      // go beyond the two weeks after which a node drops a transaction; the node checks this when a transaction arrives
      await live.bitcoind.rpc.call('setmocktime', [Math.floor(Date.now() / 1000) + 15 * 86_400]);
      try {
        const coin = await live.chain.coin();
        await broadcast(transaction([coin], [{ value: coin.value - 10_000 }]));
        await live.eventually(async () => {
          expect((await search(text)).totalItems).toBe(0);
          const { departures } = await live.get<Departures>('/mempool/departures');
          expect(departures).toContainEqual(
            expect.objectContaining({ txid: reveal.txid, reason: 'evicted', replacedBy: null }),
          );
        });
      } finally {
        await live.bitcoind.rpc.call('setmocktime', [0]);
      }
    });

    test('a replacement of a reveal is shown, and the replaced one is reported', async () => {
      const first = word();
      const from = await live.chain.coin();
      const { commit, reveal } = await inscribe(first, { from });
      await broadcast(commit, reveal);
      await live.eventually(() => expectFound(first, reveal.id(), null));
      // spend the reveal's coin with a higher fee, to another output
      const bumped = transaction([commit.coin(0)], [{ value: 5000, to: 9 }]);
      await broadcast(bumped);
      await live.eventually(async () => {
        const { inscriptions } = await live.get<Inscriptions>('/mempool/inscriptions');
        const ids = inscriptions.map(({ id }) => id);
        expect(ids).not.toContain(reveal.id());
        expect(inscriptions.find(({ id }) => id === bumped.id())?.replaces).toEqual([reveal.txid]);
        const { departures } = await live.get<Departures>('/mempool/departures');
        expect(departures).toContainEqual(
          expect.objectContaining({ txid: reveal.txid, reason: 'replaced', replacedBy: bumped.txid }),
        );
      });
      await expectFound(first, bumped.id(), null);
      // now replace the commit; transactions that spend it disappear with it
      const other = transaction([from], [{ value: from.value - 400_000, to: 9 }]);
      await broadcast(other);
      await live.eventually(async () => {
        expect((await search(first)).totalItems).toBe(0);
        const { departures } = await live.get<Departures>('/mempool/departures');
        expect(departures).toContainEqual(
          expect.objectContaining({ txid: bumped.txid, reason: 'replaced', replacedBy: other.txid }),
        );
      });
    });

    test('transfers are shown through a chain of unconfirmed transactions, by address and inscription', async () => {
      const { commit, reveal } = await inscribe(word(), { to: 1, postage: 20_000 });
      await live.chain.mine([commit, reveal]);
      await live.eventually(async () => {
        expect(await live.get(`/indexer/inscription?id=${reveal.id()}`)).toMatchObject({ results: [{}] });
      });
      const first = transaction([reveal.coin(0)], [{ value: 15_000, to: 2 }]);
      const mined = await live.chain.coin();
      const feeder = transaction([mined], [{ value: mined.value - 10_000, to: 3 }]);
      const coin = feeder.coin(0);
      // the inscription is in the second input, so its position depends on the value of the first input
      const second = transaction(
        [coin, first.coin(0)],
        [
          { value: coin.value, to: 3 },
          { value: 10_000, to: 4 },
        ],
      );
      await broadcast(first, feeder, second);
      await live.eventually(async () => {
        const { transfers } = await live.get<Transfers>(`/mempool/transfers?inscription=${reveal.id()}`);
        expect(transfers).toMatchObject([
          {
            txid: first.txid,
            fee: 5000,
            from: { satpoint: `${reveal.txid}:0:0`, address: addressOf(1) },
            to: { satpoint: `${first.txid}:0:0`, address: addressOf(2) },
          },
          {
            txid: second.txid,
            from: { satpoint: `${first.txid}:0:0`, address: addressOf(2) },
            to: { satpoint: `${second.txid}:1:0`, address: addressOf(4) },
          },
        ]);
      });
      const byAddress = await live.get<Transfers>(`/mempool/transfers?address=${addressOf(4)}`);
      expect(byAddress.transfers.map(({ txid }) => txid)).toEqual([second.txid]);
      await live.chain.mine([first, feeder, second]);
      await live.eventually(async () => {
        const { transfers } = await live.get<Transfers>(`/mempool/transfers?inscription=${reveal.id()}`);
        expect(transfers).toEqual([]);
      });
      // the transactions are pending again after they are taken back, and no longer pending after they are mined again
      const hash = await live.chain.takeBack(1);
      await live.eventually(async () => {
        const { transfers } = await live.get<Transfers>(`/mempool/transfers?inscription=${reveal.id()}`);
        expect(transfers.map(({ txid }) => txid)).toEqual([first.txid, second.txid]);
      });
      await live.chain.reconsider(hash);
      await live.eventually(async () => {
        const { transfers } = await live.get<Transfers>(`/mempool/transfers?inscription=${reveal.id()}`);
        expect(transfers).toEqual([]);
      });
    });

    test('after a restart of the node everything is as in its mempool', async () => {
      const [kept, added] = [word(), word()];
      const one = await inscribe(kept);
      await broadcast(one.commit, one.reveal);
      await live.eventually(() => expectFound(kept, one.reveal.id(), null));
      await live.bitcoind.restart();
      const two = await inscribe(added);
      await broadcast(two.commit, two.reveal);
      await live.eventually(() => expectFound(added, two.reveal.id(), null));
      // Knots' policy does not accept the transaction again from its file; then it must also disappear here
      const { length } = await live.bitcoind.rpc.call<string[]>('getrawmempool');
      await live.eventually(async () => {
        expect(await live.get('/mempool')).toMatchObject({ transactions: length });
        const there = (await live.bitcoind.rpc.call<string[]>('getrawmempool')).includes(one.reveal.txid);
        expect((await search(kept)).totalItems).toBe(there ? 1 : 0);
      });
    });

    test('a follower that starts late finds the mempool, also transactions that were mined but not indexed', async () => {
      const [mined, waiting] = [word(), word()];
      await live.stopFollowing();
      expect((await live.app.inject('/mempool/inscriptions')).statusCode).toBe(503);
      await live.indexed();
      await live.stopIndexing();
      const one = await inscribe(mined);
      const two = await inscribe(waiting);
      await broadcast(one.commit, one.reveal, two.commit, two.reveal);
      const block = await live.chain.mine([one.commit, one.reveal]);
      live.follow();
      try {
        await live.eventually(() => expectFound(waiting, two.reveal.id(), null));
        await expectFound(mined, one.reveal.id(), null);
      } finally {
        live.index();
      }
      await live.eventually(() => expectFound(mined, one.reveal.id(), String(block.height)));
      await expectFound(waiting, two.reveal.id(), null);
    });

    test('the tables are filled again after a crash of Postgres emptied them', async () => {
      const text = word();
      const one = await inscribe(text);
      await broadcast(one.commit, one.reveal);
      await live.eventually(() => expectFound(text, one.reveal.id(), null));
      // this is the effect of a crash on unlogged tables
      await live.database.pool.query(
        'TRUNCATE chain.mempool_state, chain.mempool_transactions, chain.mempool_inscriptions, chain.mempool_transfers, chain.mempool_departures',
      );
      expect((await search(text)).totalItems).toBe(0);
      await live.eventually(() => expectFound(text, one.reveal.id(), null));
    });

    test.runIf(source === 'zmq')('a round after a new block waits until the writer begins', async () => {
      await live.stopFollowing();
      const writer = new WriterActivity();
      const begun = vi.spyOn(writer, 'begun');
      live.follow({ writer });
      await live.eventually(async () => {
        expect(await live.get('/mempool')).toMatchObject({ following: true });
      });
      begun.mockClear();
      await live.chain.mine();
      await live.eventually(() => {
        expect(begun).toHaveBeenCalledTimes(1);
        return Promise.resolve();
      });
    });

    test('a follower that takes over while the old one still writes has all rows in the end', async () => {
      await live.stopFollowing();
      const before = live.follow();
      await live.eventually(async () => {
        expect(await live.get('/mempool')).toMatchObject({ following: true });
      });
      live.follow();
      const reveals = new Map<string, string>();
      // do some rounds with both
      for (let round = 0; round < 8; round++) {
        const text = word();
        const { commit, reveal } = await inscribe(text);
        await broadcast(commit, reveal);
        reveals.set(text, reveal.id());
        await delay(300);
      }
      before.controller.abort();
      await before.end;
      await live.eventually(async () => {
        const { kept } = await live.get<{ kept: number }>('/mempool');
        const { rows } = await live.database.pool.query<{ count: number }>(
          'SELECT count(*)::integer AS count FROM chain.mempool_transactions',
        );
        expect(rows[0]?.count).toBe(kept);
        for (const [text, id] of reveals) await expectFound(text, id, null);
      });
    });
  });
}
