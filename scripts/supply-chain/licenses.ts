import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockedPackage } from './lock-file.ts';

/** Licences that let anyone run, change and redistribute Satscribe under MIT. They require a notice at most. */
const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Packages with another licence, and the reason why they may stay. */
const exceptions: readonly { readonly name: RegExp; readonly license: string; readonly why: string }[] = [
  {
    name: /^lightningcss(?:-.+)?$/u,
    license: 'MPL-2.0',
    why: 'a tool of development (vitest loads it). Its licence asks for changed files of its own, and nothing is changed',
  },
  {
    name: /^axe-core$/u,
    license: 'MPL-2.0',
    why: 'a tool of the tests: they run it in the browser, unchanged, and nothing of it is served',
  },
  {
    name: /^zeromq$/u,
    license: 'MIT AND MPL-2.0',
    why: 'libzmq is MPL-2.0: used unchanged, and its licence does not reach files of others',
  },
  {
    name: /^standard-error$/u,
    license: 'LAGPL',
    why: 'AGPL 3 with a permission (section 7) for all code that links it: only changes to itself are bound. bitcoin-core loads it, unchanged',
  },
  ...[
    'LGPL-3.0-or-later',
    'Apache-2.0 AND LGPL-3.0-or-later',
    'Apache-2.0 AND LGPL-3.0-or-later AND MIT',
  ].map((license) => ({
    name: /^@img\/sharp-(?:libvips-.+|win32-.+|wasm32)$/u,
    license,
    why: 'libvips is LGPL 3: a shared library, used unchanged and loaded by a process of its own; anyone can replace it',
  })),
];

/**
 * The licence that an installed package states (SPDX). `null` if it states none, or if the package is not installed
 * here.
 */
function installedLicense(root: string, path: string): string | null {
  let text: string;
  try {
    text = readFileSync(join(root, path, 'package.json'), 'utf8');
  } catch {
    return null;
  }
  const { license, licenses } = JSON.parse(text) as {
    license?: string | { type?: string };
    licenses?: readonly { type?: string }[];
  };
  if (typeof license === 'string') return license;
  if (license?.type !== undefined) return license.type;
  return licenses?.map(({ type }) => type ?? '').join(' OR ') ?? null;
}

/** Packages whose licence is neither allowed nor an exception, or differs from the lock file. */
export function licenseFaults(root: string, packages: readonly LockedPackage[]): string[] {
  return packages.flatMap((found) => {
    const { name, version, path, license: locked } = found;
    const installed = installedLicense(root, path);
    if (installed !== null && locked !== null && installed !== locked)
      return [`${name}@${version}: ${installed}, but ${locked} in the lock file`];
    const license = installed ?? locked;
    if (license === null) return [`${name}@${version}: no licence`];
    const isException = exceptions.some((known) => known.name.test(name) && known.license === license);
    return isException || isAllowed(license) ? [] : [`${name}@${version}: ${license}`];
  });
}

/** Whether the allowed licences satisfy an SPDX expression. `false` if the expression cannot be read. */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/gu) ?? [];
  let at = 0;
  const any = (): boolean => {
    let isMet = all();
    while (tokens[at] === 'OR') {
      at++;
      // reads the right side even if the left side is met, because its tokens must be passed
      isMet = all() || isMet;
    }
    return isMet;
  };
  const all = (): boolean => {
    let isMet = one();
    while (tokens[at] === 'AND') {
      at++;
      isMet = one() && isMet;
    }
    return isMet;
  };
  const one = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && allowed.has(token);
    const isMet = any();
    return tokens[at++] === ')' && isMet;
  };
  return any() && at === tokens.length;
}
