import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';

/** Fifty thousand pictures of 20 kB. What is asked for least goes first, and is drawn again when it is asked for. */
const bytesMaxDefault = 1_000_000_000;
/** A file takes whole blocks of its disk. */
const blockBytes = 4096;
/** Their form is part of their name. */
const suffix = '.picture';

/**
 * Thumbnails in files below a folder, named by what they show. They can be made again, so they lie beside the database
 * and not in it: no backup carries them, and an API process needs no right to write to tables. Processes may share a
 * folder: a file is whole or absent, and one that another process deleted is absent.
 */
export class ThumbnailFiles {
  readonly #folder: string;
  /** Names with their bytes on disk. */
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

  /** @param name hexadecimal digits */
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

  /** Throws what the file system throws: no room, no right. */
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

  /** Learns what an earlier process left, once. */
  #open(): Promise<void> {
    this.#opened ??= this.#learn();
    return this.#opened;
  }

  async #learn(): Promise<void> {
    for (const part of await readdir(this.#folder).catch(() => [])) {
      for (const file of await readdir(join(this.#folder, part)).catch(() => [])) {
        const path = join(this.#folder, part, file);
        // begun by a process that ended
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
