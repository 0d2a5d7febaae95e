import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/**
 * Sends requests without recorded responses to an ord and to this server, which both use the same node. Runs only if
 * ORD names an ord 0.29.1, because building an ord takes minutes.
 */
const ord = process.env['ORD'] ?? '';
const golden = new GoldenChain(process.env['ORD_CHAIN'] ?? 'families-1');
const [best] = golden.tips();
const tip = golden.chain.headers.at(-1)!;
const genesisTxid = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b';
const json = { accept: 'application/json' };

/** A JSON text in the form for comparisons: keys are in order, and integers are exact. */
function comparable(text: string): string {
  const ordered = (value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return value.map(ordered);
    if (typeof value !== 'object' || value === null) return value;
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, ordered(item)]);
  };
  try {
    return JSON.stringify(ordered(exactJson(text)));
  } catch {
    return text;
  }
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const shown = (status: number, type: string | undefined, body: string): Answered => ({
  status,
  // of errors, only the status is compared
  type: status === 200 ? (type ?? '').split(';')[0]! : '',
  body: status === 200 ? comparable(body) : '',
});

describe.skipIf(ord === '' || bitcoindForTests() === null)('compared with a running ord', () => {
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
  let node: Bitcoind;
  let server: ChildProcess;
  let address: string;
  let database: TestDatabase;
  let blocks: BlockSource;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    node = await startBitcoind({ zmq: [] });
    for (const header of golden.chain.headers.slice(1))
      await node.rpc.call('submitblock', [Buffer.from(golden.block(header).bytes).toString('hex')]);
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    server = spawn(
      ord,
      [
        '--regtest',
        '--index-runes',
        '--index-addresses',
        '--data-dir',
        join(folder, 'ord'),
        '--bitcoin-rpc-url',
        node.rpcUrl,
        '--cookie-file',
        node.cookieFile,
        'server',
        '--address',
        '127.0.0.1',
        '--http-port',
        String(port),
      ],
      { stdio: 'ignore' },
    );
    database = await createTestDatabase();
    const { pool, readers } = database;
    blocks = await openFolderSource(folder);
    await follow({ source: blocks, pool, signal: new AbortController().signal });
    app = buildCheckedApp({
      ...readerParts(readers, networks[golden.chain.network]),
      blocks,
      node: node.rpc,
    });
    await app.ready();
    await waitUntil(async () => (await ordHeight()) === String(tip.height), { everyMs: 200 });
  });

  afterAll(async () => {
    server.kill('SIGKILL');
    await app.close();
    await blocks.close();
    await database.drop();
    await node.remove();
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true });
  });

  const ordHeight = async (): Promise<string> =>
    fetch(`${address}/blockheight`).then(
      async (answer) => answer.text(),
      () => '',
    );

  async function expectSame(method: 'GET' | 'POST', url: string, payload?: readonly string[]): Promise<void> {
    const body = payload === undefined ? {} : { body: JSON.stringify(payload) };
    const headers = { ...json, 'content-type': 'application/json' };
    const theirs = await fetch(address + url, {
      method,
      headers: payload === undefined ? json : headers,
      ...body,
    });
    const ours = await app.inject({
      method,
      url,
      headers: json,
      ...(payload === undefined ? {} : { payload: [...payload] }),
    });
    const type = theirs.headers.get('content-type') ?? undefined;
    expect(
      shown(ours.statusCode, ours.headers['content-type'] as string | undefined, ours.body),
      url,
    ).toEqual(shown(theirs.status, type, await theirs.text()));
  }

  const ids = golden.order(best!);
  const txids = [...new Set(ids.map((id) => id.slice(0, 64)))];
  const held = golden.answers(best!, 'output').map(({ key }) => key);
  const empty = golden.answers(best!, 'output-empty').map(({ key }) => key);
  const parent = golden
    .answers<{ ids: string[] }>(best!, 'r-children')
    .toSorted((a, b) => b.value!.ids.length - a.value!.ids.length)[0]!
    .key.slice(0, -2);
  const isSpecial = (outpoint: string): boolean => outpoint.startsWith('0'.repeat(64));

  const questions: Record<string, readonly string[]> = {
    heights: [
      '/blockcount',
      '/blockheight',
      '/blockhash',
      '/blocktime',
      '/blockhash/7',
      '/blockhash/9999',
      '/r/blockheight',
      '/r/blockhash',
      '/r/blocktime',
      '/r/blockhash/7',
    ],
    blocks: [
      '/blocks',
      `/block/${tip.hash}`,
      `/r/block/${tip.hash}`,
      '/r/block/3',
      `/r/blockinfo/${tip.hash}`,
      '/block/9999',
      '/inscriptions/block/0',
      '/inscriptions/block/9999',
    ],
    relatives: [
      ...[0, 1, 2].map((page) => `/children/${parent}/${page}`),
      ...[0, 99, 129, 130].map((child) => `/inscription/${parent}/${child}`),
      '/inscription/-1/0',
      '/inscription/0',
      '/inscription/x',
      '/inscription/999999',
    ],
    galleries: ['/galleries', '/galleries/1', `/gallery/${ids[0]}`, `/gallery/${ids[0]}/page/7`],
    transactions: [...txids.slice(0, 100), genesisTxid].flatMap((txid) => [
      `/tx/${txid}`,
      `/r/tx/${txid}`,
      `/decode/${txid}`,
    ]),
    outputs: [
      ...[...held.slice(0, 100), ...held.filter(isSpecial), ...empty.slice(0, 100)].map(
        (key) => `/r/utxo/${key}`,
      ),
      ...[0, 1].flatMap((vout) => [`/output/${genesisTxid}:${vout}`, `/r/utxo/${genesisTxid}:${vout}`]),
    ],
  };

  test.each(Object.keys(questions))('%s', async (name) => {
    for (const url of questions[name]!) await expectSame('GET', url);
  });

  test('many at once', async () => {
    await expectSame('POST', '/missing', [ids[0]!, `${'ab'.repeat(32)}i0`, `${'ab'.repeat(32)}i4294967295`]);
    await expectSame('POST', '/inscriptions', ids.slice(0, 300));
    await expectSame('POST', '/inscriptions', [`${'ab'.repeat(32)}i0`]);
    const outpoints = [...held.filter((key) => !isSpecial(key)), ...empty.slice(0, 100)];
    await expectSame('POST', '/outputs', outpoints.slice(0, 300));
    await expectSame('POST', '/outputs', [`${'0'.repeat(64)}:0`]);
  });

  test('collections, which ord only has as a page', async () => {
    const page = await (await fetch(`${address}/collections`)).text();
    const listed = [...page.matchAll(/href=\/inscription\/([0-9a-f]{64}i\d+)/gu)].map(([, id]) => id);
    expect((await app.inject('/collections')).json<{ ids: string[] }>().ids).toEqual(listed);
  });
});
