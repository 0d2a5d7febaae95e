import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hasEmbeddedDatabase } from '#config/config.ts';
import { answersRequests } from '#http/server/operations.ts';
import { processesOrders } from '#src/app/doctor/roles.ts';
import { filesDirOf } from '#src/app/ordering/files-dir.ts';
import { nearestFolder } from '#src/app/reports/disk-room.ts';
import { advice, broken, coded, type Finding, ok } from './finding.ts';
import type { Subject } from './subject.ts';

/** A file or folder of the settings. */
export interface PathFacts {
  readonly path: string;
  readonly kind: 'missing' | 'folder' | 'file';
  /** Permission bits. */
  readonly mode: number;
  /** Whether this account may write it. If it is missing: whether this account may make it. */
  readonly isWritable: boolean;
  /** Whether the file system can only be read. Absent: it can be written. */
  readonly isReadOnly?: boolean;
}

/** A folder that the service writes. */
interface WrittenFolder {
  readonly check: 'files.data' | 'files.orders';
  readonly setting: 'DATA_DIR' | 'FILES_DIR';
}

/** Folders and files that the service uses, except the files of the wallet and of webhooks. */
export const filesSubject: Subject = {
  group: 'files',
  name: 'folders and files',
  examine: async ({ config }) => {
    const { role, dataDir, bitcoinCookieFile, blocksDir } = config;
    const findings: Finding[] = [];
    if (hasEmbeddedDatabase(config))
      findings.push(...judgeFolder({ check: 'files.data', setting: 'DATA_DIR' }, await lookAt(dataDir)));
    if (processesOrders(role) || answersRequests(role))
      findings.push(
        ...judgeFolder({ check: 'files.orders', setting: 'FILES_DIR' }, await lookAt(filesDirOf(config))),
      );
    if (bitcoinCookieFile !== undefined && blocksDir === undefined)
      findings.push(...judgeCookie(await lookAt(bitcoinCookieFile)));
    if (blocksDir !== undefined)
      findings.push(...judgeBlocks(await lookAt(resolve(blocksDir, 'chain.json'))));
    findings.push(...judgeSecretFile('files.env', 'The file of settings', await lookAt(resolve('.env'))));
    return findings;
  },
};

/** Looks at a path. It follows links, as the service does. */
export async function lookAt(path: string): Promise<PathFacts> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  const rights = await rightsOf(found === null ? await nearestFolder(path) : path);
  if (found === null) return { path, kind: 'missing', mode: 0, ...rights };
  return { path, kind: found.isDirectory() ? 'folder' : 'file', mode: found.mode & 0o777, ...rights };
}

const rightsOf = (path: string): Promise<Pick<PathFacts, 'isWritable' | 'isReadOnly'>> =>
  access(path, constants.W_OK).then(
    () => ({ isWritable: true }),
    ({ code }: NodeJS.ErrnoException) => ({ isWritable: false, isReadOnly: code === 'EROFS' }),
  );

const othersMayWrite = 0o022;
const strangersMayRead = 0o004;

/** Judges a folder that the service writes. Pure. */
export function judgeFolder(
  { check, setting }: WrittenFolder,
  { path, kind, mode, isWritable, isReadOnly = false }: PathFacts,
): Finding[] {
  if (kind === 'file')
    return [coded(check, { code: 'file_unusable', message: `${setting} ${path} is a file, not a folder.` })];
  if (!isWritable) {
    const what = kind === 'missing' ? 'cannot be made' : 'cannot be written';
    if (isReadOnly)
      return [
        broken(
          check,
          `${setting} ${path} ${what}: its file system can only be read.`,
          'Mount the file system so that it can be written, or name another folder. A disk with errors is mounted so by the system: read its log.',
        ),
      ];
    return [
      broken(
        check,
        `${setting} ${path} ${what} by this account.`,
        'Run this command as the user of the service. If it is that user: correct owner and permissions of the folder, or name another one.',
      ),
    ];
  }
  if (kind === 'missing') return [ok(check, `${setting} ${path} does not exist yet: the service makes it.`)];
  if ((mode & othersMayWrite) !== 0)
    return [
      advice(
        check,
        `${setting} ${path} can be written by others than its owner (mode ${mode.toString(8)}).`,
        `Take that right away: chmod go-w ${path}.`,
      ),
    ];
  return [ok(check, `${setting} ${path} can be written by its owner alone.`)];
}

/** Judges a file with secrets that another program writes. A missing one is judged where it is needed. Pure. */
export function judgeSecretFile(
  check: 'files.cookie' | 'files.env',
  name: string,
  { path, kind, mode }: PathFacts,
): Finding[] {
  if (kind === 'missing') return [];
  if ((mode & strangersMayRead) === 0) return [ok(check, `${name}, ${path}, cannot be read by every user.`)];
  return [
    advice(
      check,
      `${name}, ${path}, can be read by every user of this machine (mode ${mode.toString(8)}).`,
      check === 'files.cookie'
        ? 'Let the node write it for its group alone: rpccookieperms=group in bitcoin.conf.'
        : `Take that right away: chmod o-rwx ${path}.`,
    ),
  ];
}

/** Judges the cookie file of the node. Pure. */
export function judgeCookie(cookie: PathFacts): Finding[] {
  if (cookie.kind === 'missing')
    return [
      broken(
        'files.cookie',
        `The cookie file of the node, ${cookie.path}, does not exist.`,
        'Start the node, or correct BITCOIN_COOKIE_FILE. The node writes .cookie into its data folder, and into a folder with the name of the network there if it is not mainnet, for example regtest/.cookie.',
      ),
    ];
  return judgeSecretFile('files.cookie', 'The cookie file of the node', cookie);
}

/** Judges the index of a folder of blocks. Pure. */
export function judgeBlocks({ path, kind }: PathFacts): Finding[] {
  if (kind === 'file') return [ok('files.blocks', `The folder of blocks has its index, ${path}.`)];
  return [
    broken(
      'files.blocks',
      `The folder of BLOCKS_DIR has no index: there is no file ${path}.`,
      'Name a folder of blocks (docs/architecture.md, "Block folders").',
    ),
  ];
}
