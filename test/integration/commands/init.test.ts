import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '#kernel/process/free-port.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { machineEnvironment } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const program = join(import.meta.dirname, '../../../src/main.ts');
/** A pseudo terminal for a process (util-linux). */
const hasTerminal = spawnSync('script', ['--version']).status === 0;
const secret = 'not shown to others';

let folder: DataDir;
let database: TestDatabase;
const running: ChildProcess[] = [];

beforeEach(async () => {
  folder = await makeDataDir();
  database = await createEmptyDatabase();
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await database.drop();
  await folder.remove();
});

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process in the folder, whose `.env` it reads or writes. */
function start(command: string, words: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(command, words, { cwd: folder.path, env: { ...machineEnvironment(), ...env } });
  running.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Result>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended, stdout: () => stdout };
}

const init = (words: readonly string[], env: Record<string, string> = {}): Promise<Result> =>
  start(process.execPath, [program, 'init', ...words], env).ended;

/** Runs `init` on a terminal, and answers each question when its prompt is there. */
async function answer(
  answers: readonly (readonly [prompt: RegExp, answer: string])[],
  env: Record<string, string> = {},
): Promise<Result> {
  const command = `${process.execPath} ${program} init`;
  const { child, ended, stdout } = start('script', ['-qec', command, '/dev/null'], env);
  let read = 0;
  for (const [prompt, text] of answers) {
    const end = await waitUntil(() => {
      const match = prompt.exec(stdout().slice(read));
      return match !== null && { at: read + match.index + match[0].length };
    }).catch((error: unknown) => {
      throw new Error(`no ${String(prompt)}: ${stdout().slice(read)}`, { cause: error });
    });
    read = end.at;
    child.stdin.write(text);
  }
  return ended;
}

const files = async (): Promise<string[]> => (await readdir(folder.path)).sort();
const written = (name = '.env'): Promise<string> => readFile(join(folder.path, name), 'utf8');

describe('without a terminal', () => {
  test('each missing answer is named, and nothing is written', async () => {
    const { code, stderr } = await init(['--network', 'regtest']);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no terminal to ask on, and these answers are missing: --node URL');
    for (const name of ['--cookie-file', '--data DIR', '--seed-file FILE or --no-orders'])
      expect(stderr).toContain(name);
    expect(await files()).toEqual([]);
  });

  test('a node that does not answer is an error with what to do, and nothing is written', async () => {
    const node = `http://127.0.0.1:${await freePort()}`;
    const words = [
      '--yes',
      '--network',
      'regtest',
      '--node',
      node,
      '--cookie-file',
      'none',
      '--data',
      'data',
    ];
    const { code, stderr } = await init([...words, '--no-orders']);
    expect(code).toBe(1);
    expect(stderr).toContain('node_unreachable');
    expect(await files()).toEqual([]);
    // a service may be set up before its node
    expect((await init([...words, '--no-orders', '--without-checks'])).code).toBe(0);
    expect(await written()).toContain(`BITCOIN_RPC_URL=${node}`);
  });

  test('an earlier file is replaced only with --force, and a copy is kept', async () => {
    const earlier = 'PORT=7701\nORDER_BASE_FEE=5000\n';
    await writeFile(join(folder.path, '.env'), earlier);
    const words = ['--yes', '--without-checks', '--network', 'regtest', '--node', 'http://127.0.0.1:1'];
    const given = [...words, '--cookie-file', 'c', '--data', 'data', '--no-orders', '--port', '7702'];
    const refused = await init(given);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('PORT: 7701 -> 7702');
    expect(await written()).toBe(earlier);
    expect((await init([...given, '--force'])).stdout).toContain('The earlier file is .env.old-1');
    expect(await written('.env.old-1')).toBe(earlier);
    expect(await written()).toMatch(/^PORT=7702$[^]*^ORDER_BASE_FEE=5000$/mu);
    // the same answers again change nothing
    expect((await init(given)).stdout).toContain('.env has these settings already');
    expect(await files()).toEqual(['.env', '.env.old-1']);
  });

  test.each([
    { words: ['--no-orders', '--seed-file', 's'], says: 'exclude each other' },
    { words: ['--no-orders', '--port', '70000'], says: 'flag --port' },
    { words: ['--no-orders', '--network', 'bitcoin'], says: 'flag --network' },
  ])('$words are refused', async ({ words, says }) => {
    const others = [
      '--node',
      'http://127.0.0.1:1',
      '--cookie-file',
      'c',
      '--data',
      'data',
      '--without-checks',
    ];
    const network = words.includes('--network') ? [] : ['--network', 'regtest'];
    const { code, stderr } = await init([...others, ...network, ...words]);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
    expect(await files()).toEqual([]);
  });
});

