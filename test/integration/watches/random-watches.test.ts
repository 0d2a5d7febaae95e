import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { type RegtestTransaction, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { findingsOf, newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';
import { followWatches } from '#watches/following/follow-watches.ts';
import { type Finding, type FindingState, findingId, type Watch } from '#watches/watch.ts';

const words = ['apple', 'lemon', 'plum'] as const;
const steps = 40;

/** The body of a webhook. */
interface Message {
  readonly id: string;
  readonly number: number;
  readonly findings: readonly Told[];
  readonly more: number;
}

interface Told {
  readonly id: string;
  readonly number: number;
  readonly state: FindingState;
  readonly inscriptionId: string;
  readonly blockHash: string | null;
}

describe.skipIf(bitcoindThatRelaysReveals() === null)('watches under random changes of a real node', () => {
  let live: LiveMempool;
  let random: Random;
  let following: { controller: AbortController; end: Promise<void> };
  /** Transactions that were accepted by the node, with the text that each reveals. */
  const revealed: { readonly made: RegtestTransaction; readonly text: string }[] = [];
  let receiver: Receiver;
  let sending: Sending;

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

  /** Ends the connections of the process that follows watches, as a kill does. The process connects again. */
  const kill = (): Promise<unknown> =>
    live.database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'satscribe watches'`,
    );
  /** All that the webhook of a watch told. */
  const messagesOf = ({ id }: Watch): Message[] =>
    receiver.received
      .map(({ body }) => JSON.parse(body.toString()) as Message)
      .filter((message) => message.id === id);

  beforeAll(async () => {
    random = seededRandom('watches 1');
    live = await LiveMempool.start();
    receiver = await startReceiver();
    sending = startSending(live.database);
    live.index();
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
    follow();
  });
  afterAll(async () => {
    await stop();
    await sending.stop();
    await receiver.close();
    await live.close();
  });

  /** Broadcasts a reveal of one or two words, and sometimes replaces the reveal by one with a higher fee. */
  async function reveal(): Promise<void> {
    const text = Array.from({ length: 1 + random.below(2) }, () => words[random.below(words.length)]).join(
      ' ',
    );
    const made = await live.chain.inscribe({ contentType: 'text/plain', body: text });
    await live.chain.broadcast(made.commit);
    await live.chain.broadcast(made.reveal);
    revealed.push({ made: made.reveal, text });
    if (random.unit() > 0.3) return;
    const bumped = transaction([made.commit.coin(0)], [{ value: 5000, to: 9 }]);
    await live.chain.broadcast(bumped);
    revealed.push({ made: bumped, text });
  }

  async function step(): Promise<void> {
    const roll = random.unit();
    if (roll < 0.45) await reveal();
    else if (roll < 0.7) await live.chain.mineMempool();
    else if (roll < 0.8) await kill();
    else if (roll < 0.92) {
      await live.chain.takeBack(1 + random.below(2));
      if (random.unit() < 0.5) await live.chain.mineMempool();
    } else {
      await stop();
      await reveal();
      follow();
    }
  }

  /** Ids of the revealed inscriptions that are in the node's chain, and contain a word. */
  async function minedWith(word: string): Promise<string[]> {
    const mined: string[] = [];
    for (const { made, text } of revealed) {
      if (!text.includes(word)) continue;
      const { confirmations = 0 } = await live.bitcoind.rpc
        .call<{ confirmations?: number }>('getrawtransaction', [made.txid, true])
        .catch(() => ({ confirmations: 0 }));
      if (confirmations > 0) mined.push(made.id());
    }
    return mined.toSorted();
  }

  /** Compares what a watch told with the findings of the watch: each change is told once, in order. */
  function expectTold(watch: Watch, found: readonly Finding[]): void {
    const messages = messagesOf(watch);
    const changes = messages.flatMap(({ findings }) => findings);
    expect(messages.at(-1)?.number).toBe(Math.max(...found.map(({ number }) => number)));
    // a message that stands for later changes names only their count, which a receiver reads with the cursor
    const counted = messages.reduce((sum, { more }) => sum + more, changes.length);
    expect(counted).toBe(messages.at(-1)?.number);
    expect(changes.map(({ number }) => number)).toEqual(
      [...new Set(changes.map(({ number }) => number))].toSorted((a, b) => a - b),
    );
    const ofThings = Map.groupBy(changes, ({ inscriptionId }) => inscriptionId);
    if (counted === changes.length) expect(ofThings.size).toBe(found.length);
    for (const { thing, number, state } of found) {
      const ofThing = ofThings.get(thing) ?? [];
      // a change that a message only counts has no state here
      if (counted === changes.length) expect(ofThing.at(-1)).toMatchObject({ number, state });
      for (const { id } of ofThing) expect(id).toBe(findingId(watch.id, thing));
      for (const [nth, change] of ofThing.entries()) {
        const before = ofThing[nth - 1];
        if (before?.state === change.state) {
          expect(change.state).toBe('confirmed');
          expect(change.blockHash).not.toBe(before.blockHash);
        }
      }
    }
  }

  test('every match is found and told, each change once, and the states end as those of the chain', async () => {
    const key = await newKey(live.database.pool);
    const watches = new Map<string, Watch>();
    for (const text of words) {
      const body = { text, webhookUrl: `http://receiver.example:${receiver.port}/` };
      watches.set(text, await newWatch(live.database.pool, key, 'search', body));
    }
    for (let nth = 0; nth < steps; nth++) await step();
    await reveal();
    await live.chain.mineMempool();
    await live.indexed();
    for (const [word, watch] of watches) {
      const mined = await minedWith(word);
      const matching = new Set(
        revealed.filter(({ text }) => text.includes(word)).map(({ made }) => made.id()),
      );
      await live.eventually(async () => {
        const found = await findingsOf(live.database.pool, watch);
        const confirmed = found.filter(({ state }) => state === 'confirmed').map(({ thing }) => thing);
        expect(confirmed.toSorted()).toEqual(mined);
        for (const { thing, state } of found) {
          expect(matching.has(thing)).toBe(true);
          expect(state).not.toBe('pending');
        }
        // each change has its own number, and the newest has the highest
        expect(new Set(found.map(({ number }) => number)).size).toBe(found.length);
        expectTold(watch, found);
      });
    }
  });
});
