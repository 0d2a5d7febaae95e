import { lstat, rm } from 'node:fs/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import { readBytesMax, readOwnFile, replaceFile } from './own-files.ts';
import { type RunResult, runAs, type ServerAccount } from './server-account.ts';

/**
 * Files below a folder of the server's account. That account may create links there at any moment, so root never opens
 * these files. The account itself reads and writes them, and so reaches only files that it can reach anyway (ADR 28).
 */
export interface ServerFiles {
  /** Replaces a file, with mode 0600. Throws `data_dir_unusable`. */
  write(path: string, text: string): Promise<void>;
  /** Returns the text from an offset on, at most its last `readBytesMax` bytes. Returns `null` if it cannot be read. */
  read(path: string, from?: number): Promise<string | null>;
  /** Returns the size of a file in bytes, or 0 if there is no file. */
  size(path: string): Promise<number>;
  /** Removes a file, or a folder with all its contents. */
  remove(path: string): Promise<void>;
}

/** @param account the account of the files; `null` for our own account */
export function serverFiles(account: ServerAccount | null): ServerFiles {
  return account === null ? own : filesAs(account);
}

const own: ServerFiles = {
  write: replaceFile,
  read: readOwnFile,
  size: (path) =>
    lstat(path).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  remove: (path) => rm(path, { recursive: true, force: true }),
};

/**
 * How long an operation may take, in ms. Each takes milliseconds, but the read of a pipe in place of a file would never
 * end.
 */
const timeoutMs = 10_000;

function filesAs(account: ServerAccount): ServerFiles {
  const sh = (script: string, parameters: readonly string[], input?: string): Promise<RunResult> =>
    runAs(account, '/bin/sh', ['-c', script, 'sh', ...parameters], {
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    });
  const orFail = ({ exitCode, output }: RunResult, path: string): void => {
    if (exitCode === 0) return;
    const message = `Account ${account.name} cannot change ${path}: ${output.trim()}`;
    throw new AppError('data_dir_unusable', message, { path, account: account.name });
  };
  return {
    write: async (path, text) => {
      const script = 'umask 077 && cat > "$1.$2" && mv -f "$1.$2" "$1"';
      orFail(await sh(script, [path, crypto.randomUUID()], text), path);
    },
    read: async (path, from = 0) => {
      const script = 'test -f "$1" && test -r "$1" && tail -c "+$2" "$1" | tail -c "$3"';
      const { exitCode, stdout } = await sh(script, [path, String(from + 1), String(readBytesMax)]);
      return exitCode === 0 ? stdout : null;
    },
    size: async (path) => {
      const { exitCode, stdout } = await sh('test -f "$1" && wc -c < "$1"', [path]);
      return exitCode === 0 ? Number(stdout) : 0;
    },
    remove: async (path) => {
      orFail(await sh('rm -rf "$1"', [path]), path);
    },
  };
}
