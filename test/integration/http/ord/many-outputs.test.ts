import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { BlockSource, SourceBlock } from '#kernel/contracts/block-source.ts';
import type { CallOptions, NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { doubleHash } from '#test/builders/merkle.ts';
import { writeTransaction } from '#test/builders/transaction.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const accept = { accept: 'application/json' };
let http: HttpApp;
afterEach(() => http.close());

interface Spent {
  readonly txid: string;
  readonly hex: string;
}

/** A transaction whose second output has a script of the given length. */
function transaction(serial: number, scriptBytes: number): Spent {
  const out = new ByteWriter(scriptBytes + 200);
  const input = { txid: new Uint8Array(32).fill(7), vout: serial, scriptSig: Buffer.of(), witness: [] };
  const outputs = [
    { value: 1000 + serial, script: Buffer.of(0x51) },
    { value: 0, script: Buffer.alloc(scriptBytes, 0x6a) },
  ];
  writeTransaction(out, { inputs: [input], outputs }, false);
  const bytes = Buffer.from(out.bytes.subarray(0, out.length));
  return { txid: displayHash(asTxid(doubleHash(bytes))), hex: bytes.toString('hex') };
}

/** A node that says that all outputs of some transactions are spent. It counts calls, and can delay responses. */
class SpendingNode implements NodeRpc {
  readonly url = 'http://127.0.0.1:1';
  readonly asked: string[] = [];
  readonly #transactions: ReadonlyMap<string, string>;
  #running = 0;
  most = 0;
  isHolding = false;

  constructor(transactions: readonly Spent[]) {
    this.#transactions = new Map(transactions.map(({ txid, hex }) => [txid, hex]));
  }

  get running(): number {
    return this.#running;
  }

  async call<Result>(
    method: string,
    [txid, ...others]: readonly unknown[] = [],
    { signal }: CallOptions = {},
  ): Promise<Result> {
    this.asked.push([method, txid, ...others].join(' '));
    this.#running++;
    this.most = Math.max(this.most, this.#running);
    try {
      if (this.isHolding) {
        await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      }
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (method === 'gettxout') return null as Result;
      const hex = this.#transactions.get(String(txid));
      if (hex === undefined) throw new AppError('node_call_failed', 'not found', { rpcCode: -5 });
      return { hex, confirmations: 3 } as Result;
    } finally {
      this.#running--;
    }
  }
}

const serve = async (options: HttpAppOptions): Promise<HttpApp> =>
  createHttpApp([{ height: 0, rows: [{ name: 'a' }] }], options);
const post = async (outpoints: readonly string[]) =>
  http.app.inject({ method: 'POST', url: '/outputs', headers: accept, payload: [...outpoints] });

describe('POST /outputs', () => {
  test('reads a transaction once for any number of its outputs, and an output once', async () => {
    const spent = transaction(1, 10);
    const node = new SpendingNode([spent]);
    http = await serve({ sources: { node } });
    const outpoints = Array.from({ length: 1500 }, (_, place) => `${spent.txid}:${place % 2}`);
    const answer = await post(outpoints);
    const shown = answer.json<{ outpoint: string; value: number; spent: boolean; indexed: boolean }[]>();
    expect(shown.map(({ outpoint }) => outpoint)).toEqual(outpoints);
    expect(shown[0]).toMatchObject({ value: 1001, spent: true, indexed: false });
    expect(shown[1]).toMatchObject({ value: 0, spent: true, indexed: true });
    expect(node.asked.toSorted()).toEqual([
      `getrawtransaction ${spent.txid} true`,
      `gettxout ${spent.txid} 0 false`,
      `gettxout ${spent.txid} 0 true`,
      `gettxout ${spent.txid} 1 true`,
    ]);
  });

  test('takes one connection to the database at a time, and four calls of the node', async () => {
    const spent = Array.from({ length: 600 }, (_, serial) => transaction(serial, 10));
    const node = new SpendingNode(spent);
    http = await serve({ sources: { node } });
    let [taken, most] = [0, 0];
    const { readers } = http.database;
    readers.on('acquire', () => {
      taken++;
      most = Math.max(most, taken);
    });
    readers.on('release', () => taken--);
    const two = [0, 1].map((vout) => post(spent.map(({ txid }) => `${txid}:${vout}`)));
    const answers = await Promise.all(two);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(answers[0]!.json<{ value: number }[]>().map(({ value }) => value)).toEqual(
      spent.map((_, serial) => 1000 + serial),
    );
    expect([most, node.most]).toEqual([2, 4]);
  });

  test('refuses outputs of transactions with too many bytes, and an answer that would be too large', async () => {
    const spent = Array.from({ length: 17 }, (_, serial) => transaction(serial, 1_000_000));
    http = await serve({ sources: { node: new SpendingNode(spent) } });
    const tooMuch = await post(spent.map(({ txid }) => `${txid}:0`));
    expect(tooMuch.statusCode).toBe(400);
    expect(tooMuch.json<{ error: string }>().error).toContain('have more than 16000000 bytes');
    const tooLong = await post(Array.from({ length: 9 }, () => `${spent[0]!.txid}:1`));
    expect(tooLong.statusCode).toBe(400);
    expect(tooLong.json<{ error: string }>().error).toContain('the answer would be too large');
  });

  test.each([
    ['POST', '/outputs'],
    ['GET', '/output/'],
    ['GET', '/r/utxo/'],
    ['GET', '/tx/'],
    ['GET', '/decode/'],
    ['GET', '/r/tx/'],
    ['GET', '/r/blockinfo/'],
    ['GET', '/block/'],
  ])('calls of the node for a disconnected client end: %s %s', async (method, path) => {
    const spent = Array.from({ length: 20 }, (_, serial) => transaction(serial, 10));
    const node = new SpendingNode(spent);
    http = await serve({ sources: { node } });
    node.isHolding = true;
    const address = await http.app.listen({ port: 0, host: '127.0.0.1' });
    const controller = new AbortController();
    const outpoints = spent.map(({ txid }) => `${txid}:0`);
    const named = path.endsWith('utxo/') || path.endsWith('output/') ? outpoints[0] : spent[0]!.txid;
    const gone = fetch(new URL(method === 'GET' ? `${path}${named}` : path, address), {
      method,
      signal: controller.signal,
      headers: { ...accept, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
      ...(method === 'GET' ? {} : { body: JSON.stringify(outpoints) }),
    }).catch(() => undefined);
    const begun = method === 'GET' ? 1 : 4;
    await waitUntil(() => node.running === begun);
    controller.abort();
    await gone;
    await waitUntil(() => node.running === 0);
    await http.app.close();
    // no further call starts
    expect(node.asked).toHaveLength(begun);
    expect(http.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });
});

/** A folder that is as slow as a test needs, and that has lost its blocks. */
class SlowSource implements BlockSource {
  readonly name = 'a slow folder';
  readonly network = 'regtest';
  readonly trusted = true;
  readonly #held = Promise.withResolvers<void>();
  reads = 0;

  readonly islands = () => Promise.resolve([]);
  readonly refs = () => Promise.resolve([]);
  readonly close = () => Promise.resolve();

  async read(): Promise<SourceBlock> {
    this.reads++;
    await this.#held.promise;
    throw new AppError('block_unavailable', 'no such block');
  }

  goOn(): void {
    this.#held.resolve();
  }
}

test('without a node, blocks are read for one request after another, and for no disconnected client', async () => {
  const source = new SlowSource();
  http = await serve({ sources: { blocks: source } });
  const address = await http.app.listen({ port: 0, host: '127.0.0.1' });
  // the lists are read when the server starts to listen
  await http.app.inject('/collections');
  const { readers } = http.database;
  let taken = 0;
  readers.on('acquire', () => taken++);
  const controller = new AbortController();
  const path = `/tx/${'ab'.repeat(32)}`;
  const gone = Promise.allSettled(
    [1, 2, 3].map(() => fetch(new URL(path, address), { signal: controller.signal, headers: accept })),
  );
  // each request has searched for inscriptions that lead to the block, and the first request has searched for the
  // blocks
  await waitUntil(() => source.reads === 1 && taken === 4);
  controller.abort();
  await gone;
  const connections = promisify(http.app.server.getConnections.bind(http.app.server));
  await waitUntil(async () => (await connections()) === 0);
  source.goOn();
  expect((await http.app.inject({ url: path, headers: accept })).statusCode).toBe(404);
  expect(source.reads).toBe(2);
});
