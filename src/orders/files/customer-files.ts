import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArrivingFile } from './arriving-file.ts';
import { inFolder, unlessMissing, usable } from './file-folder.ts';

/** A file in a folder of contents. */
export interface StoredFile {
  readonly name: string;
  /**
   * `content`: a complete content. `partial`: a content that is being written, or that a killed process left. `aside`:
   * a content that is being deleted.
   */
  readonly kind: 'content' | 'partial' | 'aside';
  readonly bytes: number;
  /** Time of the last write. Storing the same content again changes this time. */
  readonly writtenAt: Date;
}

/** Names of all folders. Each name has two hex digits. */
export const fileFolders: readonly string[] = Array.from({ length: 256 }, (_, place) =>
  place.toString(16).padStart(2, '0'),
);

const partialEnd = '.part';
const asideEnd = '.aside';

/**
 * Contents of customers' files in FILES_DIR, named by their sha256. The first two hex digits are the name of the
 * folder. A content is complete or missing, and never changes. Throws `file_unusable`.
 */
export class CustomerFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Stores a content, and returns its sha256. The content is then on disk. */
  async put(content: Uint8Array): Promise<Buffer> {
    const file = await this.receive();
    try {
      await file.write(content);
      const sha256 = await file.end();
      await file.keep(sha256);
      return sha256;
    } catch (error) {
      await file.discard();
      throw error;
    }
  }

  /** Begins a content that arrives in pieces. */
  receive(): Promise<ArrivingFile> {
    // a random name, because the hash is not known yet
    const partial = this.#pathOfName(
      `${randomBytes(32).toString('hex')}.${randomBytes(6).toString('hex')}${partialEnd}`,
    );
    const opened = inFolder(dirname(partial), () => open(partial, 'wx', 0o600));
    return usable(opened.then((file) => new ArrivingFile(file, partial, (sha256) => this.#pathOf(sha256))));
  }

  /** Free bytes on the disk of the files. */
  freeBytes(): Promise<number> {
    // with `/.`, the call fails if the path is a file instead of a folder; without `/.`, the call would succeed for a
    // file, too
    const made = inFolder(this.#dir, () => statfs(`${this.#dir}/.`));
    return usable(made.then(({ bavail, bsize }) => bavail * bsize));
  }

  /** Reads a content; null if it is missing. */
  get(sha256: Uint8Array): Promise<Buffer | null> {
    return usable(unlessMissing(readFile(this.#pathOf(sha256)), null));
  }

  /** Length of a content in bytes; null if it is missing. */
  bytesOf(sha256: Uint8Array): Promise<number | null> {
    return usable(
      unlessMissing(
        stat(this.#pathOf(sha256)).then(({ size }) => size),
        null,
      ),
    );
  }

  /** Lists the files in one of the folders. */
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
   * Deletes a content, unless it was stored again since a time. Returns whether the content was deleted. The file is
   * renamed before its time is read, so that a content that is stored in between is kept. If the process dies after
   * renaming, the file stays `aside`.
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

  /** Restores a content that a killed process left `aside`. */
  bringBack(aside: string): Promise<void> {
    const path = this.#pathOfName(aside);
    return usable(unlessMissing(rename(path, path.slice(0, -asideEnd.length)), undefined));
  }

  /** Deletes a partial file that a killed process left. */
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

/** The kind of a file by its name. Null if the file does not belong to this service; such a file is never deleted. */
function kindOf(name: string): StoredFile['kind'] | null {
  if (/^[0-9a-f]{64}$/u.test(name)) return 'content';
  if (/^[0-9a-f]{64}\.[0-9a-f]+\.part$/u.test(name)) return 'partial';
  return /^[0-9a-f]{64}\.aside$/u.test(name) ? 'aside' : null;
}
