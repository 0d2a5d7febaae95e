import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { asBlockHash, displayHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { describeBlockSource } from '#test/support/node/block-source-conformance.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { feedGoldenChain } from '#test/support/node/regtest-feed.ts';
import { startNodeProxy } from '#test/support/node/regtest-proxy.ts';

const hasBitcoind = bitcoindForTests() !== null;
const golden = new GoldenChain('envelopes-1');
const headers = golden.chain.headers;
const tip = headers.at(-1)!;
const none = new AbortController().signal;

describe.skipIf(!hasBitcoind)('a node fed with a golden chain', () => {
  let bitcoind: Bitcoind;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await feedGoldenChain(bitcoind.rpc, golden);
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await bitcoind.remove();
  });

  const ways: Record<string, () => Promise<LiveBlockSource>> = {
    'REST with spent outputs': async () => openNodeSource(await connectNode(bitcoind.settings)),
    'REST without spent outputs': async () => {
      const proxy = await startNodeProxy(bitcoind.rpcUrl, (path) => path.startsWith('/rest/spenttxouts/'));
      stops.push(() => proxy.close());
      return openNodeSource(await connectNode({ ...bitcoind.settings, restUrl: proxy.url }));
    },
    'RPC alone': async () => {
      const proxy = await startNodeProxy(bitcoind.rpcUrl, (path) => path.startsWith('/rest/'));
      stops.push(() => proxy.close());
      return openNodeSource(await connectNode({ ...bitcoind.settings, restUrl: proxy.url }));
    },
  };

  for (const [way, open] of Object.entries(ways)) {
    describeBlockSource(`a node by ${way}`, {
      open,
      expected: {
        refs: headers,
        islands: [[0, tip.height]],
        withSpent: headers.map(({ height }) => height),
      },
    });

    test(`by ${way} gives the exact bytes of blocks and spent outputs`, async () => {
      const source = await open();
      let heightsSeen = 0;
      for (const header of headers) {
        const block = await source.read({
          height: asHeight(header.height),
          hash: parseBlockHash(header.hash)!,
        });
        const expected = golden.block(header);
        expect(Buffer.from(block.bytes).equals(expected.bytes)).toBe(true);
        expect(Buffer.from(block.spentOutputs!).equals(expected.spent)).toBe(true);
        heightsSeen += block.spentHeights?.length ?? 0;
      }
      // REST does not return the heights of spent outputs
      expect(heightsSeen > 0).toBe(way !== 'REST with spent outputs');
      await source.close();
    });

    test(`by ${way} gives headers page by page, and none above the tip`, async () => {
      const source = await open();
      const some = await source.headers(asHeight(10), 25);
      expect(some.map(({ height, hash }) => [height, displayHash(hash)])).toEqual(
        headers.slice(10, 35).map(({ height, hash }) => [height, hash]),
      );
      expect(some.every(({ header }) => header.length === 80)).toBe(true);
      expect((await source.headers(asHeight(tip.height), 5)).map(({ hash }) => displayHash(hash))).toEqual([
        tip.hash,
      ]);
      expect(await source.headers(asHeight(tip.height + 1), 5)).toEqual([]);
      expect(await source.headers(asHeight(3), 0)).toEqual([]);
      const hashAt = (height: number) => parseBlockHash(headers[height]!.hash)!;
      // the expected block is there, and is not there
      for (const expected of [hashAt(10), asBlockHash(new Uint8Array(32))]) {
        expect(await source.headers(asHeight(10), 25, none, expected)).toEqual(some);
        expect(await source.headers(asHeight(10), 0, none, expected)).toEqual([]);
      }
      const last = await source.headers(asHeight(tip.height - 1), 5, none, hashAt(tip.height - 1));
      expect(last.map(({ hash }) => displayHash(hash))).toEqual([headers.at(-2)!.hash, tip.hash]);
      expect((await source.tip()).height).toBe(tip.height);
      await source.close();
    });
  }

  test('gives headers from an expected block on by one request, and checks credentials at the tip', async () => {
    const paths: string[] = [];
    const proxy = await startNodeProxy(bitcoind.rpcUrl, (path) => {
      paths.push(path);
      return false;
    });
    const source = openNodeSource(await connectNode({ ...bitcoind.settings, rpcUrl: proxy.url }));
    for (const header of [headers[10]!, tip]) {
      paths.length = 0;
      const given = await source.headers(asHeight(header.height), 2000, none, parseBlockHash(header.hash)!);
      expect(given.length).toBe(tip.height - header.height + 1);
      // a request by RPC follows at the tip, because REST does not check credentials
      const check = header === tip ? ['/', `/rest/headers/1/${header.hash}.bin`] : [];
      expect(paths).toEqual([`/rest/headers/2000/${header.hash}.bin`, ...check]);
    }
    await source.close();
    await proxy.close();
  });

  test('begins at the given height', async () => {
    const source = openNodeSource(await connectNode(bitcoind.settings), { firstHeight: asHeight(100) });
    expect(await source.islands()).toEqual([{ firstHeight: 100, lastHeight: tip.height, start: {} }]);
    expect((await source.refs(genesisHeight))[0]?.height).toBe(100);
    await source.close();
  });
});

