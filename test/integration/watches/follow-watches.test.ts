import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import type { watchFailpoints } from '#kernel/process/failpoint.ts';
import { type Inscribed, type InscribeOptions } from '#test/builders/regtest/regtest-chain.ts';
import {
  addressOf,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { findingsOf, newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { followWatches } from '#watches/following/follow-watches.ts';
import { findingId, type Watch, type WatchKind } from '#watches/watch.ts';

const processFile = new URL('../../support/watches/watches-process.ts', import.meta.url).pathname;

describe.skipIf(bitcoindThatRelaysReveals() === null)('watches, beside a real node', () => {
  let live: LiveMempool;
  let key: number;
  let following: { controller: AbortController; end: Promise<void> };
  let words = 0;

  const follow = (): void => {
    const controller = new AbortController();
    const end = followWatches({
      url: live.database.url,
      network: networks.regtest,
      readCollections: async (_, ids) => ids.map(() => null),
      signal: controller.signal,
      log: silentLogger(),
    });
    following = { controller, end };
  };
  const stop = async (): Promise<void> => {
    following.controller.abort();
    await following.end;
  };

  beforeAll(async () => {
    live = await LiveMempool.start();
    live.index({ indexAddresses: true });
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
    key = await newKey(live.database.pool);
    follow();
    // a watch that is stored before the first round of all does not find what is already pending
    await live.eventually(async () => {
      const { rows } = await live.database.pool.query('SELECT FROM service.watches_offset');
      expect(rows).toHaveLength(1);
    });
  });
  afterAll(async () => {
    await stop();
    await live.close();
  });

  /** Settles when another process has followed watches and was killed at a failpoint. */
  const followUntilKilled = async (failpoint: (typeof watchFailpoints)[number]): Promise<void> => {
    const child = spawn(process.execPath, [processFile, live.database.url, failpoint], { stdio: 'inherit' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
  };

  const word = (): string => `unheard${words++}x`;
  const watch = (kind: WatchKind, body: Record<string, unknown>): Promise<Watch> =>
    newWatch(live.database.pool, key, kind, body);
  const inscribe = (body: string, options: InscribeOptions = {}): Promise<Inscribed> =>
    live.chain.inscribe({ contentType: 'text/plain', body }, options);
  const broadcast = async (...transactions: RegtestTransaction[]): Promise<void> => {
    for (const one of transactions) await live.chain.broadcast(one);
  };
  /** Settles when the findings of a watch are these. */
  const expectFound = (of: Watch, ...findings: object[]): Promise<void> =>
    live.eventually(async () => {
      expect(await findingsOf(live.database.pool, of)).toEqual(
        findings.map((each) => expect.objectContaining(each) as object),
      );
    });
  const messagesOf = async ({
    id,
  }: Watch): Promise<{ number: number; findings: object[]; more: number }[]> => {
    const { rows } = await live.database.pool.query<{ body: Buffer }>(
      'SELECT body FROM service.webhooks WHERE subject = $1 ORDER BY sequence',
      [`search ${id}`],
    );
    return rows.map(
      ({ body }) => JSON.parse(body.toString()) as { number: number; findings: object[]; more: number },
    );
  };

  test('a finding keeps its id while it is pending, mined, reorganised and mined again, and each change is told once', async () => {
    const text = word();
    const search = await watch('search', { text, webhookUrl: 'https://example.com/hook' });
    const other = await watch('search', { text: `${text}y` });
    const { commit, reveal } = await inscribe(text);
    const id = findingId(search.id, reveal.id());
    await broadcast(commit, reveal);
    await expectFound(search, {
      id,
      state: 'pending',
      number: 1,
      height: null,
      facts: { inscriptionId: reveal.id() },
    });
    const { height, hash } = await live.chain.mine([commit, reveal]);
    await expectFound(search, { id, state: 'confirmed', number: 2, height, blockHash: hash });
    await live.chain.takeBack(1);
    await expectFound(search, { id, state: 'pending', number: 3, height: null });
    const again = await live.chain.mine([commit, reveal]);
    await expectFound(search, {
      id,
      state: 'confirmed',
      number: 4,
      height: again.height,
      blockHash: again.hash,
    });
    const told = await messagesOf(search);
    // at most three messages wait, and the last one also stands for the fourth change
    expect(told.map(({ number, findings, more }) => [number, findings, more])).toEqual(
      [
        { state: 'pending', number: 1, more: 0 },
        { state: 'confirmed', number: 2, more: 0 },
        { state: 'pending', number: 4, more: 1 },
      ].map(({ state, number, more }, nth) => [
        number,
        [expect.objectContaining({ id, state, number: nth + 1, inscriptionId: reveal.id() })],
        more,
      ]),
    );
    await expectFound(other);
  });

  test('a replaced transaction is told with its replacement, and the replacement is found', async () => {
    const text = word();
    const search = await watch('search', { text });
    const { commit, reveal } = await inscribe(text);
    await broadcast(commit, reveal);
    await expectFound(search, { thing: reveal.id(), state: 'pending' });
    const bumped = transaction([commit.coin(0)], [{ value: 5000, to: 9 }]);
    await broadcast(bumped);
    await live.eventually(async () => {
      const found = await findingsOf(live.database.pool, search);
      expect(
        Object.fromEntries(found.map(({ thing, state, replacedBy }) => [thing, [state, replacedBy]])),
      ).toEqual({
        [reveal.id()]: ['replaced', bumped.txid],
        [bumped.id()]: ['pending', null],
      });
    });
    // the node forgets the replacement, and mines the replaced transaction
    const mined = await live.chain.mine([commit, reveal]);
    await live.eventually(async () => {
      const found = await findingsOf(live.database.pool, search);
      expect(found.find(({ thing }) => thing === reveal.id())).toMatchObject({
        state: 'confirmed',
        height: mined.height,
        replacedBy: null,
      });
      expect(found.find(({ thing }) => thing === bumped.id())?.state).toBe('replaced');
    });
  });

  test('a finding in a block is told once if a reorganisation puts its transaction into another block', async () => {
    const text = word();
    const search = await watch('search', { text, webhookUrl: 'https://example.com/hook' });
    const { commit, reveal } = await inscribe(text);
    const { height, hash } = await live.chain.mine([commit, reveal]);
    await expectFound(search, { state: 'confirmed', number: 1, height, blockHash: hash });
    await live.chain.takeBack(1);
    const again = await live.chain.mine([commit, reveal]);
    await expectFound(search, { state: 'confirmed', number: 2, height, blockHash: again.hash });
    expect(await messagesOf(search)).toHaveLength(2);
  });

  test('a finding whose block and transaction are gone is reorganised', async () => {
    const text = word();
    const search = await watch('search', { text, webhookUrl: 'https://example.com/hook' });
    const from = await live.chain.coin();
    const { commit, reveal } = await inscribe(text, { from });
    // the mempool's tables never have the transaction, which is otherwise pending for a moment
    await live.stopFollowing();
    try {
      const { height, hash } = await live.chain.mine([commit, reveal]);
      await expectFound(search, { state: 'confirmed', height });
      await live.chain.takeBack(1);
      await live.chain.mine([transaction([from], [{ value: from.value - 500_000 }])]);
      await live.chain.mineEmpty(1);
      await expectFound(search, {
        thing: reveal.id(),
        state: 'reorganised',
        number: 2,
        height,
        blockHash: hash,
      });
      expect(await messagesOf(search)).toHaveLength(2);
    } finally {
      live.follow();
    }
  });

  test('blocks that were mined while nothing followed are matched after a restart, and nothing is told twice', async () => {
    const text = word();
    const search = await watch('search', { text });
    const first = await inscribe(text);
    await broadcast(first.commit, first.reveal);
    await expectFound(search, { thing: first.reveal.id(), state: 'pending', number: 1 });
    await stop();
    const second = await inscribe(text);
    await live.chain.mine([first.commit, first.reveal, second.commit, second.reveal]);
    await live.indexed();
    follow();
    await expectFound(
      search,
      { thing: first.reveal.id(), state: 'confirmed', number: 2 },
      { thing: second.reveal.id(), state: 'confirmed', number: 3 },
    );
  });

  test('a kill after the commit of a round or a block loses nothing, and tells nothing twice', async () => {
    const text = word();
    const search = await watch('search', { text, webhookUrl: 'https://example.com/hook' });
    await stop();
    const { commit, reveal } = await inscribe(text);
    await broadcast(commit, reveal);
    await live.eventually(async () => {
      expect(await live.get(`/search?text=${text}&pending=1`)).toMatchObject({ totalItems: 1 });
    });
    await followUntilKilled('watches-pending');
    follow();
    await expectFound(search, { thing: reveal.id(), state: 'pending', number: 1 });
    await stop();
    const { height } = await live.chain.mine([commit, reveal]);
    await live.indexed();
    await followUntilKilled('watches-block');
    follow();
    const after = await inscribe(text);
    await live.chain.mine([after.commit, after.reveal]);
    await expectFound(
      search,
      { thing: reveal.id(), state: 'confirmed', number: 2, height },
      { thing: after.reveal.id(), state: 'confirmed', number: 3 },
    );
    const told = await messagesOf(search);
    expect(told.map(({ number, findings }) => [number, findings.length])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  test('a watch finds only what arrives after it, and nothing after its end', async () => {
    const text = word();
    const all = await watch('search', { text });
    const early = await inscribe(text);
    await live.chain.mine([early.commit, early.reveal]);
    await expectFound(all, { thing: early.reveal.id(), state: 'confirmed' });
    const search = await watch('search', { text });
    const late = await inscribe(text);
    await live.chain.mine([late.commit, late.reveal]);
    await expectFound(search, { thing: late.reveal.id(), state: 'confirmed' });
    await live.database.pool.query(
      `UPDATE service.watches SET ended_at = now(), end_reason = 'gone' WHERE id = $1`,
      [search.id],
    );
    const last = await inscribe(text);
    await live.chain.mine([last.commit, last.reveal]);
    await expectFound(all, {}, {}, { thing: last.reveal.id(), state: 'confirmed' });
    await expectFound(search, { thing: late.reveal.id() });
  });

  test('children and receipts are found, pending and mined', async () => {
    const parent = await inscribe(word(), { to: 1 });
    await live.chain.mine([parent.commit, parent.reveal]);
    await live.indexed();
    const children = await watch('children', { parent: parent.reveal.id() });
    const receipts = await watch('receipts', { address: addressOf(7) });
    // the child moves its parent, and its own output is the second
    const child = await live.chain.inscribe(
      { contentType: 'text/plain', body: word(), parents: [parent.reveal.id()] },
      { to: 7, parents: [parent.reveal.coin(0)] },
    );
    const stranger = await inscribe(word(), { to: 8 });
    await broadcast(child.commit, child.reveal, stranger.commit, stranger.reveal);
    const facts = { inscriptionId: child.reveal.id() };
    await expectFound(children, { thing: child.reveal.id(), state: 'pending', facts });
    const thing = `${child.reveal.txid}:1 ${child.reveal.id()}`;
    await expectFound(receipts, { thing, state: 'pending', facts: { vout: 1, ...facts } });
    await live.chain.mine([...child.transactions, ...stranger.transactions]);
    await expectFound(children, { thing: child.reveal.id(), state: 'confirmed', number: 2 });
    await live.eventually(async () => {
      const found = await findingsOf(live.database.pool, receipts);
      expect(found.map((each) => [each.thing, each.state])).toEqual([
        [thing, 'confirmed'],
        [`${child.reveal.txid}:1 sats`, 'confirmed'],
      ]);
    });
  });
});
