import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyMemoryMs } from '#accounts/key-directory.ts';
import { leaseCap, leaseMs } from '#accounts/rate-limiter.ts';
import { usageFlushMs } from '#accounts/usage-counter.ts';
import { insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { type CliProcess, type CliResult, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let database: TestDatabase;
const processes: CliProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  await insertChain(database.pool, [{ height: 0, rows: [{ name: 'a', body: 'text' }] }], 'regtest');
});
afterEach(async () => {
  for (const service of processes.splice(0)) await end(service);
  await database.drop();
});

const cli = (...words: string[]): Promise<CliResult> => runCli(words, { DATABASE_URL: database.url });

async function end({ child, ended }: CliProcess): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

/** Starts processes that answer requests from the database. Returns their URLs. */
async function startServices(count: number, env: Record<string, string> = {}): Promise<string[]> {
  const started = Array.from({ length: count }, () =>
    startCli(['serve', '--role', 'api', '--port', '0'], {
      ...database.settings,
      SEARCH_ACCESS: 'restricted',
      ...env,
    }),
  );
  processes.push(...started);
  return Promise.all(started.map(async ({ seen }) => (await seen(/^ready (\S+)\n$/u))[1] ?? ''));
}

const search = (at: string, key: string): Promise<Response> =>
  fetch(new URL('/search?text=text', at), { headers: { 'x-api-key': key } });

interface Tally {
  allowed: number;
  refused: number;
}

/**
 * Clients that send requests one after another, as fast as they can, for some time. They continue until there are
 * enough requests, because a loaded machine answers fewer in the same time.
 */
async function hammer(
  addresses: readonly string[],
  key: string,
  milliseconds: number,
  isEnough: (tally: Tally) => boolean = () => true,
): Promise<Tally> {
  const tally: Tally = { allowed: 0, refused: 0 };
  const until = performance.now() + milliseconds;
  const client = async (at: string): Promise<void> => {
    while (performance.now() < until || !isEnough(tally)) {
      const answer = await search(at, key);
      await answer.arrayBuffer();
      if (answer.status === 200) tally.allowed++;
      else if (answer.status === 429) {
        tally.refused++;
        // even with this pause, three clients of each process send many times as many requests as allowed
        await sleep(5);
      } else throw new Error(`status ${answer.status}`);
    }
  };
  await Promise.all(addresses.flatMap((at) => [client(at), client(at), client(at)]));
  return tally;
}

async function usageOf(): Promise<{ requests: number; refused: number }> {
  const { rows } = await database.pool.query<{ requests: number; refused: number }>(
    'SELECT sum(requests)::int AS requests, sum(refused)::int AS refused FROM service.key_usage',
  );
  return rows[0] ?? { requests: 0, refused: 0 };
}

describe('two processes of one database', () => {
  test('keep the rate of a key together, within the stated error, and ask the database seldom', {
    tags: ['proof'],
  }, async () => {
    const perMinute = 120;
    const { key } = await giveKey(database.pool, { rate: String(perMinute) });
    const addresses = await startServices(2);
    const began = performance.now();
    const isRefusedMore = (tally: Tally): boolean => tally.refused > tally.allowed;
    const { allowed, refused } = await hammer(addresses, key, 3000, isRefusedMore);
    const seconds = (performance.now() - began) / 1000;
    const fair = perMinute + (perMinute / 60) * seconds;
    expect(allowed).toBeLessThanOrEqual(fair + (leaseCap({ burst: perMinute, perSeconds: 60 }) - 1) * 2);
    // the processes also allow enough, because tokens of leases return
    expect(allowed).toBeGreaterThan(fair - leaseCap({ burst: perMinute, perSeconds: 60 }) * 2 - 2);
    expect(refused).toBeGreaterThan(allowed);

    for (const service of processes.splice(0)) await end(service);
    expect(await usageOf()).toEqual({ requests: allowed, refused });
    const { rows } = await database.pool.query<{ statements: number }>(
      "SELECT n_tup_ins + n_tup_upd AS statements FROM pg_stat_user_tables WHERE relname = 'rate_limits'",
    );
    expect(rows[0]?.statements).toBeGreaterThan(0);
    // one statement for each lease, and one for each token that flowed in and that both processes requested
    expect(rows[0]?.statements).toBeLessThan(allowed);
  });

  test('continue when one is killed: its lease returns after a time, and its last count is lost', {
    tags: ['proof'],
  }, async () => {
    const { key } = await giveKey(database.pool);
    const [first = '', second = ''] = await startServices(2);
    const before = await hammer([first, second], key, 1000);
    // the usage is written with the next flush
    const limitMs = usageFlushMs + 10_000;
    await waitUntil(
      async () => expect(await usageOf()).toEqual({ requests: before.allowed, refused: before.refused }),
      { limitMs },
    );
    for (let request = 0; request < 5; request++) await search(first, key);
    processes[0]?.child.kill('SIGKILL');
    await processes[0]?.ended;
    // wait exactly the stated time
    await sleep(leaseMs);
    const after = await hammer([second], key, 1000);
    expect(after.allowed).toBeGreaterThan(0);
    await end(processes[1] as CliProcess);
    const { requests } = await usageOf();
    expect(requests).toBeGreaterThanOrEqual(before.allowed + after.allowed);
    expect(requests).toBeLessThanOrEqual(before.allowed + after.allowed + 5);
  });

  test('refuse a revoked key within the stated time', { tags: ['proof'] }, async () => {
    const { key, account } = await giveKey(database.pool);
    const addresses = await startServices(2);
    for (const at of addresses) expect((await search(at, key)).status).toBe(200);
    const { exitCode, stdout } = await cli(
      'keys',
      'revoke',
      '--account',
      account,
      '--key',
      `${key.slice(0, 18)}…`,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `revoked ${key.slice(0, 18)}\n` });
    const deadline = performance.now() + keyMemoryMs + 500;
    for (const at of addresses) {
      await waitUntil(async () => (await search(at, key)).status === 401, {
        limitMs: deadline - performance.now(),
      });
    }
  });
});

