import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '#config/config.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { createLifecycle, type Lifecycle } from '#kernel/process/lifecycle.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { createElasticClient } from '#search/elastic/server/elastic-client.ts';
import { readMarker, writeMarker } from '#search/elastic/server/marker.ts';
import { readAlias } from '#search/elastic/server/search-index.ts';
import { type ExamineOptions, examine } from '#src/app/doctor/examine.ts';
import { type Finding, worstOf } from '#src/app/doctor/finding.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { freshPrefix } from '#test/support/elasticsearch/synced-index.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests, knotsForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';

const blocks = 1200;

let bitcoind: Bitcoind;
let indexed: FilledDatabase;
let database: TestDatabase;
let folder: { path: string; remove(): Promise<void> };
let lifecycle: Lifecycle;

/** Settings of a service that follows the node, with the given ones in addition. */
const settingsOf = (env: Record<string, string> = {}): Record<string, string> => ({
  BITCOIN_RPC_URL: bitcoind.rpcUrl,
  BITCOIN_COOKIE_FILE: bitcoind.cookieFile,
  DATA_DIR: folder.path,
  PORT: '0',
  ...database.settings,
  ...env,
});

/** Findings that are not ok. */
async function faultsOf(
  env: Record<string, string> = {},
  options: ExamineOptions = {},
): Promise<readonly Finding[]> {
  const findings = await examine({ config: loadConfig({ env: settingsOf(env) }), lifecycle }, options);
  return findings.filter(({ level, check }) => level !== 'ok' && check !== 'service.index');
}

/** A finding with a part of its message and of its action. */
const found = (check: string, level: string, message: string, action: string): unknown => ({
  check,
  level,
  message: expect.stringContaining(message) as string,
  action: expect.stringContaining(action) as string,
});

