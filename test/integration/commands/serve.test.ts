import { once } from 'node:events';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DataDir, makeDataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';

const sample = 'samples/regtest';
const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;

let dataDir: string;
let folder: DataDir;
const processes: CliProcess[] = [];

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

describe('serve with an embedded Postgres', () => {
  beforeEach(async () => {
    folder = await makeUsedDataDir();
    dataDir = folder.path;
  });

  test('says when it is ready, allows other commands but no second service, and closes everything at its end', async () => {
    const service = start(['serve', '--blocks', sample, '--port', '0']);
    const [, address = ''] = await service.seen(ready);
    const status = (await get(address, '/status')) as { inscriptions: number };
    expect(status).toMatchObject({ chain: 'regtest', satscribe: { islands: 1 } });
    expect((await fetch(address)).headers.get('content-type')).toContain('text/html');

    const exported = await run(['export', 'inscriptions']);
    expect(exported).toMatchObject({ exitCode: 0 });
    expect(exported.stdout.trim().split('\n')).toHaveLength(status.inscriptions);
    expect(await run(['migrate'])).toMatchObject({ exitCode: 0, stdout: 'nothing to migrate\n' });
    const indexed = await run(['index', '--blocks', sample]);
    expect(indexed.exitCode).toBe(0);
    expect(JSON.parse(indexed.stdout)).toMatchObject({ blocks: 0, undoneAbove: null });
    const second = await run(['serve', '--port', '0', '--blocks', sample]);
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain('data_dir_busy');
    expect(second.stderr).toContain(String(service.child.pid));
    expect(await get(address, '/status')).toMatchObject({ inscriptions: status.inscriptions });

    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ exitCode: 0, signal: null });
    await expect(access(join(dataDir, 'postgres/data/postmaster.pid'))).rejects.toThrow('ENOENT');
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'service-secret']);
    await expect(fetch(address)).rejects.toThrow(/fetch failed/u);
  });

  test('takes over the server of a killed service, and indexes nothing again', async () => {
    const killed = start(['serve', '--blocks', sample, '--port', '0']);
    await killed.seen(ready);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const { stdout, exitCode } = await run(['index', '--blocks', sample]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ blocks: 0, undoneAbove: null });
    // without a folder, the service serves the existing index
    const { seen } = start(['serve', '--port', '0']);
    const [, address = ''] = await seen(ready);
    expect(await get(address, '/status')).toMatchObject({ chain: 'regtest' });
  });
});

describe('demo', () => {
  beforeEach(async () => {
    folder = await makeDataDir();
    dataDir = folder.path;
  });

  test('is ready with the sample, writes nothing else to stdout, and ends cleanly on Ctrl-C', async () => {
    const { child, seen, ended } = start(['demo', '--sample', 'regtest', '--port', '0']);
    const [line, address = ''] = await seen(ready);
    expect(await get(address, '/status')).toMatchObject({ chain: 'regtest' });
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 0, signal: null, stdout: line });
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'service-secret']);
  });

  test('ends at once after a second signal, and the next start recovers', async () => {
    const first = start(['demo', '--sample', 'regtest', '--port', '0', '--log-level', 'info']);
    await once(first.child.stderr!, 'data');
    first.child.kill('SIGINT');
    // this is later than npm would pass on the same signal; the process may have ended by itself before
    setTimeout(() => first.child.kill('SIGINT'), 600);
    expect(await first.ended).toMatchObject({ exitCode: 130 });
    const second = start(['demo', '--sample', 'regtest', '--port', '0']);
    const [, address = ''] = await second.seen(ready);
    expect(await get(address, '/status')).toMatchObject({ chain: 'regtest' });
  });
});
