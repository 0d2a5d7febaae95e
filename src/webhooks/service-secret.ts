import { randomBytes, randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';

const secretBytes = 32;
/** Its owner reads and writes it, nobody else anything. */
const privateMode = 0o600;
const modeOfOthers = 0o077;

/**
 * The secret of the service, from which its keys are derived. Throws `service_secret_missing`, and
 * `service_secret_invalid` for a file that is not 32 bytes or that others may read.
 */
export async function readServiceSecret(path: string): Promise<Buffer> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new AppError('service_secret_missing', `There is no secret of the service at ${path}.`, { path });
    throw invalid(path, `cannot be read (${error.code})`);
  });
  try {
    const { mode } = await file.stat();
    if ((mode & modeOfOthers) !== 0) throw invalid(path, `has mode ${(mode & 0o777).toString(8)}, not 600`);
    // a byte more, to see a longer file
    const { bytesRead, buffer } = await file.read(Buffer.alloc(secretBytes + 1), 0, secretBytes + 1, 0);
    if (bytesRead !== secretBytes) throw invalid(path, `is not of ${secretBytes} bytes`);
    return Buffer.from(buffer.subarray(0, secretBytes));
  } finally {
    await file.close();
  }
}

/** The same; where there is no file, one with a random secret is made. Two processes at once make one. */
export async function ensureServiceSecret(path: string): Promise<Buffer> {
  try {
    return await readServiceSecret(path);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'service_secret_missing') throw error;
  }
  await makeServiceSecret(path).catch((error: unknown) => {
    throw invalid(path, `cannot be made (${String((error as NodeJS.ErrnoException).code)})`);
  });
  return readServiceSecret(path);
}

async function makeServiceSecret(path: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', privateMode);
  try {
    await writeWhole(file);
    // a link never replaces a file: of two processes, one is first
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  // signatures are made with it from now on: its name must survive a power failure too
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function writeWhole(file: FileHandle): Promise<void> {
  try {
    await file.writeFile(randomBytes(secretBytes));
    await file.sync();
  } finally {
    await file.close();
  }
}

const invalid = (path: string, why: string): AppError =>
  new AppError('service_secret_invalid', `The secret of the service at ${path} ${why}.`, { path });
