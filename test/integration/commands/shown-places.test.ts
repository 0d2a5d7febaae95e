import { mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownError } from '#kernel/reports/logger.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Token of a hosted node. Anyone who has the token can use the owner's account. */
const token = 'v1-5e6d1c0ffee0token0of0a0hosted0node';
const golden = new GoldenChain('envelopes-1');

let database: TestDatabase;
let folder: { path: string; remove(): Promise<void> };
let server: Server;
/** Answer of the hosted node to every request. */
let answer: (response: ServerResponse, path: string) => void;
const processes: CliProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await makeDataDir();
  server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response, request.url ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  server.closeAllConnections();
  server.close();
  await database.drop();
  await folder.remove();
});

const hosted = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${token}`;

async function serve(words: readonly string[]): Promise<{ at: string; process: CliProcess }> {
  const process = startCli(['serve', '--port', '0', ...words], database.settings);
  processes.push(process);
  return { at: (await process.seen(/^ready (\S+)\n$/u))[1] ?? '', process };
}

/** Reads all texts about the machine that any client can read. */
async function told(at: string): Promise<string> {
  const asked = ['/status', '/health/ready', '/health/live', '/metrics'].map(async (path) => {
    const response = await fetch(new URL(path, at), { headers: { accept: 'application/json' } });
    return response.text();
  });
  return (await Promise.all(asked)).join('\n');
}

test('the path of a node’s address is neither answered nor logged', async () => {
  golden.writeFolder(join(folder.path, 'blocks-of-a-chain'));
  const indexed = await serve(['--blocks', join(folder.path, 'blocks-of-a-chain')]);
  indexed.process.child.kill('SIGTERM');
  await indexed.process.ended;
  answer = (response) => response.writeHead(401).end();
  const { at, process } = await serve(['--node', hosted()]);
  const seen = await waitUntil(async () => {
    const text = await told(at);
    return text.includes('node_refused') ? text : null;
  });
  expect(seen).toContain(new URL(hosted()).host);
  expect(seen + process.stderr()).not.toContain(token);
});

test.each<[string, typeof answer]>([
  ['refuses', (response) => response.writeHead(401).end()],
  ['forbids', (response) => response.writeHead(403).end()],
  ['is busy', (response) => response.writeHead(503).end()],
  ['answers something else', (response) => response.end('<html>')],
  ['hangs up', (response) => response.destroy()],
  ['redirects', (response, path) => response.writeHead(302, { location: `${path}/elsewhere` }).end()],
  [
    'repeats the path',
    (response, path) =>
      response.end(
        JSON.stringify({ id: 0, result: null, error: { code: -32_601, message: `no method at ${path}` } }),
      ),
  ],
])('nor is it by a failure of a node that %s', async (_, given) => {
  answer = given;
  const url = new URL(hosted());
  url.username = `user-${token}`;
  const failure = await connectNode({ rpcUrl: url.href, auth: { kind: 'none' } }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(AppError);
  const shown = JSON.stringify(shownError(failure));
  expect(shown).toContain(`http://${url.host}`);
  expect(shown).not.toContain(token);
});

test('of a folder of blocks only its own name is answered, and its failures show no more', async () => {
  const dir = join(folder.path, 'blocks-of-a-chain');
  golden.writeFolder(dir);
  const { at } = await serve(['--blocks', dir]);
  const seen = await told(at);
  expect(seen).toContain('folder blocks-of-a-chain');
  expect(seen).not.toContain(folder.path);

  const source = await openFolderSource(dir);
  const [first, second] = await source.refs();
  const names = (await readdir(join(dir, 'blocks'))).toSorted();
  await rm(join(dir, 'blocks', names[0]!));
  await rm(join(dir, 'blocks', names[1]!));
  await mkdir(join(dir, 'blocks', names[1]!));
  for (const ref of [first, second]) {
    const failure = await source.read(ref!).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'block_unavailable' });
    expect((failure as AppError).message).not.toContain(folder.path);
    expect((failure as AppError).message).toContain('blocks-of-a-chain');
  }
  await source.close();
});
