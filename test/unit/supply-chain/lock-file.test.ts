import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAllowed, licenseFaults } from '#scripts/supply-chain/licenses.ts';
import { lockedPackages, lockFaults, readLock } from '#scripts/supply-chain/lock-file.ts';

const root = join(import.meta.dirname, '../../..');
const hash = `sha512-${'A'.repeat(86)}==`;
const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  allowScripts: Record<string, boolean>;
};

const faultsOf = (entries: Record<string, object>): string[] =>
  lockFaults(
    lockedPackages(JSON.stringify({ packages: { '': { name: 'own' }, ...entries } })),
    new Set(['b']),
  );

describe('the lock file', () => {
  const packages = lockedPackages(readLock(root));

  test('holds every package to a hash, to the registry and to approved scripts', () => {
    expect(packages.length).toBeGreaterThan(300);
    expect(lockFaults(packages, new Set(Object.keys(allowScripts)))).toEqual([]);
  });

  test('holds every package of the product to a hash, on every platform', () => {
    const product = packages.filter(({ isDevelopment }) => !isDevelopment);
    expect(product.length).toBeGreaterThan(150);
    expect(product.filter(({ integrity }) => integrity === null)).toEqual([]);
  });

  test('holds every package that is installed here to a hash', () => {
    const { packages: installed } = JSON.parse(
      readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8'),
    ) as { packages: Record<string, unknown> };
    const bare = packages.filter(({ path, integrity }) => integrity === null && path in installed);
    expect(bare).toEqual([]);
  });

  test('has allowed licences only', () => {
    expect(licenseFaults(root, packages)).toEqual([]);
  });
});

test.each([
  ['no hash', { version: '1.0.0' }, 'a@1.0.0: no integrity'],
  ['a weak hash', { version: '1.0.0', integrity: 'sha1-x' }, 'a@1.0.0: weak integrity sha1-x'],
  [
    'another source',
    { version: '1.0.0', integrity: hash, resolved: 'https://elsewhere.example/a.tgz' },
    'a@1.0.0: not from the registry: https://elsewhere.example/a.tgz',
  ],
  ['a link', { version: '1.0.0', integrity: hash, link: true }, 'a@1.0.0: not from the registry: a link'],
  [
    'a script',
    { version: '1.0.0', integrity: hash, hasInstallScript: true },
    'a@1.0.0: an install script that allowScripts does not name',
  ],
])('a package with %s is a fault', (_name, entry, fault) => {
  expect(faultsOf({ 'node_modules/a': entry })).toEqual([fault]);
});

test('a package with all of it is refused, at any depth and under another name', () => {
  const entry = { version: '1.0.0', integrity: hash, hasInstallScript: true };
  expect(faultsOf({ 'node_modules/a/node_modules/b': entry })).toEqual([]);
  expect(faultsOf({ 'node_modules/a': { ...entry, name: 'b' } })).toEqual([]);
});

test('a package may lack its hash only in the version that was asked for, and never in the product', () => {
  const entry = { version: '2.6.7', dev: true, optional: true };
  const path = 'node_modules/@biomejs/cli-darwin-arm64';
  expect(faultsOf({ [path]: entry })).toEqual([]);
  expect(faultsOf({ [path]: { ...entry, version: '2.6.8' } })).toHaveLength(1);
  expect(faultsOf({ [path]: { ...entry, dev: false } })).toHaveLength(1);
  expect(faultsOf({ 'node_modules/@biomejs/cli-linux-x64': entry })).toHaveLength(1);
});

test.each([
  ['MIT', true],
  ['(AFL-2.1 OR BSD-3-Clause)', true],
  ['BSD-3-Clause OR AFL-2.1', true],
  ['MIT AND ISC', true],
  ['MIT AND MPL-2.0', false],
  ['MIT OR (GPL-3.0-only AND ISC)', true],
  ['(MIT OR GPL-3.0-only) AND GPL-2.0-only', false],
  ['GPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE', false],
  ['MIT MIT', false],
  ['(MIT', false],
  ['', false],
])('%s is allowed: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

test('a licence that is not allowed, missing, or other than the locked one, is a fault', () => {
  const packages = lockedPackages(
    JSON.stringify({
      packages: {
        'node_modules/none-such': { version: '1.0.0', license: 'GPL-3.0-only' },
        'node_modules/none-other': { version: '1.0.0' },
        'node_modules/fastify': { version: '1.0.0', license: 'ISC' },
      },
    }),
  );
  expect(licenseFaults(root, packages)).toEqual([
    'none-such@1.0.0: GPL-3.0-only',
    'none-other@1.0.0: no licence',
    'fastify@1.0.0: MIT, but ISC in the lock file',
  ]);
});