test('a process whose searches all need a key starts, and its pages need one', {
  tags: ['proof'],
}, async () => {
  const { key } = await giveKey(database.pool);
  const [at = ''] = await startServices(1, { SEARCH_ACCESS: 'keys' });
  const page = (headers: Record<string, string>): Promise<Response> =>
    fetch(new URL('/?text=text', at), { headers });
  expect((await page({ 'sec-fetch-site': 'same-origin' })).status).toBe(401);
  expect((await page({ 'x-api-key': key })).status).toBe(200);
});

test('a process starts again even if the rate of its own address is used up', {
  tags: ['proof'],
}, async () => {
  const env = { SEARCH_ACCESS: 'open', SEARCH_ADDRESS_RATE: '1/600' };
  await startServices(1, env);
  const [at = ''] = await startServices(1, env);
  expect((await fetch(new URL('/search?text=text', at))).status).toBe(429);
});

describe('accounts and keys on the command line', () => {
  test('are made, listed and revoked, for people and for programs', async () => {
    expect(await cli('accounts', 'create', 'alice')).toMatchObject({
      exitCode: 0,
      stdout: 'account alice was created\n',
    });
    const again = await cli('accounts', 'create', 'alice');
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('account_exists');

    const made = await cli(
      'keys',
      'create',
      '--account',
      'alice',
      '--scope',
      'tokenpay,orders',
      '--rate',
      '42/10',
    );
    // stdout has nothing except the key
    expect(made.stdout).toMatch(/^satscribe_[0-9a-f]{48}\n$/u);
    expect(made.stderr).toContain('orders, tokenpay; requests: 42 in 10 s');
    const json = JSON.parse((await cli('keys', 'create', '--account', 'alice', '--json')).stdout) as Record<
      string,
      unknown
    >;
    expect(json).toMatchObject({
      account: 'alice',
      scopes: ['search'],
      rate: { burst: 600, perSeconds: 60 },
      lastUsedAt: null,
      revokedAt: null,
    });

    const flags =
      '--account alice --scope admin --base-fee 0 --direct-base-fee 1500 --discount rareSatsFee:12.5% --reserved-max 5';
    const ofTerms = await cli('keys', 'create', ...flags.split(' '));
    const inWords =
      'base fee 0, base fee of direct orders 1500, rareSatsFee less 12.5 %, reserved sats of the inventory 5';
    expect(ofTerms.stderr).toContain(inWords);
    const listed = (await cli('keys', 'list', '--account', 'alice', '--json')).stdout;
    expect(JSON.parse(listed)).toMatchObject([
      {
        prefix: made.stdout.slice(0, 18),
        scopes: ['orders', 'tokenpay'],
        rate: { burst: 42, perSeconds: 10 },
        usage: [],
      },
      {
        prefix: json['prefix'],
        scopes: ['search'],
        baseFee: null,
        directBaseFee: null,
        discounts: [],
        reservedMax: null,
      },
      {
        scopes: ['admin'],
        baseFee: 0,
        directBaseFee: 1500,
        discounts: [{ discount: 12.5, parameter: 'rareSatsFee', type: 'percentage' }],
        reservedMax: 5,
      },
    ]);
    const shown = (await cli('keys', 'list')).stdout;
    expect(shown).toContain(`${made.stdout.slice(0, 18)}…  alice  orders,tokenpay  42 in 10 s`);
    expect(shown).toContain(`\n  ${inWords}\n`);
    await cli('keys', 'revoke', '--account', 'alice', '--scope', 'admin');
    for (const secret of [made.stdout.trim(), String(json['key'])])
      expect(listed + shown).not.toContain(secret);
    const { rows } = await database.pool.query<{ text: string }>(
      'SELECT k::text AS text FROM service.keys k',
    );
    for (const { text } of rows) expect(text).not.toContain(String(json['key']).slice(18));

    expect((await cli('keys', 'revoke', '--account', 'alice', '--scope', 'search')).stdout).toBe(
      `revoked ${String(json['prefix'])}\n`,
    );
    expect((await cli('keys', 'revoke', '--account', 'alice', '--key', made.stdout.trim())).exitCode).toBe(0);
    const twice = await cli('keys', 'revoke', '--account', 'alice', '--key', made.stdout.trim());
    expect(twice.exitCode).toBe(1);
    expect(twice.stderr).toContain('key_not_found');
    expect(JSON.parse((await cli('accounts', 'list', '--json')).stdout)).toMatchObject([
      { name: 'alice', keys: 0 },
    ]);
  });

  test('make no database if there is none: the folder may be a mistake', async () => {
    const folder = await makeDataDir();
    try {
      const { exitCode, stderr } = await runCli(['accounts', 'create', 'alice'], { DATA_DIR: folder.path });
      expect(exitCode).toBe(1);
      expect(stderr).toContain('database_missing');
      expect(await readdir(folder.path)).toEqual([]);
    } finally {
      await folder.remove();
    }
  });

  test('are refused with the next step', async () => {
    const cases: readonly [string[], number, string][] = [
      [['accounts'], 2, 'satscribe accounts create NAME'],
      [['accounts', 'create'], 2, 'missing name'],
      [['accounts', 'create', 'a b'], 2, '1 to 64 letters'],
      [['accounts', 'create', 'a', 'b'], 2, 'missing name'],
      [['accounts', 'remove', 'a'], 2, 'satscribe accounts create NAME'],
      [['keys'], 2, 'satscribe keys create, list or revoke'],
      [['keys', 'toString'], 2, 'satscribe keys create, list or revoke'],
      [['keys', 'create'], 2, '--account NAME'],
      [['keys', 'create', 'alice'], 2, 'unexpected word alice'],
      [['keys', 'create', '--account', 'unknown'], 1, 'account_unknown'],
      [['keys', 'create', '--account', 'a', '--rate', '2/0'], 2, '--rate 2/0'],
      [
        ['keys', 'create', '--account', 'a', '--scope', 'search,all'],
        2,
        'scopes are search, orders, tokenpay, tokenpay-withdraw, admin',
      ],
      [['keys', 'create', '--account', 'a', '--scope', ''], 2, 'scopes are search'],
      [['keys', 'create', '--account', 'a', '--key', 'x'], 2, '--key is not a flag of satscribe keys create'],
      [['keys', 'create', '--account', 'a', '--base-fee', '100000001'], 2, 'from 0 to 100000000'],
      [['keys', 'create', '--account', 'a', '--reserved-max', '0'], 2, 'from 1 to 2000'],
      [['keys', 'create', '--account', 'a', '--discount', 'postage:1'], 2, '--discount postage:1'],
      [['keys', 'list', '--account', 'unknown'], 1, 'account_unknown'],
      [['keys', 'revoke', '--account', 'unknown'], 1, 'account_unknown'],
      [['keys', 'revoke', '--account', 'a', '--key', 'satscribe_x'], 2, '--key is not a key'],
    ];
    const results = await Promise.all(cases.map(([words]) => cli(...words)));
    for (const [index, [words, exitCode, says]] of cases.entries()) {
      const result = results[index] as CliResult;
      expect({ words, exitCode: result.exitCode, stdout: result.stdout }).toEqual({
        words,
        exitCode,
        stdout: '',
      });
      expect(result.stderr).toContain(says);
    }
  });
});
