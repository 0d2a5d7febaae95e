import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

const run = promisify(execFile);
const scripts = join(import.meta.dirname, '../../../scripts');
const installer = readFileSync(join(scripts, 'install-bitcoind.sh'), 'utf8');
const [, release = ''] = /^release=(.+)$/mu.exec(installer) ?? [];
const [, publishedHash = ''] = /^ +x86_64-linux-gnu\) echo ([0-9a-f]{64})/mu.exec(installer) ?? [];
const archivePath = `/bin/bitcoin-core-${release}/bitcoin-${release}-x86_64-linux-gnu.tar.gz`;
/** Programs that the script calls. They do not include bitcoind, even if the machine has it. */
const tools =
  'awk bash cat cut dirname flock grep gzip head mkdir mktemp mv nice rm sha256sum sleep tail tar timeout touch tr wc'.split(
    ' ',
  );
const nodeThat = (says: string): string => `#!/bin/sh\necho 'Bitcoin ${says} version v1'\n`;

/** The program of a release, packed like its builders pack it. */
let archive: Buffer;
let site: Server;
let origin: string;
let asked: string[] = [];
/** Response of the site; `null` for "not found". */
let served: Buffer | null;
let folder: string;

beforeAll(async () => {
  const made = mkdtempSync(join(tmpdir(), 'satscribe-release-'));
  await program(join(made, `bitcoin-${release}/bin/bitcoind`), nodeThat('release'));
  await run('tar', ['-C', made, '-czf', join(made, 'release.tar.gz'), `bitcoin-${release}`]);
  archive = await readFile(join(made, 'release.tar.gz'));
  rmSync(made, { recursive: true });
  site = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (served === null) response.writeHead(404).end();
    else response.end(served);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => site.close());

beforeEach(async () => {
  asked = [];
  served = archive;
  folder = mkdtempSync(join(tmpdir(), 'satscribe-install-'));
  for (const tool of tools) {
    const found = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, tool));
    await mkdir(join(folder, 'path'), { recursive: true });
    await symlink(found.find((path) => existsSync(path))!, join(folder, 'path', tool));
  }
  await program(join(folder, 'path/uname'), "#!/bin/sh\necho 'Linux x86_64'\n");
  // runs the real curl, but sends its requests to the site of the test
  const real = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'curl'));
  const curl = real.find((path) => existsSync(path))!;
  await program(
    join(folder, 'path/curl'),
    `#!/usr/bin/env bash\nexec ${curl} "\${@//https:\\/\\/bitcoincore.org/${origin.replaceAll('/', '\\/')}}"\n`,
  );
  await script('install-bitcoind.sh', installer);
  await script('build-bitcoin-core.sh', 'echo the compiler is missing; exit 1');
  await script('build-progress.sh', readFileSync(join(scripts, 'build-progress.sh'), 'utf8'));
  await script('install-knots.sh', 'echo Knots');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function program(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}

const script = (name: string, text: string): Promise<void> => program(join(folder, 'scripts', name), text);
const prefix = (): string => join(folder, 'prefix');

/** Runs the script. Returns its output and that of the installed program, which is `null` if there is none. */
async function install(
  environment: Record<string, string> = {},
): Promise<{ said: string; installed: string | null }> {
  const { stdout } = await run('bash', [join(folder, 'scripts/install-bitcoind.sh'), prefix()], {
    env: { PATH: join(folder, 'path'), HOME: folder, ...environment },
  });
  const placed = join(prefix(), 'bin/bitcoind');
  const installed = existsSync(placed) ? (await run(placed, [])).stdout.trim() : null;
  return { said: stdout.trim(), installed };
}

/** Returns the script with the hash of what the test serves in place of the published hash. */
const withHashOf = (bytes: Buffer): string =>
  installer.replace(publishedHash, createHash('sha256').update(bytes).digest('hex'));
const downloading = `bitcoind is missing: downloading Bitcoin Core ${release} (45 MB, at most 90 seconds)`;
const building = (): string =>
  `bitcoind is missing: building Bitcoin Core, once on this machine (15 to 20 minutes on two cores; log: ${prefix()}/build.log)`;

