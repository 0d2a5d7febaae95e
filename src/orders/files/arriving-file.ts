import { createHash } from 'node:crypto';
import { type FileHandle, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inFolder, usable } from './file-folder.ts';

/** Bytes that are written at once: small chunks would need a system call each. */
const heldBytes = 65_536;

/**
 * A content on its way to the disk. Its hash, which names its place, is known once all bytes have arrived: until then
 * it is a partial file, which no look-up finds. Throws `file_unusable`.
 */
export class ArrivingFile {
  readonly #file: FileHandle;
  readonly #partial: string;
  readonly #pathOf: (sha256: Buffer) => string;
  readonly #hash = createHash('sha256');
  #held: Buffer | null = null;
  #heldBytes = 0;
  #isOpen = true;
  #bytes = 0;

  /** @param partial path of the open file @param pathOf place of a whole content */
  constructor(file: FileHandle, partial: string, pathOf: (sha256: Buffer) => string) {
    this.#file = file;
    this.#partial = partial;
    this.#pathOf = pathOf;
  }

  /** Bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the next bytes. Undefined: it is ready for more. */
  append(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    if (this.#heldBytes + chunk.length > heldBytes) return usable(this.#write(chunk));
    this.#held ??= Buffer.allocUnsafe(heldBytes);
    this.#held.set(chunk, this.#heldBytes);
    this.#heldBytes += chunk.length;
    return undefined;
  }

  /** Takes the whole content in one piece. */
  async write(content: Uint8Array): Promise<void> {
    this.#hash.update(content);
    this.#bytes += content.length;
    await usable(this.#write(content));
  }

  /** Ends the content, and returns its sha256. It is on disk then. */
  async end(): Promise<Buffer> {
    await usable(this.#write(new Uint8Array()).then(() => this.#file.sync()));
    await this.#close();
    return this.#hash.digest();
  }

  /** Moves the content to its place. */
  keep(sha256: Buffer): Promise<void> {
    const path = this.#pathOf(sha256);
    return usable(inFolder(dirname(path), () => rename(this.#partial, path)));
  }

  /** Deletes the partial file, if there is one. If the disk fails, a sweep deletes it later. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#close(), rm(this.#partial, { force: true })]);
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const held = this.#held?.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    // both writes continue at the end of the file
    if (held !== undefined && held.length > 0) await this.#file.writeFile(held);
    if (chunk.length > 0) await this.#file.writeFile(chunk);
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}