describe.skipIf(!hasBitcoind)('a node whose chain changes', () => {
  let bitcoind: Bitcoind;
  let source: LiveBlockSource;
  /** Blocks that the source has requested from its node, and blocks that the node has announced to the source. */
  const asked: string[] = [];
  const heard: string[] = [];
  // another script makes another block in the same second
  const mine = async (count: number, script = '51'): Promise<string[]> =>
    bitcoind.rpc.call('generatetodescriptor', [count, `raw(${script})`]);

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    const node = await connectNode(bitcoind.settings);
    source = openNodeSource({
      ...node,
      block: (hash, options) => {
        asked.push(displayHash(hash));
        return node.block(hash, options);
      },
    });
    node.blockMessages.listen((message) => {
      if (message.kind === 'block-connected') heard.push(displayHash(message.hash));
    });
  });
  afterAll(async () => {
    await source.close();
    await bitcoind.remove();
  });

  test('reports news when a block comes, also one that came while no one waited', async () => {
    // discard messages of the start
    await source.news(100, none);
    const before = performance.now();
    const waiting = source.news(60_000, none);
    await mine(1);
    await waiting;
    await mine(1);
    await expect.poll(async () => (await source.tip()).height).toBeGreaterThan(1);
    await source.news(60_000, none);
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  /** Mines a block, and waits until the source has heard of it. */
  const announce = async (): Promise<{ shown: string; ref: BlockRef }> => {
    const [shown = ''] = await mine(1);
    await expect.poll(() => heard.at(-1)).toBe(shown);
    asked.length = 0;
    return { shown, ref: { height: (await source.tip()).height, hash: parseBlockHash(shown)! } };
  };
  const expectRead = async ({ shown, ref }: { shown: string; ref: BlockRef }): Promise<void> => {
    const block = await source.read(ref);
    expect(block.ref).toEqual(ref);
    expect(Buffer.from(block.bytes).toString('hex')).toBe(await bitcoind.rpc.call('getblock', [shown, 0]));
  };

  test('reads an announced block before it is asked for, once, for a caller at the tip', async () => {
    const before = await announce();
    const last = await announce();
    await source.news(60_000, none, true);
    expect(asked).toEqual([last.shown]);
    await expectRead(before);
    expect(asked).toEqual([last.shown, before.shown]);
    await expectRead(last);
    expect(asked).toEqual([last.shown, before.shown]);
    // a block is kept for one read
    await expectRead(last);
    expect(asked).toEqual([last.shown, before.shown, last.shown]);
  });

  test('does not read an announced block early for a caller that lacks blocks, or that has read it', async () => {
    const missing = await announce();
    await source.news(60_000, none);
    await source.news(1, none, true);
    expect(asked).toEqual([]);
    await expectRead(missing);
    const known = await announce();
    await expectRead(known);
    await source.news(60_000, none, true);
    expect(asked).toEqual([known.shown]);
  });

  test('forgets an announced block that the caller did not ask for', async () => {
    const { ref, shown } = await announce();
    await source.news(60_000, none, true);
    await source.news(1, none, true);
    await expectRead({ ref, shown });
    expect(asked).toEqual([shown, shown]);
  });

  test('ends a wait at the timeout and on a signal', async () => {
    // messages of earlier tests may still arrive, one after another
    let waited = 0;
    for (let turn = 0; turn < 10 && waited <= 150; turn++) {
      const before = performance.now();
      await source.news(200, none);
      waited = performance.now() - before;
    }
    expect(waited).toBeGreaterThan(150);
    const controller = new AbortController();
    const waiting = source.news(60_000, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('knows the branch that its node calls invalid', async () => {
    const [first = '', second = '', third = ''] = await mine(3);
    await bitcoind.rpc.call('invalidateblock', [second]);
    const isInvalid = (hash: string): Promise<boolean> => source.isInvalid(parseBlockHash(hash)!);
    expect(await isInvalid(third)).toBe(true);
    expect(await isInvalid(second)).toBe(true);
    expect(await isInvalid(first)).toBe(false);
    expect(await isInvalid('00'.repeat(32))).toBe(false);
    await bitcoind.rpc.call('reconsiderblock', [second]);
    expect(await isInvalid(third)).toBe(false);
  });

  test('gives headers of one moment while it reorganises', async () => {
    await mine(2500);
    const tipHeight = (await source.tip()).height;
    const asked = Array.from({ length: 4 }, () => source.headers(genesisHeight, 10_000));
    const hash = await bitcoind.rpc.call<string>('getblockhash', [tipHeight - 5]);
    await bitcoind.rpc.call('invalidateblock', [hash]);
    await mine(8, '52');
    for (const chain of await Promise.all(asked)) {
      for (const [index, { height, header }] of chain.entries()) {
        expect(height).toBe(index);
        const parent = chain[index - 1]?.hash;
        if (parent !== undefined) expect(Buffer.from(header.subarray(4, 36)).equals(parent)).toBe(true);
      }
    }
    const now = await source.headers(genesisHeight, 10_000);
    expect(now.length).toBe((await source.tip()).height + 1);
    expect(now.at(-1)?.hash).toEqual((await source.tip()).hash);
  });
});
