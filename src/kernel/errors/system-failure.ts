import { AppError } from './app-error.ts';

/** Errors of files and folders that an operator can fix (errno(3)). */
const fileCodes = new Set([
  'EACCES',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EIO',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENODEV',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENXIO',
  'EPERM',
  'EROFS',
  'ESTALE',
  'ETXTBSY',
  'EXDEV',
]);

/** Codes of Node for problems that a function of `fs` finds, for example ERR_FS_EISDIR. */
const ownFileCode = /^ERR_FS_/u;

/**
 * System calls for sockets and host names. The part of the program that connects to the other side reports their
 * failures.
 */
const networkCalls = new Set(['accept', 'bind', 'connect', 'getaddrinfo', 'listen', 'queryA', 'queryAaaa']);

/** Limits that the system sets for a process, and Node for its threads. */
const limitCodes = new Set([
  'EAGAIN',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ERR_WORKER_INIT_FAILED',
  'ERR_WORKER_OUT_OF_MEMORY',
]);

/** Parts of the program that are missing, or were made for another system. */
const programCodes = new Set(['ERR_DLOPEN_FAILED', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/**
 * Turns an error of the system into its operating failure: `file_unusable`, `system_limit` or `program_incomplete`.
 * Other errors are returned unchanged.
 */
export function systemFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const { message } = error;
  if (programCodes.has(code))
    return new AppError(
      'program_incomplete',
      `A part of the program cannot be loaded: ${message}`,
      {},
      error,
    );
  if (limitCodes.has(code))
    return new AppError(
      'system_limit',
      `The system refuses this process more resources: ${message}`,
      {},
      error,
    );
  if (ownFileCode.test(code)) return unusable(error, path);
  if (!fileCodes.has(code) || syscall === undefined || networkCalls.has(syscall)) return error;
  // the program that should start is missing
  if (syscall.startsWith('spawn'))
    return new AppError('program_incomplete', `A program cannot be started: ${message}`, {}, error);
  return unusable(error, path);
}

function unusable(error: Error, path: string | undefined): AppError {
  const details = path === undefined ? {} : { path };
  return new AppError('file_unusable', `A file or folder cannot be used: ${error.message}`, details, error);
}
