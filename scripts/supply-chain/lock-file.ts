import { readFileSync } from 'node:fs';

/** A package of package-lock.json. */
export interface LockedPackage {
  /** Its folder, below the root of the project. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly integrity: string | null;
  readonly license: string | null;
  /** Source of the package; `null` for the registry, which finds it by name and version. */
  readonly resolved: string | null;
  readonly isLink: boolean;
  /** Whether the product does not need the package (`npm ci --omit=dev` omits it). */
  readonly isDevelopment: boolean;
  readonly isOptional: boolean;
  readonly hasInstallScript: boolean;
}

interface Entry {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
}

/** The packages of a lock file, without the project itself. */
export function lockedPackages(text: string): LockedPackage[] {
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Entry>> };
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      // the entry of an alias names the real package
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version ?? '',
      integrity: entry.integrity ?? null,
      license: entry.license ?? null,
      resolved: entry.resolved ?? null,
      isLink: entry.link ?? false,
      isDevelopment: entry.dev ?? false,
      isOptional: (entry.optional ?? false) || (entry.devOptional ?? false),
      hasInstallScript: entry.hasInstallScript ?? false,
    }));
}

export const readLock = (root: string): string => readFileSync(`${root}/package-lock.json`, 'utf8');

/**
 * Packages without a hash, because the registry had no hash when they were locked. Each belongs to a development tool,
 * for another platform than those of CI and the image. None belongs to the product. A new version of the tool needs
 * hashes, which `npm run lock:integrity` reads.
 */
const withoutHash: readonly { readonly family: RegExp; readonly version: string }[] = [
  {
    family:
      /^@biomejs\/cli-(?:android|darwin|win32)-(?:arm64|x64)$|^@biomejs\/cli-linux-(?:arm64|x64)-musl$/u,
    version: '2.6.7',
  },
  { family: /^@oxc-parser\/binding-(?!linux-(?:arm64|x64)-)/u, version: '0.156.0' },
  { family: /^@oxlint\/binding-(?!linux-(?:arm64|x64)-)/u, version: '1.93.0' },
  { family: /^@oxlint-tsgolint\/(?:darwin|win32)-(?:arm64|x64)$/u, version: '7.0.2007' },
];

export function mayLackHash({ name, version, isDevelopment, isOptional }: LockedPackage): boolean {
  const isListed = withoutHash.some(
    (exception) => exception.family.test(name) && exception.version === version,
  );
  return isListed && isDevelopment && isOptional;
}

/**
 * A SHA-512 hash of 64 bytes in base64. npm accepts weaker hashes too, but the registry returns this one for every
 * package.
 */
const strongHash = /^sha512-[A-Za-z0-9+/]{86}==$/u;

/**
 * Faults of a lock file. These are packages that are not pinned to their bytes, that do not come from the registry, or
 * that run a script at installation without approval.
 *
 * @param approved the names in `allowScripts` of package.json, whether or not they may run their scripts
 */
export function lockFaults(packages: readonly LockedPackage[], approved: ReadonlySet<string>): string[] {
  return packages.flatMap((found) => {
    const { name, version, integrity, resolved, isLink, hasInstallScript } = found;
    const faults: string[] = [];
    const fault = (words: string): void => void faults.push(`${name}@${version}: ${words}`);
    if (integrity === null && !mayLackHash(found)) fault('no integrity');
    if (integrity !== null && !strongHash.test(integrity)) fault(`weak integrity ${integrity}`);
    // the lock file names no host, so each package comes from the configured registry, and must match its hash
    if (resolved !== null || isLink) fault(`not from the registry: ${resolved ?? 'a link'}`);
    if (hasInstallScript && !approved.has(name)) fault('an install script that allowScripts does not name');
    return faults;
  });
}
