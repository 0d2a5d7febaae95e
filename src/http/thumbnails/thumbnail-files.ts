import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';

/**
 * Maximum size of all files, in bytes. It is enough for fifty thousand pictures of 20 kB. The least recently used files
 * are deleted first, and drawn again on request.
 */
const bytesMaxDefault = 1_000_000_000;
/** Size of a disk block, in bytes. Each file takes a whole number of blocks. */
const blockBytes = 4096;
/** End of file names. The part before this end contains the picture's format. */
const suffix = '.picture';

/**
 * Thumbnails in files of a folder. Files are named by the content of the thumbnail. They are not in the database,
 * because they can be drawn again. So backups need not include them, and an API process needs no right to write to
 * tables. Several processes may share a folder. A file is either complete or missing, and a file that another process
 * deleted is treated as missing.
 */
export class ThumbnailFiles {
  readonly #folder: string;
  /** Sizes of files on disk, by file name. */
  readonly #known: LRUCache<string, number>;
  #opened: Promise<void> | null = null;

  constructor(folder: string, bytesMax = bytesMaxDefault) {
    this.#folder = folder;
    this.#known = new LRUCache<string, number>({
      maxSize: bytesMax,
      sizeCalculation: (bytes) => bytes,
      dispose: (_bytes, name, reason) => {
        if (reason === 'evict') void rm(this.#path(name), { force: true }).catch(() => undefined);
      },
    });
  }

  /**
   * Reads a picture. `null` if the picture is not stored.
   *
   * @param name hexadecimal digits
   */
  async read(name: string): Promise<Buffer | null> {
    await this.#open();
    try {
      const picture = await readFile(this.#path(name));
      this.#known.set(name, onDisk(picture.length));
      return picture;
    } catch {
      this.#known.delete(name);
      return null;
    }
  }

  /** Writes a picture. Throws the errors of the file system, for example if the disk is full or access is denied. */
  async write(name: string, picture: Buffer): Promise<void> {
    await this.#open();
    await mkdir(join(this.#folder, name.slice(0, 2)), { recursive: true, mode: 0o700 });
    const begun = `${this.#path(name)}.${randomUUID()}`;
    try {
      await writeFile(begun, picture, { mode: 0o600 });
      await rename(begun, this.#path(name));
    } finally {
      await rm(begun, { force: true });
    }
    this.#known.set(name, onDisk(picture.length));
  }

  #path(name: string): string {
    return join(this.#folder, name.slice(0, 2), `${name}${suffix}`);
  }

  /** Finds the files of earlier processes. This happens only once. */
  #open(): Promise<void> {
    this.#opened ??= this.#learn();
    return this.#opened;
  }

  async #learn(): Promise<void> {
    for (const part of await readdir(this.#folder).catch(() => [])) {
      for (const file of await readdir(join(this.#folder, part)).catch(() => [])) {
        const path = join(this.#folder, part, file);
        // the file is incomplete, because a process ended while it wrote the file
        if (!file.endsWith(suffix)) await rm(path, { force: true }).catch(() => undefined);
        else {
          const found = await stat(path).catch(() => null);
          if (found !== null) this.#known.set(file.slice(0, -suffix.length), onDisk(found.size));
        }
      }
    }
  }
}

const onDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / blockBytes)) * blockBytes;
