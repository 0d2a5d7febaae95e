import { once } from 'node:events';
import { cp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, type CliResult, startCli } from '#test/support/run-cli.ts';

const sample = 'samples/regtest';
const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

function start(words: readonly string[], url = database.url): CliProcess {
  return startCli(words, { DATABASE_URL: url });
}

function run(words: readonly string[]): Promise<CliResult> {
  return start(words).ended;
}

function summary({ stdout }: CliResult): { blocks: number; height: number; hash: string } {
  return JSON.parse(stdout) as ReturnType<typeof summary>;
}

async function exported(): Promise<string> {
  const { exitCode, stdout } = await run(['export', 'inscriptions']);
  expect(exitCode).toBe(0);
  return stdout;
}

describe('index', () => {
  test('stops at --until and resumes from there', async () => {
    const part = await run(['index', '--blocks', sample, '--until', '100']);
    expect(summary(part)).toMatchObject({ blocks: 101, height: 100 });
    expect(summary(await run(['index', '--blocks', sample])).blocks).toBeGreaterThan(50);
    expect(summary(await run(['index', '--blocks', sample])).blocks).toBe(0);
  });

  test('refuses a folder of another network, and keeps the stored data', async () => {
    await run(['index', '--blocks', sample, '--until', '20']);
    const other = await run(['index', '--blocks', 'samples/mainnet']);
    expect(other.exitCode).toBe(1);
    expect(other.stderr).toContain('network_mismatch');
    expect(summary(await run(['index', '--blocks', sample, '--until', '20']))).toMatchObject({
      blocks: 0,
      height: 20,
    });
  });
});

describe('an interruption', () => {
  test('leaves whole blocks, by a signal or a kill, and the next run has the same result', async () => {
    const words = ['index', '--blocks', 'samples/mainnet'];
    const killed = start(words);
    await once(killed.child.stderr!, 'data');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const asked = start(words);
    await once(asked.child.stderr!, 'data');
    asked.child.kill('SIGTERM');
    expect(await asked.ended).toMatchObject({ exitCode: 143, stdout: '' });
    const last = await run(words);
    const result = await exported();

    const clean = await createTestDatabase();
    try {
      expect(summary(await start(words, clean.url).ended).hash).toBe(summary(last).hash);
      expect((await start(['export', 'inscriptions'], clean.url).ended).stdout).toBe(result);
    } finally {
      await clean.drop();
    }
  });
});

describe('a folder that has no blocks at the start', () => {
  test.each([{ command: ['index'] }, { command: ['serve', '--port', '0'] }])(
    'is refused by $command.0 before a database is made',
    async ({ command }) => {
      const folder = await makeDataDir();
      try {
        const dataDir = join(folder.path, 'data');
        const copy = join(folder.path, 'blocks of the test');
        await cp(sample, copy, { recursive: true });
        for (const name of await readdir(join(copy, 'blocks'))) {
          if (name.startsWith('0000000')) await rm(join(copy, 'blocks', name));
        }
        const words = [...command, '--data', dataDir, '--blocks'];
        const none = await startCli([...words, join(folder.path, 'none')]).ended;
        expect(none.exitCode).toBe(1);
        expect(none.stderr).toContain('folder_invalid');
        const first = await startCli([...words, copy]).ended;
        expect(first.exitCode).toBe(1);
        expect(first.stderr).toContain('block_unavailable');
        await expect(stat(dataDir)).rejects.toThrow('ENOENT');
      } finally {
        await folder.remove();
      }
    },
  );
});

describe('a block that is damaged', () => {
  let folder: { path: string; remove(): Promise<void> };
  beforeEach(async () => {
    folder = await makeDataDir();
  });
  afterEach(() => folder.remove());

  /** A copy of the sample whose block at the height has lost its last byte. */
  async function damagedSample(height: number): Promise<string> {
    const copy = join(folder.path, 'blocks of the test');
    await cp(sample, copy, { recursive: true });
    const start = String(height).padStart(7, '0');
    const name = (await readdir(join(copy, 'blocks'))).find((file) => file.startsWith(start));
    const path = join(copy, 'blocks', name!);
    await truncate(path, (await stat(path)).size - 1);
    return copy;
  }

  test('ends index with its code, after the blocks before it', async () => {
    const { exitCode, stdout, stderr } = await run(['index', '--blocks', await damagedSample(50)]);
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('block_truncated');
    expect(stderr).toContain('50');
    const { rows } = await database.pool.query('SELECT tip_height FROM chain.state');
    expect(rows).toEqual([{ tip_height: 49 }]);
  });

  test('does not take the blocks before it out of service', async () => {
    const service = start(['serve', '--blocks', await damagedSample(50), '--port', '0']);
    const [, address = ''] = await service.seen(ready);
    const status = await fetch(new URL('/status', address));
    expect(await status.json()).toMatchObject({ height: 49 });
    const health = await fetch(new URL('/health/ready', address));
    expect(health.status).toBe(503);
    const { reasons } = (await health.json()) as { reasons: { code: string }[] };
    expect(reasons.map(({ code }) => code)).toContain('block_truncated');
    // a crash of the server empties this table, but other processes of the database must still know the problem
    await database.pool.query('DELETE FROM chain.follower_status');
    const problems = async (): Promise<unknown[]> =>
      (await database.pool.query<object>('SELECT problem_code FROM chain.follower_status')).rows;
    await expect.poll(problems, { timeout: 20_000 }).toEqual([{ problem_code: 'block_truncated' }]);
    service.child.kill('SIGTERM');
    const { exitCode, stderr } = await service.ended;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('block_truncated');
  });

  test('leaves nothing to serve if it is the first', async () => {
    const { exitCode, stderr } = await run(['serve', '--blocks', await damagedSample(0), '--port', '0']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('block_truncated');
  });
});

describe('export', () => {
  test('ends quietly if its output is no longer read', async () => {
    await run(['index', '--blocks', 'samples/mainnet', '--until', '781735']);
    const { child, ended } = start(['export', 'inscriptions']);
    await once(child.stdout!, 'readable');
    child.stdout!.destroy();
    expect(await ended).toMatchObject({ signal: null, stderr: '' });
  });

  test('gives the blocks from one height to another', async () => {
    await run(['index', '--blocks', sample]);
    const all = await exported();
    const heights = all
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { height: number }).height);
    const middle = heights[Math.floor(heights.length / 2)]!;
    const { stdout } = await run([
      'export',
      'inscriptions',
      '--from',
      String(middle),
      '--to',
      String(middle),
    ]);
    const lines = all
      .split('\n')
      .filter((line) => line !== '' && (JSON.parse(line) as { height: number }).height === middle);
    expect(stdout).toBe(`${lines.join('\n')}\n`);
    expect(await run(['export', 'inscriptions', '--from', '2', '--to', '1'])).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
  });
});
