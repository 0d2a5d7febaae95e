import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { commands } from '#src/cli.ts';
import { type DataDir, makeDataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { runCli } from '#test/support/run-cli.ts';

let dataDir: string;
let folder: DataDir;

beforeEach(async () => {
  folder = await makeDataDir();
  dataDir = folder.path;
});
afterEach(() => folder.remove());

describe('help', () => {
  test('shows every command, with --help, -h and help', async () => {
    const [long, short, word] = await Promise.all([runCli(['--help']), runCli(['-h']), runCli(['help'])]);
    expect(long.exitCode).toBe(0);
    expect(long.stderr).toBe('');
    for (const command of commands) expect(long.stdout).toContain(`  ${command.name}`);
    expect(short.stdout).toBe(long.stdout);
    expect(word.stdout).toBe(long.stdout);
  });

  test('of a command works beside other flags and starts nothing', async () => {
    const { exitCode, stdout } = await runCli(['demo', '--help', '--data', join(dataDir, 'new')]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--sample NAME');
    expect(await readdir(dataDir)).toEqual([]);
  });
});

describe('wrong usage', () => {
  test.each([
    {
      words: ['serve', '--prot', '1'],
      says: "unknown option '--prot': did you mean --port? satscribe serve --help",
    },
    { words: ['index', '--blocks', 'x', '--until', '-1'], says: '--until' },
    { words: ['rollback'], says: 'missing height' },
  ])('$words ends with 2 and the next step', async ({ words, says }) => {
    const { exitCode, stdout, stderr } = await runCli(words, { DATA_DIR: dataDir });
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
  });

  test('names an environment variable that is wrong', async () => {
    const { exitCode, stderr } = await runCli(['migrate'], { DATA_DIR: dataDir, LOG_LEVEL: 'loud' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('environment variable LOG_LEVEL');
  });
});

describe('failures', () => {
  test('end with 1, the code, the meaning and the next step', async () => {
    const { exitCode, stdout, stderr } = await runCli(['migrate'], {
      DATABASE_URL: 'postgres://user:hidden-word@127.0.0.1:1/database',
    });
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('postgres_unreachable');
    expect(stderr).toContain('What to do: ');
    expect(stderr).not.toContain('hidden-word');
  });

  test('of a Node that is too old are one sentence', () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "22.23.3" })';
    const words = ['--import', `data:text/javascript,${older}`, 'src/main.ts', '--version'];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(
      /^satscribe: Node 24 is needed, but this is Node 22\.23\.3\. npm ci installs it .*\n$/u,
    );
  });

  test.runIf(existsSync('/dev/full'))('report that the output could not be written', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, ['src/main.ts', '--help'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(stderr).toContain('output_failed');
    expect(status).toBe(1);
  });

  test('report that packages are missing', async () => {
    const folder = join(dataDir, 'program');
    for (const part of ['src', 'indexer', 'search', 'package.json'])
      await cp(part, join(folder, part), { recursive: true });
    const words = [join(folder, 'src/main.ts'), '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^satscribe: A part of the program cannot be loaded: Cannot find package /u);
    expect(stderr).toContain('npm ci');
  });

  test('report that .env cannot be read, whose settings would be left out', async () => {
    const folder = join(dataDir, 'settings');
    await mkdir(join(folder, '.env'), { recursive: true });
    const words = [resolve('src/main.ts'), 'accounts', 'list'];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^satscribe: The file \.env of the working folder cannot be read \(EISDIR\)/u);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an address with a zone', { HOST: '::1%lo' }, /address_unusable/u],
    [
      'a user of Elasticsearch that cannot be read',
      { ELASTICSEARCH_URL: 'http://50%:p@127.0.0.1:1' },
      /^satscribe: ELASTICSEARCH_URL has a percent sign in its user or password/u,
    ],
    [
      'an authority of Elasticsearch that is not a PEM file',
      { ELASTICSEARCH_URL: 'https://127.0.0.1:1', ELASTICSEARCH_CA_FILE: 'package.json' },
      /^satscribe: ELASTICSEARCH_CA_FILE package\.json cannot be used \(it is not a PEM file\)/u,
    ],
    [
      'no URL of the database',
      { DATABASE_URL: 'postgres://user:pass#word@db/x' },
      /^satscribe: DATABASE_URL: it is not a URL/u,
    ],
  ])('report %s', { tags: ['proof'] }, async (_what, env, words) => {
    const database = await createTestDatabase();
    const start = ['serve', '--blocks', 'samples/regtest', '--port', '0'];
    const { stderr } = await runCli(start, { DATABASE_URL: database.url, LOG_LEVEL: 'error', ...env });
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain('unexpected error');
    await database.drop();
  });

  test('report that there is nothing to export, and create nothing', async () => {
    const empty = join(dataDir, 'new');
    const { exitCode, stderr, stdout } = await runCli(['export', 'inscriptions', '--data', empty]);
    expect(stderr).toContain('database_missing');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(existsSync(empty)).toBe(false);
  });

  test('report what a folder of blocks lacks', async () => {
    const used = await makeUsedDataDir();
    const missing = join(dataDir, 'nope');
    const nowhere = await runCli(['serve', '--blocks', missing, '--data', used.path, '--port', '0']);
    expect(nowhere.stderr).toContain(`The folder ${missing} does not exist`);
    expect(nowhere.stderr).not.toContain('ENOENT');
    const { exitCode, stderr } = await runCli(['index', '--blocks', dataDir, '--data', used.path]);
    expect(stderr).toContain(`${dataDir} has no chain.json`);
    expect(stderr).toContain('folder_invalid');
    expect(stderr).not.toContain('ENOENT');
    expect(exitCode).toBe(1);
    await used.remove();
  });

  test('report that the port is in use, before anything is started', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { exitCode, stderr } = await runCli(['serve', '--port', String(port), '--data', `${dataDir}/new`]);
    server.close();
    expect(stderr).toContain('port_in_use');
    expect(stderr).toContain(String(port));
    expect(exitCode).toBe(1);
  });
});

