import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { NodeMessage } from '#kernel/contracts/node.ts';
import { asBlockHash, displayHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { retryClassOf } from '#kernel/retry.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';

const hasBitcoind = bitcoindForTests() !== null;
const password = { user: 'satscribe', password: 'a secret that must stay secret' };

/** All texts of an error, including the texts of its causes. */
function everythingOf(error: unknown): string {
  const seen: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    seen.push(at.message, at.stack ?? '', JSON.stringify(at, Object.getOwnPropertyNames(at)));
  }
  return seen.join('\n');
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe.skipIf(!hasBitcoind)('a node with all that it can have', () => {
  let bitcoind: Bitcoind;
  let node: BitcoinNode;
  let chain: RegtestChain;

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    chain = await RegtestChain.start(bitcoind.rpc, 103);
    node = await connectNode(bitcoind.settings);
  });
  afterAll(async () => {
    await node.close();
    await bitcoind.remove();
  });

  test('is described as it is, and no advice is given', () => {
    const { version, zmq, ...facts } = node.facts;
    expect(facts).toEqual({
      network: 'regtest',
      isInitialBlockDownload: false,
      pruneHeight: null,
      hasRest: true,
      spentOutputs: 'rest',
      hasTxIndex: true,
      reveals: 'untested',
      advice: [],
    });
    expect(version).toBeGreaterThan(200_000);
    expect(Object.fromEntries(zmq)).toEqual({
      sequence: bitcoind.zmq,
      rawtx: bitcoind.zmq,
      hashblock: bitcoind.zmq,
    });
    expect(node.name).toBe(`node ${bitcoind.rpcUrl}`);
  });

  test('tells of blocks and of the mempool in the order of events', async () => {
    const heard: NodeMessage[] = [];
    const stop = node.messages.listen((message) => heard.push(message));
    const made = transaction([await chain.coin()], [{ value: 1_000_000 }]);
    await chain.broadcast(made);
    const replacement = transaction([{ ...(await coinOf(made.txid)) }], [{ value: 900_000 }]);
    await chain.broadcast(replacement);
    const block = await chain.mineMempool();
    await chain.takeBack(1);
    const txid = parseTxid(made.txid)!;
    const hash = parseBlockHash(block.hash)!;
    await expect.poll(() => heard.map(({ kind }) => kind)).toContain('block-disconnected');
    stop();
    const ofSequence = heard.filter(({ kind }) => kind !== 'transaction');
    expect(ofSequence.slice(0, 2).map(({ kind }) => kind)).toEqual(['mempool-added', 'mempool-removed']);
    expect(ofSequence[0]).toMatchObject({ txid });
    expect(ofSequence[1]).toMatchObject({ txid });
    expect(ofSequence.find(({ kind }) => kind === 'block-connected')).toEqual({
      kind: 'block-connected',
      hash,
    });
    expect(ofSequence.find(({ kind }) => kind === 'block-disconnected')).toEqual({
      kind: 'block-disconnected',
      hash,
    });
    const raw = heard.find((message) => message.kind === 'transaction');
    expect(Buffer.from((raw as { bytes: Uint8Array }).bytes).toString('hex')).toBe(made.hex);

    /** The coin that a transaction of the mempool spends. */
    async function coinOf(spender: string): Promise<Parameters<typeof transaction>[0][number]> {
      const { vin } = await bitcoind.rpc.call<{ vin: { txid: string; vout: number }[] }>(
        'getrawtransaction',
        [spender, 1],
      );
      const { txid: spent, vout } = vin[0]!;
      const output = await bitcoind.rpc.call<{ value: number }>('gettxout', [spent, vout, false]);
      return { txid: spent, vout, value: Math.round(Number(output.value) * 1e8), owner: 1000 };
    }
  });

  test('answers many calls at once', async () => {
    const heights = Array.from({ length: 100 }, (_, height) => height);
    const hashes = await Promise.all(
      heights.map((height) => node.rpc.call<string>('getblockhash', [height])),
    );
    expect(new Set(hashes).size).toBe(100);
    const blocks = await Promise.all(hashes.map((hash) => node.block(parseBlockHash(hash)!)));
    expect(blocks.every((block) => block.length > 80)).toBe(true);
  });

  test('says which call was refused and why', async () => {
    await expect(node.rpc.call('getblockhash', [1_000_000])).rejects.toMatchObject({
      code: 'node_call_failed',
      details: { method: 'getblockhash', rpcCode: -8 },
    });
    await expect(node.rpc.call('nosuchcall')).rejects.toMatchObject({ details: { rpcCode: -32601 } });
  });

  test('gives up a call or a read when it is told to', async () => {
    const signal = AbortSignal.abort();
    await expect(node.rpc.call('getblockcount', [], { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    const controller = new AbortController();
    const waiting = node.rpc.call('waitfornewblock', [60_000], { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await expect(node.block(asBlockHash(new Uint8Array(32)), { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect(node.rpc.call('waitfornewblock', [60_000], { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'node_unreachable',
    });
  });

  test('is refused where it is of another network than wanted', async () => {
    await expect(connectNode({ ...bitcoind.settings, network: 'mainnet' })).rejects.toMatchObject({
      code: 'network_mismatch',
      details: { found: 'regtest', expected: 'mainnet' },
    });
    const same = await connectNode({ ...bitcoind.settings, network: 'regtest' });
    await same.close();
  });

  test('refuses a wrong cookie, no cookie and a wrong password, and no error shows them', async () => {
    const file = join(bitcoind.dataDir, 'wrong.cookie');
    await writeFile(file, `__cookie__:${'5'.repeat(64)}`);
    const nowhere = join(bitcoind.dataDir, 'nowhere');
    const wrong = [
      [{ kind: 'cookie', file }, 'node_refused', 'the user, password or cookie is wrong'],
      [{ kind: 'cookie', file: nowhere }, 'node_cookie_missing', 'there is no cookie file nowhere'],
      [{ kind: 'password', ...password }, 'node_refused', 'the user, password or cookie is wrong'],
      [{ kind: 'none' }, 'node_refused', 'neither a cookie file nor a user and password are set'],
    ] as const;
    for (const [auth, code, why] of wrong) {
      const error = await failureOf(connectNode({ ...bitcoind.settings, auth }));
      expect(error).toMatchObject({
        code,
        message: `The node at ${bitcoind.rpcUrl} denies access, because ${why}.`,
      });
      expect(everythingOf(error)).not.toContain('5'.repeat(64));
      expect(everythingOf(error)).not.toContain(password.password);
      expect(everythingOf(error)).not.toContain('Basic ');
    }
    const url = new URL(bitcoind.rpcUrl);
    url.username = 'someone';
    url.password = 'hidden-in-the-url';
    const error = await failureOf(connectNode({ rpcUrl: url.href, auth: { kind: 'none' } }));
    expect(error).toMatchObject({ code: 'node_refused' });
    expect(everythingOf(error)).not.toContain('hidden-in-the-url');
  });

  test('is not spoken to through a proxy of the environment', async () => {
    vi.stubEnv('http_proxy', 'http://127.0.0.1:9');
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9');
    const other = await connectNode(bitcoind.settings);
    vi.unstubAllEnvs();
    expect(other.facts.hasRest).toBe(true);
    await other.close();
  });

  test('refuses an invalid ZMQ address', async () => {
    await expect(connectNode({ ...bitcoind.settings, zmq: 'tcp://127.0.0.1' })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });

  test('refuses a file that is no cookie', async () => {
    const file = join(bitcoind.dataDir, 'no.cookie');
    await writeFile(file, 'rpcuser\n');
    await expect(connectNode({ ...bitcoind.settings, auth: { kind: 'cookie', file } })).rejects.toMatchObject(
      {
        code: 'node_refused',
      },
    );
    await expect(
      connectNode({ ...bitcoind.settings, auth: { kind: 'cookie', file: bitcoind.dataDir } }),
    ).rejects.toMatchObject({ code: 'node_refused' });
  });
});

describe.skipIf(!hasBitcoind)('a node that stops and starts', () => {
  let bitcoind: Bitcoind;
  let node: BitcoinNode;

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await RegtestChain.start(bitcoind.rpc, 5);
    node = await connectNode(bitcoind.settings);
  });
  afterAll(async () => {
    await node.close();
    await bitcoind.remove();
  });

  test('is unreachable meanwhile, is let in by its new cookie, and says that messages were lost', async () => {
    const gaps: string[] = [];
    const kinds: string[] = [];
    node.messages.listen((message) => {
      kinds.push(message.kind);
      if (message.kind === 'gap') gaps.push(message.topic);
    });
    const hash = parseBlockHash(await node.rpc.call<string>('getblockhash', [3]))!;
    for (const way of ['stop', 'kill'] as const) {
      gaps.length = kinds.length = 0;
      await bitcoind[way]();
      await expect(node.rpc.call('getblockcount')).rejects.toMatchObject({ code: 'node_unreachable' });
      await expect(node.block(hash)).rejects.toMatchObject({ code: 'node_unreachable' });
      await expect(connectNode(bitcoind.settings)).rejects.toMatchObject({ code: 'node_unreachable' });
      await bitcoind.start();
      expect((await node.block(hash)).length).toBeGreaterThan(80);
      expect((await node.spentOutputs(hash)).bytes.length).toBe(2);
      // bulk RPC finds the new cookie by itself
      expect((await node.headers(asHeight(3), 1))?.length).toBe(1);
      await expect
        .poll(() => new Set(gaps), { timeout: 30_000 })
        .toEqual(new Set(['sequence', 'rawtx', 'hashblock']));
      await bitcoind.rpc.call('generatetodescriptor', [1, 'raw(51)']);
      await expect.poll(() => kinds).toContain('block-connected');
    }
  });
});

test.skipIf(!hasBitcoind)(
  'a node that answers while its cookie is gone lets us in again with the next cookie, by each way',
  async () => {
    const bitcoind = await startBitcoind();
    await RegtestChain.start(bitcoind.rpc, 5);
    const file = join(bitcoind.dataDir, 'copy.cookie');
    const { auth } = bitcoind.settings;
    const cookie = await readFile(auth.kind === 'cookie' ? auth.file : '');
    await writeFile(file, cookie);
    const node = await connectNode({ ...bitcoind.settings, auth: { kind: 'cookie', file } });
    await bitcoind.restart();
    await rm(file);
    const missing = { code: 'node_cookie_missing' };
    await expect(node.rpc.call('getblockcount')).rejects.toMatchObject(missing);
    await expect(node.headers(asHeight(3), 1)).rejects.toMatchObject(missing);
    expect(retryClassOf('node_cookie_missing', { hasCookieFile: true })).toBe('soon');
    await writeFile(file, await readFile(auth.kind === 'cookie' ? auth.file : ''));
    expect(await node.rpc.call('getblockcount')).toBe(5);
    expect((await node.headers(asHeight(3), 1))?.length).toBe(1);
    await node.close();
    await bitcoind.remove();
  },
);

describe.skipIf(!hasBitcoind)('a node that lacks things', () => {
  const nodes: Bitcoind[] = [];
  const connect = async (bitcoind: Bitcoind): Promise<BitcoinNode> => {
    nodes.push(bitcoind);
    return connectNode(bitcoind.settings);
  };
  afterAll(async () => {
    for (const bitcoind of nodes) await bitcoind.remove();
  });

  test('without REST, ZMQ and index gets a line of advice for each, and is read by RPC', async () => {
    const node = await connect(await startBitcoind({ rest: false, zmq: [], txindex: false, password }));
    expect(node.facts).toMatchObject({ hasRest: false, spentOutputs: 'rpc', hasTxIndex: false });
    expect(node.facts.zmq.size).toBe(0);
    expect(node.facts.advice.map(({ action }) => /Put (\w+)=/u.exec(action)?.[1])).toEqual([
      'rest',
      'zmqpubsequence',
      'zmqpubrawtx',
      'txindex',
    ]);
    const genesis = parseBlockHash(await node.rpc.call<string>('getblockhash', [0]))!;
    expect((await node.block(genesis)).length).toBe(285);
    expect([...(await node.spentOutputs(genesis)).bytes]).toEqual([1, 0]);
    expect(await node.headers(genesisHeight, 10)).toHaveLength(1);
    await node.close();
  });

  test('that is not needed is not received, and there is no advice about ZMQ', async () => {
    const bitcoind = await startBitcoind({ zmq: ['sequence'] });
    nodes.push(bitcoind);
    const node = await connectNode(bitcoind.settings, { listens: false });
    expect(node.facts.advice).toEqual([]);
    const heard: NodeMessage[] = [];
    node.messages.listen((message) => heard.push(message));
    await bitcoind.rpc.call('generatetodescriptor', [1, 'raw(51)']);
    // Bitcoin Core publishes within milliseconds
    expect(await bitcoind.rpc.call('getblockcount')).toBe(1);
    expect(heard).toEqual([]);
    await node.close();
    const lost = { ...bitcoind.settings, zmq: 'tcp://127.0.0.1:9' };
    const other = await connectNode(lost, { listens: false });
    expect(other.facts.advice).toEqual([]);
    await other.close();
  });

  test('with hashblock alone tells of blocks by it', async () => {
    const bitcoind = await startBitcoind({ zmq: ['hashblock'] });
    const node = await connect(bitcoind);
    expect([...node.facts.zmq.keys()]).toEqual(['hashblock']);
    const heard: NodeMessage[] = [];
    node.messages.listen((message) => heard.push(message));
    const [hash = ''] = await bitcoind.rpc.call<string[]>('generatetodescriptor', [1, 'raw(51)']);
    await expect.poll(() => heard).toEqual([{ kind: 'block-connected', hash: parseBlockHash(hash) }]);
    await node.close();
  });

  test('whose ZMQ address leads nowhere is told so, and can be polled', async () => {
    const bitcoind = await startBitcoind();
    nodes.push(bitcoind);
    const node = await connectNode({ ...bitcoind.settings, zmq: 'tcp://127.0.0.1:9' });
    expect(node.facts.advice.map(({ message }) => message)).toEqual([
      expect.stringContaining('ZMQ of the node at tcp://127.0.0.1:9 cannot be reached'),
    ]);
    expect(await node.rpc.call('getblockcount')).toBe(0);
    await node.close();
  });

  test('that has pruned blocks says from where on it has them, and names the one that is gone', async () => {
    const bitcoind = await startBitcoind({ prune: true });
    nodes.push(bitcoind);
    // the node removes only complete files of 64 kB, and never the last 288 blocks
    await bitcoind.rpc.call('generatetodescriptor', [1200, 'raw(51)']);
    await bitcoind.rpc.call('pruneblockchain', [900]);
    const node = await connectNode(bitcoind.settings);
    const { pruneHeight, advice } = node.facts;
    expect(pruneHeight).toBeGreaterThan(0);
    expect(advice).toEqual([
      expect.objectContaining({ feature: 'txindex' }),
      {
        feature: 'unpruned',
        message: expect.stringContaining(`from height ${pruneHeight} on`) as string,
        action: expect.stringContaining('Put prune=0') as string,
      },
    ]);
    const hashAt = async (height: number): Promise<Uint8Array> =>
      parseBlockHash(await node.rpc.call<string>('getblockhash', [height]))!;
    const gone = await hashAt(1);
    const isPruned = { code: 'node_pruned', details: { hash: displayHash(gone) } };
    await expect(node.block(asBlockHash(gone))).rejects.toMatchObject(isPruned);
    await expect(node.spentOutputs(asBlockHash(gone))).rejects.toMatchObject(isPruned);
    expect((await node.block(asBlockHash(await hashAt(pruneHeight!)))).length).toBeGreaterThan(80);
    // the headers of these blocks are still there
    expect(await node.headers(genesisHeight, 10)).toHaveLength(10);
    await node.close();
  });
});

test('an address that is not a URL, and one without a listener', async () => {
  await expect(connectNode({ rpcUrl: 'nonsense', auth: { kind: 'none' } })).rejects.toMatchObject({
    code: 'config_invalid',
  });
  // a URL with such a password has no other valid form
  for (const rpcUrl of ['http://127.0.0.1:9', 'http://someone:50%of-it@127.0.0.1:9']) {
    const error = await failureOf(connectNode({ rpcUrl, auth: { kind: 'none' } }));
    expect(error).toMatchObject({ code: 'node_unreachable' });
    expect(everythingOf(error)).not.toContain('50%of-it');
  }
});
