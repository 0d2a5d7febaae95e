import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const subsidy = 5_000_000_000;
const readyLine = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;
const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

describe.skipIf(bitcoindForTests() === null)('a file of satributes', () => {
  let bitcoind: Bitcoind;
  let database: TestDatabase;
  let folder: { path: string; remove(): Promise<void> };
  const processes: CliProcess[] = [];

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    await bitcoind.rpc.call('generatetoaddress', [101, address]);
    database = await createTestDatabase();
    folder = await makeDataDir();
  });

  afterAll(async () => {
    for (const { child, ended } of processes) {
      child.kill('SIGTERM');
      await ended;
    }
    await database.drop();
    await bitcoind.remove();
    await folder.remove();
  });

  async function write(name: string, entries: unknown): Promise<string> {
    const path = join(folder.path, name);
    await writeFile(path, JSON.stringify(entries));
    return path;
  }

  const flags = (role: string): string[] => [
    'serve',
    '--role',
    role,
    '--node',
    bitcoind.rpcUrl,
    '--cookie-file',
    bitcoind.cookieFile,
    '--port',
    '0',
  ];

  test('is in force in all processes: one that indexes traces its outputs, one that answers sees their sats', async () => {
    const hash = await bitcoind.rpc.call<string>('getblockhash', [1]);
    const { tx } = await bitcoind.rpc.call<{ tx: readonly string[] }>('getblock', [hash]);
    const file = await write('own.json', [
      { id: 'hitman', version: 1, origin: 'a test', outputs: [`${tx[0]}:0@1`] },
      { id: 'legacy', version: 2, origin: 'a test', ranges: [[0, 100]] },
    ]);
    const { DATABASE_READER_URL } = database.settings;
    processes.push(startCli(flags('indexer'), { ...database.settings, SATRIBUTES_FILE: file }));
    const api = startCli(flags('api'), { DATABASE_READER_URL, SATRIBUTES_FILE: file });
    processes.push(api);
    const [, origin = ''] = await api.seen(readyLine);
    const shown = async (id: string): Promise<unknown> => {
      const answer = await fetch(new URL(`/satributes/${id}`, origin), {
        headers: { accept: 'application/json' },
      });
      return answer.json();
    };
    expect(await shown('legacy')).toMatchObject({ version: 2, origin: 'a test', findable: true, sats: 100 });
    await waitUntil(async () => {
      expect(await shown('hitman')).toMatchObject({
        findable: true,
        sats: subsidy,
        ranges: [{ start: subsidy, end: 2 * subsidy }],
      });
    });
  });

  test.each<[string, unknown, string]>([
    [
      'overlaps',
      [
        {
          id: 'hitman',
          version: 1,
          origin: 'x',
          ranges: [
            [0, 5],
            [4, 9],
          ],
        },
      ],
      'entry 1 (hitman) has a range 2 that begins before the end of the range above it',
    ],
    ['is no list', {}, 'it is not JSON with a list of satributes'],
  ])('that %s ends the start, before a database is made', async (name, entries, words) => {
    const file = await write(`${name}.json`, entries);
    const { exitCode, stderr } = await runCli(flags('all'), {
      DATA_DIR: join(folder.path, 'none'),
      SATRIBUTES_FILE: file,
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('SATRIBUTES_FILE');
    expect(stderr).toContain(words);
  });

  test('that is missing ends the start', async () => {
    const { exitCode, stderr } = await runCli(flags('all'), {
      DATA_DIR: join(folder.path, 'none'),
      SATRIBUTES_FILE: join(folder.path, 'absent.json'),
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('absent.json cannot be read (ENOENT)');
  });
});
