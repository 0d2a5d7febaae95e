import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemFailure } from '#kernel/errors/system-failure.ts';

/** What lies in a folder of contents. */
export interface StoredFile {
  readonly name: string;
  /** `content`: a whole one. `partial`: being written, or left by a process that died. `aside`: being deleted. */
  readonly kind: 'content' | 'partial' | 'aside';
  readonly bytes: number;
  /** Last written: also where the same content was stored again. */
  readonly writtenAt: Date;
}

/** Two hex digits each. */
export const fileFolders: readonly string[] = Array.from({ length: 256 }, (_, place) =>
  place.toString(16).padStart(2, '0'),
);

const partialEnd = '.part';
const asideEnd = '.aside';

/**
 * Contents of customers' files by their sha256, below FILES_DIR: two hex digits name the folder. A content is whole or
 * not there, and never changes. Throws `file_unusable`.
 */
export class CustomerFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Stores a content; it is on disk when this returns. Its sha256. */
  put(content: Uint8Array): Promise<Buffer> {
    return usable(this.#put(content));
  }

  async #put(content: Uint8Array): Promise<Buffer> {
    const sha256 = createHash('sha256').update(content).digest();
    const path = this.#pathOf(sha256);
    const partial = `${path}.${randomBytes(6).toString('hex')}${partialEnd}`;
    try {
      const file = await inFolder(dirname(path), () => open(partial, 'wx', 0o600));
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

  /** Room on their disk. */
  freeBytes(): Promise<number> {
    // a file in its place has free bytes too, but nothing in it
    const made = inFolder(this.#dir, () => statfs(`${this.#dir}/.`));
    return usable(made.then(({ bavail, bsize }) => bavail * bsize));
  }

  /** A content; null: it is not there. */
  get(sha256: Uint8Array): Promise<Buffer | null> {
    return usable(unlessMissing(readFile(this.#pathOf(sha256)), null));
  }

  /** What one of the folders has. */
  list(folder: string): Promise<StoredFile[]> {
    return usable(this.#list(folder));
  }

  async #list(folder: string): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    for (const name of await unlessMissing(readdir(join(this.#dir, folder)), [])) {
      const facts = await unlessMissing(stat(join(this.#dir, folder, name)), null);
      const kind = kindOf(name);
      if (facts !== null && kind !== null)
        found.push({ name, kind, bytes: facts.size, writtenAt: facts.mtime });
    }
    return found;
  }

  /**
   * Deletes a content that was not stored again since a time. It is taken aside before it is looked at: what is stored at
   * that moment stays, and a process that dies here leaves it aside.
   */
  remove(name: string, notSince: Date): Promise<boolean> {
    return usable(this.#remove(name, notSince));
  }

  async #remove(name: string, notSince: Date): Promise<boolean> {
    const path = this.#pathOfName(name);
    const aside = `${path}${asideEnd}`;
    const isAside = await unlessMissing(
      rename(path, aside).then(() => true),
      false,
    );
    if (!isAside) return false;
    const { mtime } = await stat(aside);
    if (mtime >= notSince) {
      await rename(aside, path);
      return false;
    }
    await rm(aside, { force: true });
    return true;
  }

  /** Brings a content back that a process left aside when it died. */
  bringBack(aside: string): Promise<void> {
    const path = this.#pathOfName(aside);
    return usable(unlessMissing(rename(path, path.slice(0, -asideEnd.length)), undefined));
  }

  /** Deletes what a process left that died while it wrote. */
  removePartial(name: string): Promise<void> {
    return usable(rm(this.#pathOfName(name), { force: true }));
  }

  #pathOf(sha256: Uint8Array): string {
    return this.#pathOfName(Buffer.from(sha256).toString('hex'));
  }

  #pathOfName(name: string): string {
    return join(this.#dir, name.slice(0, 2), name);
  }
}

/** Null: it is none of ours, and stays. */
function kindOf(name: string): StoredFile['kind'] | null {
  if (/^[0-9a-f]{64}$/u.test(name)) return 'content';
  if (/^[0-9a-f]{64}\.[0-9a-f]+\.part$/u.test(name)) return 'partial';
  return /^[0-9a-f]{64}\.aside$/u.test(name) ? 'aside' : null;
}

/** Throws `file_unusable` where the folder or its disk is to blame. */
async function usable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw systemFailure(error);
  }
}

/** Does something in a folder, which is made if it is missing: after the first contents it is there. */
async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const done = await unlessMissing(work(), null);
  if (done !== null) return done;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return work();
}

async function unlessMissing<Result, Otherwise>(
  reading: Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}
