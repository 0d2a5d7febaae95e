import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Contents of customers' files by their sha256, below FILES_DIR: two hex digits name the folder. A content is whole or
 * not there, and never changes.
 */
export class CustomerFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Stores a content; it is on disk when this returns. Its sha256. */
  async put(content: Uint8Array): Promise<Buffer> {
    const sha256 = createHash('sha256').update(content).digest();
    const path = this.#pathOf(sha256);
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const partial = `${path}.${randomBytes(6).toString('hex')}.part`;
    try {
      const file = await open(partial, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    return sha256;
  }

  /** A content; null: it is not there. */
  async get(sha256: Uint8Array): Promise<Buffer | null> {
    try {
      return await readFile(this.#pathOf(sha256));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  #pathOf(sha256: Uint8Array): string {
    const hex = Buffer.from(sha256).toString('hex');
    return join(this.#dir, hex.slice(0, 2), hex);
  }
}
