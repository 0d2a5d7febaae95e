import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namedImages } from '#scripts/supply-chain/images.ts';
import { lockedPackages, readLock } from '#scripts/supply-chain/lock-file.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const script = (name: string): string => join(root, 'scripts/supply-chain', name);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'supply-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
}

const ending = async (command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  run(command, args, { env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );

describe('npm run sbom', () => {
  test('names every package of the product with its hash, the same bytes each time', {
    tags: ['proof'],
  }, async () => {
    const make = async (): Promise<string> =>
      ending(process.execPath, [script('sbom.ts')]).then((ended) => ended.stdout);
    const stdout = await make();
    expect(await make()).toBe(stdout);
    const bom = JSON.parse(stdout) as {
      bomFormat: string;
      serialNumber: string;
      metadata: { component: { name: string }; timestamp?: string };
      components: { purl: string; hashes?: { alg: string; content: string }[] }[];
    };
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'satscribe' } } });
    expect(bom.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
    );
    expect(bom.metadata.timestamp).toBeUndefined();
    const hashOf = ({ integrity }: { integrity: string | null }): string =>
      Buffer.from((integrity ?? '').slice('sha512-'.length), 'base64').toString('hex');
    const product = lockedPackages(readLock(root)).filter(({ isDevelopment }) => !isDevelopment);
    const hashes = new Set(
      bom.components.flatMap((component) => component.hashes?.map(({ content }) => content)),
    );
    // each name and version is listed once, wherever it is used
    const known = new Set(product.map(({ name, version }) => `${name}@${version}`));
    expect(bom.components).toHaveLength(known.size);
    expect(product.filter((found) => !hashes.has(hashOf(found))).map(({ name }) => name)).toEqual([]);
  });
});

describe('npm run audit', () => {
  const advisory = {
    id: 1,
    url: 'https://advisories.example/1',
    title: 'it can be broken',
    severity: 'high',
    vulnerable_versions: '<2.0.0',
  };
  let registry: Server;
  let address: string;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    registry = createServer((request, response) => {
      request.resume();
      if (request.method === 'POST') return answer(response);
      // npm requests the versions of a package that has an advisory
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          name: 'broken',
          'dist-tags': { latest: '1.0.0' },
          versions: { '1.0.0': { name: 'broken', version: '1.0.0' } },
        }),
      );
    });
    registry.listen(0, '127.0.0.1');
    await once(registry, 'listening');
    address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  });

  afterAll(async () => {
    registry.closeAllConnections();
    registry.close();
    await once(registry, 'close');
  });

  const audit = async (isOfDevelopment: boolean, ...flags: string[]): Promise<Ended> => {
    const needs = { [isOfDevelopment ? 'devDependencies' : 'dependencies']: { broken: '1.0.0' } };
    const own = { name: 'own', version: '1.0.0', ...needs };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    const locked = { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` };
    const packages = {
      '': own,
      'node_modules/broken': { ...locked, ...(isOfDevelopment ? { dev: true } : {}) },
    };
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ ...own, lockfileVersion: 3, packages }),
    );
    return ending(process.execPath, [script('audit.ts'), folder, ...flags], {
      npm_config_registry: address,
      // a new cache, because npm caches what it read about a package
      npm_config_cache: mkdtempSync(join(folder, 'cache-')),
    });
  };
  const json = (value: unknown) => (response: ServerResponse) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));

  test('fails for a severe advisory about the product', async () => {
    answer = json({ broken: [advisory] });
    const { code, stdout } = await audit(false);
    expect(stdout).toContain('product: high: broken: it can be broken (https://advisories.example/1)');
    expect(code).toBe(1);
  });

  test('shows one about a tool of development, and one that is moderate, without failing', {
    tags: ['proof'],
  }, async () => {
    answer = json({ broken: [advisory] });
    const tool = await audit(true);
    expect(tool.stdout).toContain('development: high: broken');
    expect(tool.code).toBe(0);
    answer = json({ broken: [{ ...advisory, severity: 'moderate' }] });
    const moderate = await audit(false);
    expect(moderate.stdout).toContain('product: moderate: broken');
    expect(moderate.code).toBe(0);
  });

  test('says that there is none', async () => {
    answer = json({});
    expect(await audit(false)).toEqual({
      code: 0,
      stdout: 'advisories: 0 packages of the product, 0 of development\n',
    });
  });

  test.each([
    ['does not know the question', (response: ServerResponse) => void response.writeHead(405).end()],
    ['breaks off', (response: ServerResponse) => void response.destroy()],
    ['answers something else', (response: ServerResponse) => void response.end('<html>')],
  ])('never takes a registry that %s for good news', async (_name, refuse) => {
    answer = refuse;
    const { code, stdout } = await audit(false, '--required');
    expect(stdout).toContain('advisories: none were read');
    expect(code).toBe(2);
  });
});

describe('npm run images:pin', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  const copyFiles = (): void => {
    for (const file of ['Dockerfile', 'docker-compose.yml'])
      copyFileSync(join(root, file), join(folder, file));
  };
  const pin = async (answer: string): Promise<Ended> => {
    writeFileSync(join(folder, 'docker'), `#!/bin/sh\n${answer}\n`);
    chmodSync(join(folder, 'docker'), 0o755);
    return ending('bash', [script('pin-images.sh'), folder], {
      PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    });
  };

  test('gives every image the digest of its tag, and changes nothing else', async () => {
    copyFiles();
    expect(namedImages(folder).length).toBeGreaterThan(4);
    const { code } = await pin(`echo ${digest}`);
    expect(code).toBe(0);
    expect(namedImages(folder).filter(({ isPinned }) => !isPinned)).toEqual([]);
    for (const file of ['Dockerfile', 'docker-compose.yml']) {
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text.replaceAll(/@sha256:[0-9a-f]{64}/gu, '')).toBe(
        readFileSync(join(root, file), 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/gu, ''),
      );
    }
    // today's digest replaces an old one
    const next = `sha256:${'cd'.repeat(32)}`;
    expect((await pin(`echo ${next}`)).code).toBe(0);
    expect(namedImages(folder).every(({ name }) => name.endsWith(next))).toBe(true);
  });

  test('fails where there is no digest', async () => {
    copyFiles();
    expect((await pin('echo denied')).code).toBe(1);
    expect((await pin('exit 1')).code).toBe(1);
    expect(readFileSync(join(folder, 'Dockerfile'), 'utf8')).toBe(
      readFileSync(join(root, 'Dockerfile'), 'utf8'),
    );
  });
});
