import { lstat, mkdir, realpath, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { readOwnFile, replaceFile } from './own-files.ts';
import { followOwnLink, makePrivateFolder } from './private-folder.ts';
import { runAs, type ServerAccount, serverAccount } from './server-account.ts';
import {
  copyBinaries,
  installedBinaries,
  makeLibraryLinks,
  missingLibraryLinks,
  type ServerBinaries,
} from './server-binaries.ts';
import { type ServerFiles, serverFiles } from './server-files.ts';

/** The folders of a data folder's server, and the account that the server runs as. */
export interface ServerPlace {
  /** The account. `null` for our own account. */
  readonly account: ServerAccount | null;
  /** Reads and writes all files below `home`. */
  readonly files: ServerFiles;
  readonly binaries: ServerBinaries;
  /** Contains the cluster (`data/`), its passwords and its log. */
  readonly home: string;
  readonly clusterDir: string;
  /** E.g. `18`. */
  readonly major: string;
}

/**
 * Folders for files that the server's account could not reach elsewhere, in order of preference. They are used only as
 * root. Each must belong to root, so that no other account can put programs there.
 */
const reachableRoots = ['/var/lib/satscribe', '/var/tmp/satscribe', '/tmp/satscribe'];
const locationFile = 'postgres-location.json';
/** Name of the file that contains the path of the data folder. It is in a home that is outside its data folder. */
const ownerFile = 'data-folder';

/**
 * Chooses the account, the folders and the programs for the server of a data folder. If the account cannot reach some
 * of them (below a folder with mode 700), they are put in a place that it can reach. The data folder stores that place
 * for the next start.
 */
export async function findServerPlace(dataDir: string, log: (message: string) => void): Promise<ServerPlace> {
  const inside = await insideOf(dataDir);
  const existing = await existingHome(dataDir);
  if (existing !== null && !(await isFolder(existing))) {
    const message = `According to the data folder ${dataDir}, its database is in ${existing}, but that folder does not exist.`;
    throw new AppError('data_dir_unusable', message, { dataDir, home: existing });
  }
  const account = existing === null ? await serverAccount(null) : await accountOf(existing);
  const home = existing ?? (await makeHome(dataDir, inside, account, log));
  const { binaries, major } = await runnableBinaries(home, account, log);
  return {
    account,
    files: serverFiles(account),
    binaries,
    home,
    clusterDir: join(home, 'data'),
    major,
  };
}

/**
 * Returns the account of a home. This is its owner, because only root and the owner can change the home. If the home
 * belongs to root, it is the owner of the cluster, because an operator may have copied the cluster. In any other home,
 * other accounts could replace the cluster by a link.
 */
async function accountOf(home: string): Promise<ServerAccount | null> {
  const owner = await lstat(home);
  return serverAccount(owner.uid === 0 ? await stat(join(home, 'data')).catch(() => null) : owner);
}

/** Returns access to the files of an existing home, for a process that uses its running server. */
export async function filesOfHome(home: string): Promise<ServerFiles> {
  return serverFiles(await accountOf(home));
}

/**
 * Returns the home of the server of a data folder, or `null` if there is none yet. Throws `data_dir_unusable` if the
 * data folder is a copy of another one.
 */
export async function existingHome(dataDir: string): Promise<string | null> {
  const location = await readLocation(dataDir);
  if (location !== null) await claimHome(location, dataDir);
  return homeOf(location, dataDir);
}

/** Returns the home like `existingHome`, without a check whether it belongs to another folder. Changes nothing. */
export async function knownHome(dataDir: string): Promise<string | null> {
  return homeOf(await readLocation(dataDir), dataDir);
}

async function homeOf(location: Location | null, dataDir: string): Promise<string | null> {
  if (location !== null) return location.home;
  const inside = await insideOf(dataDir).catch(() => null);
  return inside !== null && (await isFolder(join(inside, 'data'))) ? inside : null;
}

/**
 * Assigns the server to a data folder that was moved. In a copied folder, the server still belongs to the original
 * folder. If the home is missing, the code that needs it reports this.
 */
async function claimHome({ home, dataDir: madeFor }: Location, dataDir: string): Promise<void> {
  const own = await realpath(dataDir);
  if (!(await isFolder(home))) return;
  const files = await filesOfHome(home);
  const owner = ((await files.read(join(home, ownerFile))) ?? madeFor).trim();
  if (owner === own) return;
  const [from, to] = await Promise.all([stat(owner).catch(() => null), stat(own)]);
  // it may be the same folder under another name, as in a container
  const isSame = from !== null && from.ino === to.ino && from.dev === to.dev;
  if (!isSame && from !== null && (await readLocation(owner))?.home === home) {
    const message = `The data folder ${dataDir} is a copy of ${owner}. Its database is in ${home} and was not copied. Remove ${locationFile} from the copy to begin with an empty database.`;
    throw new AppError('data_dir_unusable', message, { dataDir, owner, home });
  }
  await files.write(join(home, ownerFile), `${own}\n`);
}

async function insideOf(dataDir: string): Promise<string> {
  return followOwnLink(join(await realpath(dataDir), 'postgres'));
}

async function makeHome(
  dataDir: string,
  inside: string,
  account: ServerAccount | null,
  log: (message: string) => void,
): Promise<string> {
  await makePrivateFolder(inside, account);
  if (account === null || (await canWork(account, inside))) return inside;
  await rmdir(inside);
  const home = join(await reachableRoot(account), `data-${crypto.randomUUID()}`);
  await makePrivateFolder(home, account);
  const own = await realpath(dataDir);
  await serverFiles(account).write(join(home, ownerFile), `${own}\n`);
  const location: Location = { home, dataDir: own };
  await replaceFile(join(dataDir, locationFile), `${JSON.stringify(location, null, 2)}\n`, 0o644);
  log(`account ${account.name} cannot reach ${dataDir}, so the database is put in ${home}`);
  return home;
}

interface Location {
  readonly home: string;
  /** The data folder for which the home was made. */
  readonly dataDir: string;
}

async function readLocation(dataDir: string): Promise<Location | null> {
  const path = join(dataDir, locationFile);
  const text = await readOwnFile(path);
  if (text === null) return null;
  try {
    const { home, dataDir: madeFor } = JSON.parse(text) as Partial<Location>;
    if (typeof home === 'string' && typeof madeFor === 'string') return { home, dataDir: madeFor };
  } catch {
    // do not add the cause, because it would contain the content of the file
  }
  throw new AppError('data_dir_unusable', `${path} does not contain the path of the database.`, { path });
}

/** Whether the account can enter the folder and write there. The operating system itself is queried. */
async function canWork(account: ServerAccount, folder: string): Promise<boolean> {
  const { exitCode } = await runAs(account, '/bin/sh', ['-c', 'cd -- "$1" && test -w .', 'sh', folder]);
  return exitCode === 0;
}

async function reachableRoot(account: ServerAccount): Promise<string> {
  for (const root of reachableRoots) {
    try {
      await mkdir(root, { recursive: true, mode: 0o755 });
      const found = await lstat(root);
      if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) continue;
      const { exitCode } = await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', root]);
      if (exitCode === 0) return root;
    } catch {
      // the folder is read-only or belongs to another account, so try the next one
    }
  }
  const message = `Postgres cannot run as root, and account ${account.name} can reach none of ${reachableRoots.join(', ')}.`;
  throw new AppError('postgres_start_failed', message, { account: account.name });
}

