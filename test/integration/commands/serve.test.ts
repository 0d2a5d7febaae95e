import { once } from 'node:events';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDataDir } from '#test/support/data-dir.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';

const sample = 'samples/regtest';
const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;

let dataDir: string;
let folder: { path: string; remove(): Promise<void> };
const processes: CliProcess[] = [];

beforeEach(async () => {
  folder = await makeDataDir();
  dataDir = folder.path;
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await folder.remove();
});

function start(words: readonly string[]): CliProcess {
  const started = startCli([...words, '--data', dataDir]);
  processes.push(started);
  return started;
}

function run(words: readonly string[]): ReturnType<typeof runCli> {
  return runCli([...words, '--data', dataDir]);
}

async function get(address: string, path: string): Promise<unknown> {
  const answer = await fetch(new URL(path, address));
  expect(answer.status).toBe(200);
  return answer.json();
}

describe.each([
  ['serve', ['serve', '--blocks', sample, '--port', '0']],
  ['demo', ['demo', '--sample', 'regtest', '--port', '0']],
])('%s', (_name, words) => {
  it('answers when it says that it is ready, and closes everything when it is asked to end', async () => {
    const { child, seen, ended } = start(words);
    const [, address = ''] = await seen(ready);
    expect(await get(address, '/status')).toMatchObject({ chain: 'regtest', satscribe: { islands: 1 } });
    expect((await fetch(address)).headers.get('content-type')).toContain('text/html');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 0, signal: null });
    await expect(access(join(dataDir, 'postgres/data/postmaster.pid'))).rejects.toThrow('ENOENT');
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres']);
    await expect(fetch(address)).rejects.toThrow(/fetch failed/u);
  });
});

describe('a second start', () => {
  it('finds what is there and indexes nothing again', async () => {
    const first = await run(['index', '--blocks', sample]);
    expect(first.exitCode).toBe(0);
    const before = (await run(['export', 'inscriptions'])).stdout;
    const second = await run(['index', '--blocks', sample]);
    expect(second).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(second.stdout)).toMatchObject({ blocks: 0, undoneAbove: null });
    expect((await run(['export', 'inscriptions'])).stdout).toBe(before);
    const { seen } = start(['serve', '--port', '0']);
    const [, address = ''] = await seen(ready);
    expect(await get(address, '/status')).toMatchObject({ chain: 'regtest' });
  });
});

describe('commands beside a running service', () => {
  it('read from its database, but do not write to it', async () => {
    const service = start(['serve', '--blocks', sample, '--port', '0']);
    const [, address = ''] = await service.seen(ready);
    const status = (await get(address, '/status')) as { inscriptions: number };
    const exported = await run(['export', 'inscriptions']);
    expect(exported).toMatchObject({ exitCode: 0 });
    expect(exported.stdout.trim().split('\n')).toHaveLength(status.inscriptions);
    expect(await run(['migrate'])).toMatchObject({ exitCode: 0, stdout: 'nothing to migrate\n' });
    const index = await run(['index', '--blocks', sample]);
    expect(index.exitCode).toBe(1);
    expect(index.stderr).toContain('data_dir_busy');
    const other = await run(['serve', '--blocks', sample, '--port', '0']);
    expect(other.exitCode).toBe(1);
    expect(other.stderr).toContain(String(service.child.pid));
    expect(await get(address, '/status')).toMatchObject({ inscriptions: status.inscriptions });
  });
});

describe('index', () => {
  it('stops at --until and goes on from there', async () => {
    const part = await run(['index', '--blocks', sample, '--until', '100']);
    expect(JSON.parse(part.stdout)).toMatchObject({ blocks: 101, height: 100 });
    const rest = await run(['index', '--blocks', sample]);
    expect((JSON.parse(rest.stdout) as { blocks: number }).blocks).toBeGreaterThan(50);
  });

  it('refuses a folder of another network, and keeps what is there', async () => {
    await run(['index', '--blocks', sample, '--until', '20']);
    const other = await run(['index', '--blocks', 'samples/mainnet']);
    expect(other.exitCode).toBe(1);
    expect(other.stderr).toContain('network_mismatch');
    const again = await run(['index', '--blocks', sample, '--until', '20']);
    expect(JSON.parse(again.stdout)).toMatchObject({ blocks: 0, height: 20 });
  });
});

describe('export', () => {
  it('ends quietly when nobody reads any more', async () => {
    await run(['index', '--blocks', sample]);
    const { child, ended } = start(['export', 'inscriptions']);
    await once(child.stdout!, 'readable');
    child.stdout!.destroy();
    expect(await ended).toMatchObject({ signal: null, stderr: '' });
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres']);
  });
});
