import { existsSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import {
  createFilledDatabase,
  createTestDatabase,
  type FilledDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { type CliProcess, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const readyLine = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;

let bitcoind: Bitcoind;
let dataDir: string;
let folder: { path: string; remove(): Promise<void> };
/** A database with an index of the first 110 blocks. */
let indexed: FilledDatabase;
let database: TestDatabase;
const processes: CliProcess[] = [];

beforeEach(async () => {
  folder = await makeDataDir();
  dataDir = join(folder.path, 'data');
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await database.drop();
  await folder.remove();
});

/** Starts a service with its own database, on the server that all tests share. */
function serve(words: readonly string[] = [], env: Record<string, string> = {}): CliProcess {
  const node = ['--node', bitcoind.rpcUrl, '--cookie-file', bitcoind.cookieFile];
  return start([...node, ...words], { ...database.settings, ...env });
}

/** Starts a service without a database URL. It uses the embedded server, in a folder that does not exist yet. */
function serveAlone(words: readonly string[], env: Record<string, string> = {}): CliProcess {
  return start(['--node', bitcoind.rpcUrl, '--data', dataDir, ...words], env);
}

function start(words: readonly string[], env: Record<string, string>): CliProcess {
  const port = words.includes('--port') ? [] : ['--port', '0'];
  const started = startCli(['serve', ...words, ...port], env);
  processes.push(started);
  return started;
}

async function addressOf(service: CliProcess): Promise<string> {
  const [, found = ''] = await service.seen(readyLine);
  return found;
}

interface Ready {
  readonly status: string;
  readonly state: string | null;
  readonly height: number | null;
  readonly lagBlocks: number | null;
  readonly reasons?: readonly { readonly code: string }[];
}

async function ready(at: string): Promise<{ status: number; body: Ready }> {
  const answer = await fetch(new URL('/health/ready', at));
  return { status: answer.status, body: (await answer.json()) as Ready };
}

async function until<T>(look: () => Promise<T>, holds: (value: T) => boolean, limitMs = 20_000): Promise<T> {
  const seen = async (): Promise<{ value: T }> => {
    const value = await look();
    if (!holds(value)) throw new Error(`never so: ${JSON.stringify(value)}`);
    return { value };
  };
  return (await waitUntil(seen, { limitMs, everyMs: 50 })).value;
}

async function statusOf(at: string): Promise<{ height: number | null; satscribe: { tipHash: string } }> {
  const answer = await fetch(new URL('/status', at));
  return (await answer.json()) as { height: number | null; satscribe: { tipHash: string } };
}

const mine = (blocks: number): Promise<string[]> =>
  bitcoind.rpc.call<string[]>('generatetoaddress', [blocks, address]);

describe.skipIf(bitcoindForTests() === null)('serve beside a bitcoind', () => {
  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await mine(110);
    const node = await connectNode(bitcoind.settings);
    const source = openNodeSource(node);
    indexed = await createFilledDatabase(({ pool }) =>
      follow({
        source,
        pool,
        signal: new AbortController().signal,
        threads: parseThreads(),
        until: asHeight(110),
      }),
    );
    await node.close();
  });
  afterAll(async () => {
    await indexed?.drop();
    await bitcoind.remove();
  });

  async function beginIndexed(): Promise<void> {
    await database.drop();
    database = await indexed.clone();
  }

  test('is ready at the tip, follows blocks and reorganisations, and outlives the node', async () => {
    const service = serve();
    const at = await addressOf(service);
    const before = await bitcoind.rpc.call<number>('getblockcount');
    expect(await ready(at)).toMatchObject({
      status: 200,
      body: { status: 'ok', state: 'following', height: before, lagBlocks: 0 },
    });
    const [hash] = await mine(1);
    await until(
      () => statusOf(at),
      ({ height }) => height === before + 1,
    );
    await bitcoind.rpc.call('invalidateblock', [hash]);
    // mine to another address, so that the blocks differ
    const other = 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry';
    const [, newest] = await bitcoind.rpc.call<string[]>('generatetoaddress', [2, other]);
    await until(
      () => statusOf(at),
      ({ satscribe }) => satscribe.tipHash === newest,
    );

    await bitcoind.stop();
    const gone = await until(
      () => ready(at),
      ({ status }) => status === 503,
    );
    expect(gone.body).toMatchObject({ height: before + 2, state: 'waiting' });
    expect(gone.body.reasons?.map(({ code }) => code)).toEqual(['node_unreachable']);
    expect((await fetch(new URL('/search?text=a', at))).status).toBe(200);
    await bitcoind.start();
    await mine(1);
    await until(
      () => ready(at),
      ({ status, body }) => status === 200 && body.height === before + 3,
      30_000,
    );

    const metrics = await (await fetch(new URL('/metrics', at))).text();
    expect(metrics).toContain(`\nsatscribe_tip_height ${before + 3}\n`);
    expect(metrics).toContain('\nsatscribe_lag_blocks 0\n');
    expect(metrics).toContain('\nsatscribe_reorganisation_depth_blocks_count 1\n');
    expect(metrics).toMatch(/satscribe_step_duration_seconds_count\{step="write"\} [1-9]/u);
    expect(metrics).toMatch(/satscribe_step_duration_seconds_count\{step="undo"\} [1-9]/u);
    service.child.kill('SIGTERM');
    const { exitCode, stderr } = await service.ended;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"msg":"block"');
    expect(stderr).not.toContain((await readFile(bitcoind.cookieFile, 'utf8')).trim());
  });

  test('does not start with a source of unspent outputs or an inventory that it cannot have', {
    tags: ['proof'],
  }, async () => {
    const wrong: readonly [Record<string, string>, number, string][] = [
      [{ UTXO_SOURCE: 'index' }, 2, 'UTXO_SOURCE index needs --index-addresses'],
      [{ INVENTORY_DESCRIPTOR: 'garbage' }, 2, 'INVENTORY_DESCRIPTOR is not an output descriptor'],
      [{ INVENTORY_DESCRIPTOR: 'tr(garbage)' }, 1, 'inventory_descriptor_invalid'],
    ];
    await beginIndexed();
    for (const [settings, code, says] of wrong) {
      const { exitCode, stdout, stderr } = await serve([], settings).ended;
      expect([exitCode, stdout]).toEqual([code, '']);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('garbage');
    }
  });

  test('serves indexed data while there is no node, and says so', async () => {
    await beginIndexed();
    await bitcoind.stop();
    try {
      const service = serve();
      const at = await addressOf(service);
      const { status, body } = await ready(at);
      expect(status).toBe(503);
      expect(body.reasons?.map(({ code }) => code)).toContain('node_unreachable');
      expect((await statusOf(at)).height).toBeGreaterThan(100);
      await bitcoind.start();
      await until(
        () => ready(at),
        ({ status: now }) => now === 200,
        30_000,
      );
    } finally {
      await bitcoind.stop();
      await bitcoind.start();
    }
  });

  test('waits for a node if nothing is indexed, says so, and creates nothing before', {
    tags: ['proof'],
  }, async () => {
    await bitcoind.stop();
    const port = await freePort();
    const at = `http://127.0.0.1:${port}`;
    const service = serveAlone(['--cookie-file', bitcoind.cookieFile, '--port', String(port)]);
    const waiting = await until(
      () => ready(at).catch(() => null),
      (answer) => answer?.body.reasons?.length === 1,
    );
    expect(waiting).toMatchObject({
      status: 503,
      body: { reasons: [{ code: 'node_unreachable' }], height: null },
    });
    expect((await fetch(new URL('/health/live', at))).status).toBe(200);
    expect((await fetch(new URL('/search?text=a', at))).status).toBe(503);
    expect(existsSync(dataDir)).toBe(false);
    // from here on there must always be a response, even while a database is created and the API takes the port
    let isWatched = true;
    let silences = 0;
    const watching = (async () => {
      while (isWatched) {
        const lives = await fetch(new URL('/health/live', at)).then(
          ({ ok }) => ok,
          () => false,
        );
        if (!lives) silences++;
        await sleep(25);
      }
    })();
    await bitcoind.start();
    expect(await addressOf(service)).toBe(at);
    isWatched = false;
    await watching;
    // there may be no response in the moment between two listening sockets
    expect(silences).toBeLessThanOrEqual(2);
    expect(await ready(at)).toMatchObject({ status: 200 });
  });

  test('ends with 0 at any time: while it waits for a node, and during a first sync', {
    tags: ['proof'],
  }, async () => {
    const syncing = serve();
    await until(
      () => Promise.resolve(syncing.stderr()),
      (text) => text.includes('"msg":"indexing"'),
    );
    syncing.child.kill('SIGTERM');
    expect(await syncing.ended).toMatchObject({ exitCode: 0, signal: null });
    // nothing is indexed in a folder that does not exist
    const waiting = start(['--node', 'http://127.0.0.1:1', '--data', dataDir], {});
    await until(
      () => Promise.resolve(waiting.stderr()),
      (text) => text.includes('waiting for the node'),
    );
    waiting.child.kill('SIGTERM');
    expect(await waiting.ended).toMatchObject({ exitCode: 0, signal: null, stdout: '' });
  });

  test('serves indexed data if the node refuses it, and says so', { tags: ['proof'] }, async () => {
    await beginIndexed();
    const wrong = start(['--node', bitcoind.rpcUrl], {
      ...database.settings,
      BITCOIN_RPC_USER: 'someone',
      BITCOIN_RPC_PASSWORD: 'hidden-word',
    });
    const at = await addressOf(wrong);
    const { status, body } = await ready(at);
    expect(status).toBe(503);
    expect(body.reasons?.map(({ code }) => code)).toContain('node_refused');
    expect((await statusOf(at)).height).toBeGreaterThan(100);
    wrong.child.kill('SIGTERM');
    const { exitCode, stderr } = await wrong.ended;
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('hidden-word');
  });

  test('continues to serve if the node begins to refuse it, and says so', { tags: ['proof'] }, async () => {
    await beginIndexed();
    // use a copy, because it does not change when the node makes a new cookie
    const cookieFile = join(folder.path, 'cookie');
    await copyFile(bitcoind.cookieFile, cookieFile);
    const service = start(['--node', bitcoind.rpcUrl, '--cookie-file', cookieFile], {
      ...database.settings,
    });
    const at = await addressOf(service);
    await until(
      () => Promise.resolve(service.stderr()),
      (text) => text.includes('the mempool is followed'),
    );
    await bitcoind.restart();
    const { body } = await until(
      () => ready(at),
      (answer) => answer.body.reasons?.some(({ code }) => code === 'node_refused') === true,
      30_000,
    );
    expect(body.height).toBeGreaterThan(100);
    await until(
      () => Promise.resolve(service.stderr()),
      (text) => text.includes('the mempool is not followed'),
    );
    expect((await fetch(new URL('/search?text=a', at))).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ exitCode: 0 });
  });

  test('ends at once if waiting cannot help, and leaves nothing', {
    tags: ['proof'],
  }, async () => {
    const wrongPassword = serveAlone([], {
      BITCOIN_RPC_USER: 'someone',
      BITCOIN_RPC_PASSWORD: 'hidden-word',
    });
    const refused = await wrongPassword.ended;
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('node_refused');
    expect(refused.stderr).not.toContain('hidden-word');
    const alone = serveAlone(['--cookie-file', bitcoind.cookieFile, '--network', 'mainnet']);
    const wrongNetwork = await alone.ended;
    expect(wrongNetwork.exitCode).toBe(1);
    expect(wrongNetwork.stderr).toContain('network_mismatch');
    expect(existsSync(dataDir)).toBe(false);
  });
});