test('a node that is there is taken: named, on the path, or installed earlier', async () => {
  const elsewhere = join(folder, 'elsewhere/bitcoind');
  await program(elsewhere, nodeThat('given'));
  expect(await install({ BITCOIND: elsewhere })).toEqual({ said: '', installed: null });
  await program(join(prefix(), 'bin/bitcoind'), nodeThat('earlier'));
  expect(await install()).toEqual({ said: '', installed: 'Bitcoin earlier version v1' });
  rmSync(prefix(), { recursive: true });
  await program(join(folder, 'path/bitcoind'), nodeThat('path'));
  expect(await install()).toEqual({ said: '', installed: null });
  expect(asked).toEqual([]);
});

test('a release with the published hash is installed', async () => {
  await script('install-bitcoind.sh', withHashOf(archive));
  expect(await install({ BITCOIND: join(folder, 'nowhere') })).toEqual({
    said: `${downloading}\nBitcoin Core ${release} was downloaded to ${prefix()}`,
    installed: 'Bitcoin release version v1',
  });
  expect(asked).toEqual([archivePath]);
  // once
  expect(await install()).toMatchObject({ said: '' });
  expect(asked).toHaveLength(1);
});

test('a release with another hash is thrown away, and the build is taken', async () => {
  await script(
    'build-bitcoin-core.sh',
    `mkdir -p "$1/bin"; printf '%s' "${nodeThat('build')}" >"$1/bin/bitcoind"; /bin/chmod +x "$1/bin/bitcoind"`,
  );
  const { said, installed } = await install();
  expect(said.split('\n')).toEqual([
    downloading,
    `the download of Bitcoin Core ${release} does not have the published hash: it is thrown away`,
    building(),
    'Bitcoin build version v1, built in 0 minutes',
  ]);
  expect(installed).toBe('Bitcoin build version v1');
  expect(asked).toEqual([archivePath]);
});

test('a release that does not run is no node: the build is tried', async () => {
  const cut = archive.subarray(0, archive.length / 2);
  served = cut;
  await script('install-bitcoind.sh', withHashOf(cut));
  const { said, installed } = await install();
  expect(said).not.toContain('was downloaded');
  expect(said).toContain(building());
  expect(installed).toBeNull();
});

test('without the release and a build Knots is taken, and a build that failed is not tried again', async () => {
  served = null;
  const log = join(prefix(), 'build.log');
  const failed = `Bitcoin Core could not be built (remove ${log} to try again): the compiler is missing`;
  const first = await install();
  expect(first.said.split('\n')).toEqual([downloading, building(), failed, 'Knots']);
  expect(first.installed).toBeNull();
  expect((await install()).said.split('\n')).toEqual([downloading, failed, 'Knots']);
  expect(asked).toEqual([archivePath, archivePath]);
});

test('a machine that no release is made for builds', async () => {
  await program(join(folder, 'path/uname'), "#!/bin/sh\necho 'Linux riscv64'\n");
  expect((await install()).said).toContain(building());
  expect(asked).toEqual([]);
});

/** Lines about the progress of a build. Its log grows by a part every second and a half. */
async function progressOf(...parts: readonly string[]): Promise<string[]> {
  const log = join(folder, `${parts[0]?.replaceAll(/\W/gu, '')}.log`);
  const growing = parts.map((part) => `printf '%s\\n' '${part}' >>'${log}'; sleep 1.5`).join('; ');
  const watching = `exec bash '${join(scripts, 'build-progress.sh')}' $! '${log}' 1`;
  const { stdout } = await run('bash', ['-c', `(${growing}) & ${watching}`]);
  return stdout.trim().split('\n');
}

test('the progress of a build is its step, then the percentage, the time so far and what is left', async () => {
  const [step, make, ninja] = await Promise.all([
    progressOf('==> configuring'),
    progressOf('[  8%] Building CXX object', '[ 50%] Building CXX object'),
    progressOf('[30/400] Building CXX object'),
  ]);
  expect(step[0]).toBe('configuring, 1 s so far');
  expect(make[0]).toBe('compiling: 8 %, 1 s so far');
  expect(make.at(-1)).toMatch(/^compiling: 50 %, \d s so far, about \d s left$/u);
  expect(ninja[0]).toBe('compiling: 7 %, 1 s so far');
});
