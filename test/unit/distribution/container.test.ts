import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '#config/config.ts';

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** Files that the image copies from the checkout: the sources of COPY that are not from an earlier stage. */
function copied(): string[] {
  return [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+)$/gmu)].flatMap(([, words]) =>
    words!.split(' ').slice(0, -1),
  );
}

/** Variables that docker-compose.yml sets for the service. */
function givenSettings(): string[] {
  const service = read('docker-compose.yml').split(/^ {2}satscribe:$/mu)[1]!;
  const environment = service.split(/^ {4}environment:$/mu)[1]!.split(/^ {4}\w/mu)[0]!;
  return [...environment.matchAll(/^ {6}([A-Z_]+):/gmu)].map(([, name]) => name!);
}

const variableOf = (setting: string): string =>
  setting.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase();

describe('the image', () => {
  test('is made of what is there, and is let in by .dockerignore', () => {
    const letIn = new Set(read('.dockerignore').split('\n'));
    expect(copied().length).toBeGreaterThan(5);
    for (const path of copied()) {
      expect(existsSync(join(root, path)), path).toBe(true);
      expect(letIn.has(`!${path}`), path).toBe(true);
    }
  });

  test('has every folder that the program imports from', () => {
    const { imports } = JSON.parse(read('package.json')) as { imports: Record<string, string> };
    const development = ['./bench/*', './test/*', './scripts/*'];
    const folders = Object.values(imports)
      .filter((target) => !development.includes(target))
      .map((target) => target.split('/')[1]!);
    for (const folder of folders) expect(copied()).toContain(folder);
  });
});

test('docker-compose.yml gives settings that exist', () => {
  const known = Object.keys(configSchema.properties).map(variableOf);
  expect(givenSettings().length).toBeGreaterThan(5);
  for (const name of givenSettings()) expect(known).toContain(name);
});

interface ComposeService {
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly depends_on?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly environment?: Readonly<Record<string, string>>;
}

describe('docker-compose.yml', () => {
  const compose = parse(read('docker-compose.yml'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
    readonly volumes: Readonly<Record<string, null>>;
  };
  const profiles = ['mainnet', 'signet', 'regtest'] as const;

  test.each(profiles)('has a node for %s with all blocks, REST and ZMQ', (network) => {
    const node = compose.services[`bitcoind-${network}`]!;
    expect(node.profiles).toEqual([network]);
    expect(node.command!.includes(`-${network}`)).toBe(network !== 'mainnet');
    for (const flag of ['-rest', '-txindex=1', '-prune=0', '-rpcport=8332'])
      expect(node.command).toContain(flag);
    for (const topic of ['sequence', 'rawtx', 'hashblock'])
      expect(node.command!.some((flag) => flag.startsWith(`-zmqpub${topic}=`))).toBe(true);
    // Satscribe finds the node of any profile by this name
    expect(node.networks!.default.aliases).toEqual(['bitcoind']);
    expect(compose.services['satscribe']!.environment!['BITCOIN_RPC_URL']).toContain('http://bitcoind:8332');
    // without the profile the service starts all the same
    expect(compose.services['satscribe']!.depends_on![`bitcoind-${network}`]!.required).toBe(false);
    // only a chain of one's own has a password that everyone knows
    const [password] = node.command!.filter((flag) => flag.startsWith('-rpcpassword='));
    expect(password).toBe(
      `-rpcpassword=\${BITCOIN_RPC_PASSWORD:-${network === 'regtest' ? 'satscribe' : ''}}`,
    );
  });

  test('declares every volume that a service names, once for each node', () => {
    const named = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0]!),
    );
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });
});