/** Whether a path may be used in a shell. initdb and pg_ctl pass their own path to a shell in double quotes. */
function isShellSafe(path: string): boolean {
  return !/["$`\\\n]/u.test(path);
}

async function runnableBinaries(
  home: string,
  account: ServerAccount | null,
  log: (message: string) => void,
): Promise<{ binaries: ServerBinaries; major: string }> {
  const installed = await installedBinaries();
  if ((await missingLibraryLinks(installed.root)).length > 0) {
    // ignore the failure, because an unwritable folder is copied below, and the links are created in the copy
    await makeLibraryLinks(installed.root).catch(() => undefined);
  }
  const complete = (await missingLibraryLinks(installed.root)).length === 0;
  if (complete && isShellSafe(installed.root)) {
    const direct = await majorVersion(installed, account);
    if (direct.major !== null) return { binaries: installed, major: direct.major };
    if (account === null) throw unavailable(direct.output);
  }
  const place = account === null ? home : await reachableRoot(account);
  if (!isShellSafe(place)) {
    const message = `The programs of Postgres cannot run below ${place}, because they cannot handle a path with one of " $ \` \\.`;
    throw new AppError('postgres_start_failed', message, { place });
  }
  const copy = await copyBinaries(installed, place);
  if (copy.isNew)
    log(`the programs of Postgres are copied to ${copy.root}, because their account can run them there`);
  const copied = await majorVersion(copy, account);
  if (copied.major === null) throw unavailable(copied.output);
  return { binaries: copy, major: copied.major };
}

async function majorVersion(
  binaries: ServerBinaries,
  account: ServerAccount | null,
): Promise<{ major: string | null; output: string }> {
  const { exitCode, output } = await runAs(account, join(binaries.root, 'bin', 'postgres'), ['--version']);
  const major = exitCode === 0 ? /\(PostgreSQL\) (\d+)/u.exec(output)?.[1] : undefined;
  return { major: major ?? null, output };
}

function unavailable(output: string): AppError {
  const message = `The programs of the embedded Postgres do not run on this machine: ${output.trim()}`;
  return new AppError('postgres_unavailable', message);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
