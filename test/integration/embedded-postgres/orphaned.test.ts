import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { type DataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import { runCli } from '#test/support/run-cli.ts';

let folder: DataDir;
beforeEach(async () => {
  folder = await makeUsedDataDir();
});
afterEach(() => folder.remove());

test('index takes over the Postgres of a killed process: it migrates it, and ends it', async () => {
  const owner = spawn(process.execPath, ['test/support/postgres/postgres-owner.ts', folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  const ended = once(owner, 'exit');
  owner.kill('SIGKILL');
  await ended;
  await (await connectClient(url)).end();

  const words = ['index', '--blocks', 'samples/regtest', '--until', '5', '--data', folder.path];
  const { exitCode, stdout, stderr } = await runCli(words);
  expect(stderr).toContain('this process now uses that Postgres');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ height: 5, blocks: 6 });
  await expect(connectClient(url)).rejects.toMatchObject({ code: 'postgres_unreachable' });
  await expect(access(join(folder.path, 'satscribe.lock'))).rejects.toMatchObject({ code: 'ENOENT' });
});