describe.skipIf(bitcoindForTests() === null)('doctor', () => {
  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await bitcoind.rpc.call('generatetodescriptor', [blocks, 'raw(51)']);
    const node = await connectNode(bitcoind.settings);
    const source = openNodeSource(node);
    indexed = await createFilledDatabase(({ pool }) =>
      follow({
        source,
        pool,
        signal: new AbortController().signal,
        threads: parseThreads(),
        until: asHeight(blocks),
      }),
    );
    await node.close();
  });
  afterAll(async () => {
    await indexed?.drop();
    await bitcoind?.remove();
  });
  beforeEach(async () => {
    database = await indexed.clone();
    folder = await makeDataDir();
    lifecycle = createLifecycle();
  });
  afterEach(async () => {
    await lifecycle.stop('done');
    await database.drop();
    await folder.remove();
  });

  test('finds nothing in a healthy service, and prints it in both forms', async () => {
    const port = String(await freePort());
    const service: CliProcess = startCli(['serve', '--port', port], settingsOf());
    try {
      await service.seen(/^ready /u);
      const lines = await runCli(['doctor', '--port', port], settingsOf());
      expect([lines.exitCode, lines.stderr]).toEqual([0, '']);
      expect(lines.stdout).toContain(
        `\nservice\n  ok      A service of the role all answers at http://127.0.0.1:${port}`,
      );
      const json = await runCli(['doctor', '--port', port, '--json'], settingsOf());
      const { findings, level } = JSON.parse(json.stdout) as { findings: Finding[]; level: string };
      expect([json.exitCode, level, worstOf(findings)]).toEqual([0, 'ok', 'ok']);
      expect(Object.keys(findings[0]!)).toEqual(['check', 'level', 'message', 'action']);
      expect(findings.length).toBeGreaterThan(15);
    } finally {
      service.child.kill('SIGTERM');
      await service.ended;
    }
  });

  test('before the first start, only what is missing is broken', async () => {
    const { exitCode, stdout, stderr } = await runCli(['doctor', '--json', '--node', 'http://127.0.0.1:9'], {
      DATA_DIR: join(folder.path, 'none'),
      PORT: String(await freePort()),
    });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect([exitCode, stderr]).toEqual([2, '']);
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([
      found('node.check', 'broken', 'http://127.0.0.1:9 does not answer', 'Start the node'),
    ]);
  });

  test.each(['indexer', 'search-sync', 'orders', 'api'])('examines what the role %s uses', async (role) => {
    const faults = await faultsOf({ ROLE: role, ELASTICSEARCH_URL: 'http://127.0.0.1:9' });
    const expected: Record<string, string[]> = {
      indexer: [],
      'search-sync': ['search.check'],
      orders: ['wallet.seed'],
      api: ['search.check'],
    };
    expect(faults.map(({ check }) => check)).toEqual(expected[role]);
  });

  test('a node that is off, or of another network', async () => {
    expect(await faultsOf({ BITCOIN_RPC_URL: 'http://127.0.0.1:9' })).toEqual([
      found('node.check', 'broken', 'does not answer', 'Start the node'),
    ]);
    expect(await faultsOf({ BITCOIN_COOKIE_FILE: join(folder.path, 'none') })).toEqual([
      found('files.cookie', 'broken', join(folder.path, 'none'), 'regtest/.cookie'),
      found('node.check', 'broken', 'there is no cookie file', 'BITCOIN_COOKIE_FILE'),
    ]);
    await database.pool.query("UPDATE chain.state SET network = 'signet'");
    expect(await faultsOf()).toEqual([
      found(
        'node.network',
        'broken',
        'is on regtest, and this service serves signet',
        'one database serves one',
      ),
    ]);
  });

  test('a node without REST, ZMQ and index of transactions', async () => {
    const bare = await startBitcoind({ rest: false, zmq: [], txindex: false });
    try {
      const faults = await faultsOf({ BITCOIN_RPC_URL: bare.rpcUrl, BITCOIN_COOKIE_FILE: bare.cookieFile });
      expect(faults).toEqual([
        found('node.rest', 'advice', 'o REST at', 'rest=1'),
        found('node.sequence', 'advice', 'o ZMQ topic sequence', 'zmqpubsequence='),
        found('node.rawtx', 'advice', 'o ZMQ topic rawtx', 'zmqpubrawtx='),
        found('node.txindex', 'advice', 'o transaction index', 'txindex=1'),
      ]);
    } finally {
      await bare.remove();
    }
    expect(await faultsOf({ BITCOIN_ZMQ: 'tcp://127.0.0.1:9' })).toEqual([
      found(
        'node.zmq',
        'advice',
        'ZMQ of the node at tcp://127.0.0.1:9 cannot be reached',
        'Set BITCOIN_ZMQ',
      ),
    ]);
  });

  test('a pruned node, with and without the blocks that the index still needs', async () => {
    const pruned = await startBitcoind({ prune: true });
    try {
      await pruned.rpc.call('generatetodescriptor', [blocks, 'raw(51)']);
      await pruned.rpc.call('pruneblockchain', [900]);
      const node = { BITCOIN_RPC_URL: pruned.rpcUrl, BITCOIN_COOKIE_FILE: pruned.cookieFile };
      const txindex = found('node.txindex', 'advice', 'o transaction index', 'txindex=1');
      expect(await faultsOf(node)).toEqual([
        found('node.unpruned', 'advice', `The next block, ${blocks + 1}, is not below it`, 'prune=0'),
        txindex,
      ]);
      await database.pool.query('UPDATE chain.state SET tip_height = 5');
      expect(await faultsOf(node)).toEqual([
        found('node.unpruned', 'broken', 'the next block is 6', 'prune=0'),
        txindex,
      ]);
    } finally {
      await pruned.remove();
    }
  });

  test.skipIf(knotsForTests() === null)('Bitcoin Knots, which relays no reveal', async () => {
    const knots = await startBitcoind({ executable: knotsForTests()! });
    try {
      const node = { BITCOIN_RPC_URL: knots.rpcUrl, BITCOIN_COOKIE_FILE: knots.cookieFile };
      const reveals = found('policy.reveals', 'advice', 'accepts no reveal', 'use Bitcoin Core');
      expect(await faultsOf(node)).toContainEqual(reveals);
      expect(await faultsOf({ ...node, ROLE: 'orders' })).toContainEqual(
        found('policy.reveals', 'broken', 'accepts no reveal', 'use Bitcoin Core'),
      );
    } finally {
      await knots.remove();
    }
  });

  test('a database that takes no writes, as hosts set it when its disk is full', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await faultsOf()).toEqual([
      found('database.writes', 'broken', 'default_transaction_read_only is on', 'Make room'),
    ]);
  });

  test('an older and a newer database', async () => {
    await database.pool.query(
      'DELETE FROM service.migrations WHERE id = (SELECT max(id) FROM service.migrations)',
    );
    expect(await faultsOf()).toEqual([
      found('database.migrations', 'advice', 'lacks 1 migrations of this version', 'satscribe migrate'),
    ]);
    await database.pool.query("INSERT INTO service.migrations (name, run_on) VALUES ('9999_newer', now())");
    expect(await faultsOf()).toEqual([
      found('database.connection', 'broken', '9999_newer', 'Update this program'),
    ]);
  });

  test('a database that does not answer, or refuses', async () => {
    const away = 'postgres://someone:hidden-password@127.0.0.1:9/satscribe';
    const faults = await faultsOf({ DATABASE_URL: away, DATABASE_READER_URL: away });
    expect(faults).toEqual([found('database.connection', 'broken', 'does not answer', 'tart the server')]);
    expect(JSON.stringify(faults)).not.toContain('hidden-password');
    const url = new URL(database.url);
    url.password = 'wrong-password';
    const refused = await faultsOf({ DATABASE_URL: url.href });
    expect(refused).toEqual([found('database.connection', 'broken', 'refused', 'Correct DATABASE_URL')]);
    expect(JSON.stringify(refused)).not.toContain('wrong-password');
  });

  test('a role for answers without its rights, or with more', async () => {
    await database.pool.query(`REVOKE SELECT ON service.orders FROM ${new URL(database.readerUrl).username}`);
    expect(await faultsOf()).toEqual([
      found('database.reader', 'broken', 'SELECT on orders', 'Run the statements'),
    ]);
    expect(await faultsOf({ DATABASE_READER_URL: database.url })).toEqual([
      found('database.reader', 'advice', 'owns tables of schema', 'only the rights'),
    ]);
  });

  test('a clock that is two hours late, and one that is two minutes early', async () => {
    const late = (): number => Date.now() - 2 * 60 * 60 * 1000 - 1000;
    expect(await faultsOf({}, { now: late })).toEqual([
      found('clock.node', 'broken', '2 h fast, compared with the clock of this machine', 'chrony'),
      found('clock.postgres', 'broken', '2 h fast, compared with the clock of this machine', 'chrony'),
    ]);
    const early = (): number => Date.now() + 2 * 60 * 1000;
    expect(await faultsOf({}, { now: early })).toEqual([
      found('clock.node', 'advice', '2 min slow', 'chrony'),
      found('clock.postgres', 'advice', '2 min slow', 'chrony'),
    ]);
  });

  test('an Elasticsearch without an index, and with one that is behind', async () => {
    const server = {
      ELASTICSEARCH_URL: await sharedElasticsearch(),
      ELASTICSEARCH_INDEX_PREFIX: freshPrefix(),
    };
    expect(await faultsOf(server)).toEqual([
      found('search.index', 'advice', 'has no index of this chain yet', 'satscribe search reindex'),
    ]);
    expect((await runCli(['search', 'reindex'], settingsOf(server))).exitCode).toBe(0);
    expect(await faultsOf(server)).toEqual([]);
    const elastic = createElasticClient({ url: server.ELASTICSEARCH_URL });
    const alias = readAlias(server.ELASTICSEARCH_INDEX_PREFIX, 'regtest');
    const { marker, index } = (await readMarker(elastic, alias))!;
    const tip = { ...marker.tip!, height: asHeight(blocks - 9) };
    await writeMarker(elastic, index, { ...marker, tip });
    expect(await faultsOf(server)).toEqual([
      found('search.index', 'advice', '9 blocks behind. Meanwhile Postgres answers', 'catches up'),
    ]);
    expect(await faultsOf({ ...server, SEARCH_FALLBACK: 'error' })).toEqual([
      found('search.index', 'broken', '9 blocks behind. Meanwhile searches are refused', 'catches up'),
    ]);
    await elastic.request({ method: 'DELETE', path: `/${index}` });
    await elastic.close();
  });

  test('a seed that others can read, a missing seed, and a missing mark', async () => {
    const seed = join(folder.path, 'wallet.seed');
    const wallet = { WALLET_SEED_FILE: seed, ORDER_BUMP_MAX_SATS: '0' };
    const made = await runCli(['wallet', 'init', '--network', 'regtest', '--seed-file', seed], settingsOf());
    expect([made.exitCode, made.stderr]).toEqual([0, '']);
    expect(await faultsOf(wallet)).toEqual([]);
    expect(await faultsOf({ WALLET_SEED_FILE: seed })).toEqual([
      found('wallet.coins', 'advice', 'has 0 sats of its own to raise fees', 'satscribe wallet fund'),
    ]);
    expect(await faultsOf()).toEqual([
      found('wallet.seed', 'broken', 'WALLET_SEED_FILE is not set', 'Set WALLET_SEED_FILE'),
    ]);
    await chmod(seed, 0o644);
    expect(await faultsOf(wallet)).toEqual([found('wallet.seed', 'broken', '644', 'chmod 600')]);
    await chmod(seed, 0o600);
    await database.pool.query('UPDATE service.wallet SET is_marked = true');
    await rm(`${seed}.mark`, { force: true });
    expect(await faultsOf(wallet)).toEqual([
      found('wallet.mark', 'broken', `There is no mark file ${seed}.mark`, 'satscribe wallet skip'),
    ]);
    await rm(seed);
    expect(await faultsOf(wallet)).toContainEqual(
      found('wallet.seed', 'broken', `There is no seed file ${seed}`, 'WALLET_SEED_FILE'),
    );
  });

  test('a secret of the service that is missing, or not the one that receivers know', async () => {
    await database.pool.query(
      "INSERT INTO service.webhook_keys (public_key, is_current, since) VALUES (decode(repeat('ab', 32), 'hex'), true, now())",
    );
    expect(await faultsOf()).toEqual([
      found('webhooks.secret', 'broken', 'secret of the service', 'SERVICE_SECRET_FILE'),
    ]);
    await writeFile(join(folder.path, 'service-secret'), Buffer.alloc(32, 7), { mode: 0o600 });
    expect(await faultsOf()).toEqual([
      found('webhooks.secret', 'broken', 'another secret', 'SERVICE_SECRET_OLD_FILE'),
    ]);
    await chmod(join(folder.path, 'service-secret'), 0o640);
    expect(await faultsOf()).toEqual([found('webhooks.secret', 'broken', '640', '0600')]);
  });

  test('messages that wait for hours, and their receiver', async () => {
    await database.pool.query(
      `WITH subject AS (
         INSERT INTO service.webhook_subjects (subject, last_sequence, head_sequence, host, due_at)
         VALUES ('order 1', 1, 1, 'example.com', now()))
       INSERT INTO service.webhooks (subject, sequence, id, url, host, body, created_at, state, tries)
       VALUES ('order 1', 1, 'msg_1', 'https://example.com/hidden-token', 'example.com', '{}', now() - interval '3 hours', 'waiting', 4)`,
    );
    const faults = await faultsOf();
    expect(faults).toEqual([
      found(
        'webhooks.receiver',
        'advice',
        'The receiver example.com does not accept 1 messages',
        'webhooks replay',
      ),
      found('webhooks.queue', 'advice', 'the oldest for 3 h', 'webhooks list'),
    ]);
    expect(JSON.stringify(faults)).not.toContain('hidden-token');
  });

  test('folders that are files, and a folder of blocks without its index', async () => {
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    await mkdir(join(folder.path, 'blocks'));
    expect(await faultsOf({ FILES_DIR: file, BLOCKS_DIR: join(folder.path, 'blocks') })).toEqual([
      found('files.orders', 'broken', 'is a file, not a folder', 'name another path'),
      found('files.blocks', 'broken', 'there is no file', 'Block folders'),
    ]);
  });

  test('a service that does not answer, and another program at its port', async () => {
    const port = String(await freePort());
    expect(await faultsOf({ PORT: port })).toEqual([
      found('service.answer', 'advice', `No service answers at http://127.0.0.1:${port}`, 'satscribe serve'),
    ]);
    expect(await faultsOf({ PORT: String(bitcoind.rpcPort) })).toEqual([
      found('service.answer', 'broken', 'is not this service', 'PORT'),
    ]);
  });

  test('a check that hangs ends, and the others are not held up', async () => {
    const { createServer } = await import('node:net');
    // it takes connections, and answers nothing
    const deaf = createServer(() => undefined);
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', () => resolve()));
    const { port } = deaf.address() as { port: number };
    try {
      const faults = await faultsOf({ BITCOIN_RPC_URL: `http://127.0.0.1:${port}` }, { subjectMs: 3000 });
      expect(faults).toEqual([found('node.check', 'broken', 'did not end within 3 s', 'why it hangs')]);
    } finally {
      deaf.close();
    }
  });
});
