import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, writePrivateFile } from '#kernel/private-file.ts';

const secretBytes = 32;

/**
 * The secret of the service, from which its keys are derived. Throws `service_secret_missing`, and
 * `service_secret_invalid` for a file that is not 32 bytes, or that others may read or have made.
 */
export async function readServiceSecret(path: string): Promise<Buffer> {
  const file = await readPrivateFile(path, secretBytes);
  if (file.kind === 'missing')
    throw new AppError('service_secret_missing', `There is no secret of the service at ${path}.`, { path });
  if (file.kind === 'refused') throw refused(path, file.fault);
  if (file.bytes.length !== secretBytes)
    throw refused(path, `it has ${file.bytes.length} bytes, not ${secretBytes}`);
  return file.bytes;
}

/** The same; if there is no file, one with a random secret is made. Two processes at once make one. */
export async function ensureServiceSecret(path: string): Promise<Buffer> {
  try {
    return await readServiceSecret(path);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'service_secret_missing') throw error;
  }
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // of two processes one is first, and both have its secret
    await writePrivateFile(path, randomBytes(secretBytes));
  } catch (error) {
    throw refused(path, `it cannot be made (${String((error as NodeJS.ErrnoException).code)})`);
  }
  return readServiceSecret(path);
}

const refused = (path: string, fault: string): AppError =>
  new AppError('service_secret_invalid', `The secret of the service at ${path} is refused: ${fault}.`, {
    path,
  });