describe.skipIf(bitcoindForTests() === null)('with a real node', () => {
  let bitcoind: Bitcoind;
  beforeAll(async () => {
    bitcoind = await startBitcoind();
    // a node without a new block is in its first sync, and `serve` waits for it
    await bitcoind.rpc.call('generatetodescriptor', [1, 'raw(51)']);
  });
  afterAll(() => bitcoind.remove());

  async function servesWithFile(): Promise<void> {
    const service = start(process.execPath, [program, 'serve', '--port', '0']);
    const address = await waitUntil(() => /^ready (http:\S+)$/mu.exec(service.stdout())?.[1] ?? false);
    const status = (await (
      await fetch(`${address}/status`, { headers: { accept: 'application/json' } })
    ).json()) as { chain: string };
    expect(status.chain).toBe('regtest');
    service.child.kill('SIGTERM');
    await service.ended;
  }

  test('flags write the file and make the wallet; `serve` starts with it', async () => {
    const words = ['--json', '--network', 'regtest', '--node', bitcoind.rpcUrl, '--make-wallet'];
    const given = [...words, '--cookie-file', bitcoind.cookieFile, '--seed-file', 'wallet.seed'];
    const { code, stdout, stderr } = await init(given, database.settings);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toMatchObject({
      file: '.env',
      isWritten: true,
      copy: null,
      node: { network: 'regtest', height: 1, pruneHeight: null, hasRest: true },
      wallet: { network: 'regtest', seedFile: 'wallet.seed' },
    });
    // the words are in the file alone
    const words24 = (await written('wallet.seed')).trim();
    expect(words24.split(' ')).toHaveLength(24);
    expect(stdout).not.toContain(words24);
    for (const name of ['.env', 'wallet.seed'])
      expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o600);
    await servesWithFile();
  });

  test('a node of another network is refused, and nothing is written', async () => {
    const words = [
      '--yes',
      '--network',
      'signet',
      '--node',
      bitcoind.rpcUrl,
      '--data',
      'data',
      '--no-orders',
    ];
    const { code, stderr } = await init([...words, '--cookie-file', bitcoind.cookieFile]);
    expect(stderr).toContain('network_mismatch');
    expect(code).toBe(1);
    expect(await files()).toEqual([]);
  });

  describe.skipIf(!hasTerminal)('on a terminal', () => {
    test('wrong answers are refused with the reason and asked again, and the wallet is made', async () => {
      const { code, stdout } = await answer([
        [/Network: .*: /u, 'bitcoin\r'],
        [/it must be one of mainnet[^]*Network: .*: /u, 'regtest\r'],
        [/Address of the node .*: /u, `127.0.0.1\r`],
        [/is not valid[^]*Address of the node .*: /u, `${bitcoind.rpcUrl}\r`],
        [/Cookie file .*: /u, '/nowhere/.cookie\r'],
        [/there is no cookie file[^]*Keep these answers .*: /u, '\r'],
        [/Address of the node .*: /u, '\r'],
        [/Cookie file .*: /u, `${bitcoind.cookieFile}\r`],
        [/Found: a node of regtest, version \d+\.\d+\.\d+, at height 1; it has all blocks; REST, ZMQ/u, ''],
        [/Database: .*: /u, 'postgres://a:b@127.0.0.1:1/c\r'],
        [/Keep this database .*: /u, 'no\r'],
        [/Database: .*: /u, `${database.url}\r`],
        [/The database answers[^]*only reads .*: /u, `${database.readerUrl}\r`],
        [/Folder of other data .*: /u, '\r'],
        [/Port \[7700\]: /u, '70000\r'],
        [/from 0 to 65535[^]*Port .*: /u, '\r'],
        [/Address to listen on.*: /u, '\r'],
        [/Public address .*: /u, 'https://ord.example.com\r'],
        [/Proxies .*: /u, '\r'],
        [/Who may search.*: /u, 'open\r'],
        [/Index addresses.*: /u, 'perhaps\r'],
        [/Type yes or no[^]*Index addresses.*: /u, 'no\r'],
        [/Index sats.*: /u, '\r'],
        [/Take orders.*: /u, 'yes\r'],
        [/File of the seed .*: /u, '\r'],
        [/Folder of customers' files.*: /u, '\r'],
        [/Make the wallet now.*: /u, '\r'],
      ]);
      expect(code).toBe(0);
      const seed = (await written('wallet.seed')).trim().split(' ');
      // shown once, for a person with paper
      for (const [place, word] of seed.entries()) expect(stdout).toContain(`${place + 1} ${word}`);
      expect(await written()).toMatch(/^PUBLIC_URL=https:\/\/ord.example.com$[^]*^TRUST_PROXY=loopback$/mu);
      expect(await written()).toMatch(/^SEARCH_ACCESS=open$/mu);
      expect(stdout).toContain('satscribe doctor');
    });

    test('a password is not shown, and Ctrl-C leaves nothing behind', async () => {
      const { code, stdout } = await answer([
        [/Network: .*: /u, 'regtest\r'],
        [/Address of the node .*: /u, `${bitcoind.rpcUrl}\r`],
        [/Cookie file .*: /u, 'none\r'],
        [/User of the node .*: /u, 'satscribe\r'],
        [/Password of that user .*: /u, `${secret}\r`],
        [/the user, password or cookie is wrong[^]*Keep these answers .*: /u, 'yes\r'],
        [/Database: .*: /u, '\u0003'],
      ]);
      expect(code).toBe(130);
      expect(stdout).not.toContain(secret);
      expect(await files()).toEqual([]);
    });

    test('an earlier file stays if the person says so', async () => {
      await writeFile(join(folder.path, '.env'), `PORT=7701\nBITCOIN_RPC_URL=${bitcoind.rpcUrl}\n`);
      const { code, stdout } = await answer([
        [/Network: .*: /u, 'regtest\r'],
        [/Address of the node .*: /u, `${bitcoind.rpcUrl}\r`],
        [/Cookie file .*: /u, `${bitcoind.cookieFile}\r`],
        [/Database: .*: /u, '\r'],
        [/Folder of the data .*: /u, '\r'],
        [/Port \[7701\]: /u, '7702\r'],
        [/Address to listen on.*: /u, '\r'],
        [/Public address .*: /u, '\r'],
        [/Who may search.*: /u, '\r'],
        [/Domains .*: /u, '\r'],
        [/Index addresses.*: /u, '\r'],
        [/Index sats.*: /u, '\r'],
        [/Take orders.*: /u, '\r'],
        [/PORT: 7701 -> 7702[^]*Replace .env\?.*: /u, '\r'],
      ]);
      expect(stdout).toContain('not_confirmed');
      expect(code).toBe(1);
      expect(await written()).toBe(`PORT=7701\nBITCOIN_RPC_URL=${bitcoind.rpcUrl}\n`);
      expect(await files()).toEqual(['.env']);
    });
  });
});