describe('a data folder with some blocks of a folder', () => {
  let around: DataDir;
  let data: string;

  beforeAll(async () => {
    around = await makeDataDir();
    data = join(around.path, 'demo');
    const words = ['--until', '3', '--data', data];
    expect((await runCli(['index', '--blocks', 'samples/regtest', ...words])).exitCode).toBe(0);
  });
  afterAll(() => around.remove());

  test('is verified against that folder, whose name is shown, and no node is looked for', async () => {
    const unnamed = await runCli(['verify', '--data', data]);
    expect(unnamed.exitCode).toBe(2);
    expect(unnamed.stderr).toContain('--blocks');
    expect(unnamed.stderr).toContain('a folder of blocks with the name regtest');
    expect(unnamed.stderr).not.toContain('node_unreachable');
    const none = await runCli(['verify', '--data', join(dataDir, 'none')]);
    expect(none.stderr).toContain('database_missing');
    expect(existsSync(join(dataDir, 'none'))).toBe(false);
  });

  test('is not verified while the named node is away: a command does not wait for it', async () => {
    const { exitCode, stderr } = await runCli(['verify', '--node', 'http://127.0.0.1:1', '--data', data]);
    expect(stderr).toContain('node_unreachable');
    expect(exitCode).toBe(1);
  });

  test('is named if the folder around it was given, which has no blocks, and nothing is created', async () => {
    const { exitCode, stderr, stdout } = await runCli(['export', 'inscriptions', '--data', around.path]);
    expect(stderr).toContain(
      `There is no database in the data folder ${around.path}. There is a database in ${data}`,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(await readdir(around.path)).toEqual(['demo']);
  });
});

describe('migrate', () => {
  test('says what it ran, and the second time that there is nothing to do', async () => {
    const first = await runCli(['migrate', '--data', dataDir]);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toMatch(/^migrated chain\/0001_foundation\n/u);
    expect(await runCli(['migrate', '--data', dataDir])).toMatchObject({
      exitCode: 0,
      stdout: 'nothing to migrate\n',
    });
  });

  test('uses the server of DATABASE_URL', async () => {
    const server = inject('testServer').url;
    const client = await connectClient(server);
    try {
      await client.query(`CREATE DATABASE cli_${process.pid}`);
      const url = new URL(server);
      url.pathname = `/cli_${process.pid}`;
      const { exitCode, stdout } = await runCli(['migrate'], { DATABASE_URL: url.href });
      expect(exitCode).toBe(0);
      expect(stdout).toContain('migrated service/0001_foundation');
    } finally {
      await client.query(`DROP DATABASE cli_${process.pid}`);
      await client.end();
    }
  });
});
