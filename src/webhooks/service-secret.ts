import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, writePrivateFile } from '#kernel/private-file.ts';

const secretBytes = 32;

/**
 * Reads the secret of the service, from which the service's keys are derived. Throws `service_secret_missing`. Throws
 * `service_secret_invalid` if the file does not have 32 bytes, if other users may read it, or if another user made it.
 */
export async function readServiceSecret(path: string): Promise<Buffer> {
  const file = await readPrivateFile(path, secretBytes);
  if (file.kind === 'missing')
    throw new AppError('service_secret_missing', `The secret of the service is missing at ${path}.`, {
      path,
    });
  if (file.kind === 'refused') throw refused(path, file.fault);
  if (file.bytes.length !== secretBytes)
    throw refused(path, `it has ${file.bytes.length} bytes, but needs ${secretBytes}`);
  return file.bytes;
}

/**
 * Reads the secret of the service. If there is no file, makes a file with a random secret. If two processes do this at
 * the same time, they make only one file.
 */
export async function ensureServiceSecret(path: string): Promise<Buffer> {
  try {
    return await readServiceSecret(path);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'service_secret_missing') throw error;
  }
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // if two processes write, the first file stays, and both processes read its secret
    await writePrivateFile(path, randomBytes(secretBytes));
  } catch (error) {
    throw refused(path, `it cannot be created (${String((error as NodeJS.ErrnoException).code)})`);
  }
  return readServiceSecret(path);
}

const refused = (path: string, fault: string): AppError =>
  new AppError(
    'service_secret_invalid',
    `The secret of the service at ${path} is refused, because ${fault}.`,
    {
      path,
    },
  );
