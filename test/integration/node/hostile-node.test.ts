import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import type { NodeSettings } from '#node/node-settings.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const golden = new GoldenChain('envelopes-1');
// a block with many transactions
const header = golden.chain.headers.toSorted(
  (a, b) => golden.block(b).spent.length - golden.block(a).spent.length,
)[0]!;
const block = golden.block(header);
const hash = parseBlockHash(header.hash)!;
const tip = golden.chain.headers.at(-1)!;
const secret = 'the password of the node';

/** Honest answers of a node. A test may replace them. */
const honest: Record<string, unknown> = {
  getblockchaininfo: {
    chain: 'regtest',
    blocks: tip.height,
    bestblockhash: tip.hash,
    initialblockdownload: false,
    pruned: false,
  },
  getnetworkinfo: { version: 310_000 },
  getindexinfo: { txindex: { synced: true } },
  getzmqnotifications: [],
};

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};
const bytes = (response: ServerResponse, value: Uint8Array): void => {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': value.length });
  response.end(value);
};

describe('a server that is no honest node', () => {
  let server: Server;
  let settings: NodeSettings;
  /** False answers, by RPC method or by path of REST without the hash. */
  let falseAnswers: Record<string, Answer>;
  let asked: string[];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => answer(request, response, body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    settings = {
      rpcUrl: `http://127.0.0.1:${port}`,
      auth: { kind: 'password', user: 'satscribe', password: secret },
    };
  });
  beforeEach(() => {
    falseAnswers = {};
    asked = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const isRest = request.method === 'GET';
    const call = isRest ? {} : (JSON.parse(body) as { id?: unknown; method?: string });
    const path = (request.url ?? '').replace(/[0-9a-f]{64}.*$/u, '');
    const name = isRest ? path : (call.method ?? '');
    asked.push(name);
    const falseAnswer = falseAnswers[name];
    if (falseAnswer !== undefined) falseAnswer(request, response, body);
    else if (isRest) answerRest(path, response);
    else answerCall(name, call, response);
  }

  function answerRest(path: string, response: ServerResponse): void {
    if (path === '/rest/chaininfo.json') json(response, honest['getblockchaininfo']);
    else bytes(response, path === '/rest/block/' ? block.bytes : block.spent);
  }

  function answerCall(name: string, { id }: { id?: unknown }, response: ServerResponse): void {
    const result = name === 'getblock' ? Buffer.from(block.bytes).toString('hex') : (honest[name] ?? null);
    json(response, { id, error: null, result });
  }

  const failureOf = async (timeoutMs = 2000): Promise<unknown> => {
    try {
      const node = await connectNode(settings, { answerTimeoutMs: timeoutMs });
      await node.close();
    } catch (error) {
      return error;
    }
    throw new Error('it connected');
  };

  test.each<[string, string, Answer]>([
    ['HTML', 'node_answer_invalid', (_, response) => void response.end('<html>login</html>')],
    ['nothing', 'node_answer_invalid', (_, response) => void response.end()],
    ['null', 'node_answer_invalid', (_, response) => json(response, null)],
    ['a list', 'node_answer_invalid', (_, response) => json(response, [])],
    ['no result', 'node_answer_invalid', (_, response) => json(response, { error: null })],
    ['neither result nor error', 'node_answer_invalid', (_, response) => json(response, {})],
    ['an error that is a text', 'node_answer_invalid', (_, response) => json(response, { error: 'no' }, 500)],
    [
      'a result of another type',
      'node_answer_invalid',
      (_, response) => json(response, { error: null, result: 7 }),
    ],
    [
      'an unknown network',
      'node_answer_invalid',
      (_, response) => json(response, { error: null, result: { ...chainInfo(), chain: 'toString' } }),
    ],
    [
      'an invalid height',
      'node_answer_invalid',
      (_, response) => json(response, { error: null, result: { ...chainInfo(), blocks: -1 } }),
    ],
    [
      'an invalid hash',
      'node_answer_invalid',
      (_, response) =>
        json(response, { error: null, result: { ...chainInfo(), bestblockhash: '../../etc' } }),
    ],
    ['deep JSON', 'node_answer_invalid', (_, response) => void response.end('['.repeat(200_000))],
    ['404', 'node_answer_invalid', (_, response) => void response.writeHead(404).end()],
    [
      'a redirect',
      'node_answer_invalid',
      (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    ],
    ['401', 'node_refused', (_, response) => void response.writeHead(401).end()],
    ['403', 'node_refused', (_, response) => void response.writeHead(403).end()],
    [
      '503',
      'node_unreachable',
      (_, response) => void response.writeHead(503).end('Work queue depth exceeded'),
    ],
    ['a closed connection', 'node_unreachable', (_, response) => void response.destroy()],
    [
      'warming up',
      'node_warming_up',
      (_, response) =>
        json(response, { result: null, error: { code: -28, message: 'Loading block index…' } }, 500),
    ],
    [
      'an error with the password in it',
      'node_call_failed',
      (_, response) =>
        json(response, { result: null, error: { code: -1, message: `wrong: ${secret}` } }, 500),
    ],
  ])('that answers a call with %s gives %s', async (_, code, falseAnswer) => {
    falseAnswers['getblockchaininfo'] = falseAnswer;
    const error = (await failureOf()) as Error & { cause?: unknown };
    expect(error).toMatchObject({ name: 'AppError', code });
    expect(error.cause).toBeUndefined();
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(secret);
    expect(asked).not.toContain('/elsewhere');
  });

  test('that does not speak TLS is told apart from one that does not answer', async () => {
    const rpcUrl = settings.rpcUrl.replace('http:', 'https:');
    await expect(connectNode({ ...settings, rpcUrl })).rejects.toMatchObject({
      code: 'node_tls',
      message: expect.stringContaining('answers, but the connection by TLS failed') as string,
    });
  });

  test('that closes a connection just when it is used again is called over a new one', async () => {
    const node = await connectNode(settings);
    const sockets = new Set<unknown>();
    falseAnswers['getnetworkinfo'] = (request, response) => {
      if (sockets.size > 0 && sockets.has(request.socket)) {
        request.socket.destroy();
        return;
      }
      sockets.add(request.socket);
      json(response, { error: null, result: honest['getnetworkinfo'] });
    };
    for (let round = 0; round < 3; round++)
      expect(await node.rpc.call('getnetworkinfo')).toEqual({ version: 310_000 });
    expect(sockets.size).toBe(3);
    await node.close();
  });

  test('that never stops answering a call is given up', async () => {
    falseAnswers['getblockchaininfo'] = (_, response) => {
      const megabyte = Buffer.alloc(1024 * 1024, 0x20);
      const more = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on('drain', more);
      response.writeHead(200, { 'content-type': 'application/json' });
      more();
    };
    expect(await failureOf()).toMatchObject({ code: 'node_answer_invalid' });
  });

  test('whose REST gives false answers is read by RPC, and REST is not used for a while', async () => {
    const whole = block.bytes;
    const other = Uint8Array.from(whole);
    other[4] = (other[4] ?? 0) ^ 1;
    const restLies: Record<string, Answer> = {
      'half a body': (_, response) => {
        response.writeHead(200, { 'content-length': whole.length });
        response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
      },
      'a body shorter than any block': (_, response) => bytes(response, whole.subarray(0, 80)),
      'an empty body': (_, response) => bytes(response, new Uint8Array(0)),
      'another block': (_, response) => bytes(response, other),
      'a length of terabytes': (_, response) => {
        response.writeHead(200, { 'content-length': 5_000_000_000_000 });
        response.write('x');
      },
      'an endless body': (_, response) => {
        const chunk = Buffer.alloc(256 * 1024);
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', more);
        response.writeHead(200);
        more();
      },
      'drops of a body': (_, response) => {
        response.writeHead(200, { 'content-length': whole.length });
        const timer = setInterval(() => response.write('x'), 50);
        response.on('close', () => clearInterval(timer));
      },
      'no answer': () => undefined,
      HTML: (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
      'a redirect': (_, response) => void response.writeHead(301, { location: '/elsewhere' }).end(),
      'no HTTP': (request) => void request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
      'an error': (_, response) => void response.writeHead(500).end(),
    };
    for (const [name, falseAnswer] of Object.entries(restLies)) {
      falseAnswers = { '/rest/block/': falseAnswer };
      asked = [];
      const node = await connectNode(settings, { answerTimeoutMs: 400 });
      for (let round = 0; round < 2; round++) {
        expect(Buffer.from(await node.block(hash)).equals(whole), name).toBe(true);
      }
      // the source does not try a second time
      expect(
        asked.filter((path) => path === '/rest/block/'),
        name,
      ).toHaveLength(1);
      expect(asked, name).not.toContain('/elsewhere');
      await node.close();
    }
  });

  test.each<[string, string, unknown]>([
    ['a block that is cut', 'block_truncated', Buffer.from(block.bytes.subarray(0, 80)).toString('hex')],
    ['another block', 'block_corrupt', '00'.repeat(200)],
    ['a block longer than any', 'block_oversized', '00'.repeat(5_000_000)],
    ['no hex', 'node_answer_invalid', 'zz'.repeat(200)],
    ['half a byte', 'node_answer_invalid', '000'],
    ['a number', 'node_answer_invalid', 5],
    ['nothing', 'node_answer_invalid', null],
  ])('that gives %s by REST and by RPC fails as %s', async (_, code, result) => {
    falseAnswers['/rest/block/'] = (_request, response) => void response.writeHead(404).end();
    falseAnswers['getblock'] = (_request, response) => json(response, { error: null, result });
    const node = await connectNode(settings);
    await expect(node.block(hash)).rejects.toMatchObject({ code });
    await node.close();
  });

  test('without whole spent outputs anywhere is not believed', async () => {
    falseAnswers['/rest/spenttxouts/'] = (_, response) => bytes(response, Uint8Array.of(1));
    falseAnswers['getblock'] = (_, response) =>
      json(response, { error: null, result: { tx: [{}, { vin: [{}] }] } });
    const node = await connectNode(settings);
    await expect(node.spentOutputs(hash)).rejects.toMatchObject({ code: 'node_answer_invalid' });
    await node.close();
  });

  test('whose headers do not belong together is not believed', async () => {
    falseAnswers['getblockhash'] = (_, response) => json(response, { error: null, result: header.hash });
    const linked = golden.chain.headers
      .slice(header.height, header.height + 2)
      .map((each) => golden.block(each));
    const first = linked[0]!.bytes.subarray(0, 80);
    const lists: Record<string, Uint8Array> = {
      'another block first': Uint8Array.from(linked[1]!.bytes.subarray(0, 80)),
      'one that follows nothing': Uint8Array.from([...first, ...first]),
    };
    const node = await connectNode(settings);
    for (const [name, list] of Object.entries(lists)) {
      falseAnswers['/rest/headers/2/'] = (_, response) => bytes(response, list);
      expect(await node.headers(asHeight(header.height), 2), name).toBeNull();
    }
    const source = openNodeSource(node);
    await expect(source.headers(asHeight(header.height), 2)).rejects.toMatchObject({
      code: 'node_answer_invalid',
    });
    await source.close();
  });

  test('that fails for a moment is asked again by the source', async () => {
    const node = await connectNode(settings);
    let failures = 0;
    const failing: Answer = (_, response) => {
      failures++;
      if (failures > 4) falseAnswers = {};
      response.destroy();
    };
    falseAnswers = { '/rest/block/': failing, getblock: failing };
    const source = openNodeSource(node);
    const read = await source.read({ height: asHeight(header.height), hash });
    expect(Buffer.from(read.bytes).equals(block.bytes)).toBe(true);
    expect(failures).toBeGreaterThan(1);
    await source.close();
  });

  test('that stops letting us in is not asked again and again', async () => {
    const node = await connectNode(settings);
    const refusing: Answer = (_, response) => void response.writeHead(401).end();
    falseAnswers = { '/rest/block/': refusing, '/rest/spenttxouts/': refusing, getblock: refusing };
    const source = openNodeSource(node);
    asked = [];
    await expect(source.read({ height: asHeight(header.height), hash })).rejects.toMatchObject({
      code: 'node_refused',
    });
    expect(asked.length).toBeLessThanOrEqual(4);
    await source.close();
  });
});

const chainInfo = (): object => honest['getblockchaininfo'] as object;
