import { createHash } from 'node:crypto';
import { type FileHandle, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inFolder, usable } from './file-folder.ts';

/**
 * Maximum number of bytes that are buffered before they are written. Without the buffer, each small chunk would need a
 * system call.
 */
const heldBytes = 65_536;

/**
 * A content that is being written to the disk. Its path comes from its hash, which is known only once all bytes have
 * arrived. Until then the content is in a partial file, which no look-up finds. Throws `file_unusable`.
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

  /**
   * @param partial path of the open partial file
   * @param pathOf returns the path of a complete content
   */
  constructor(file: FileHandle, partial: string, pathOf: (sha256: Buffer) => string) {
    this.#file = file;
    this.#partial = partial;
    this.#pathOf = pathOf;
  }

  /** Number of bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes the next bytes. Returns undefined if the caller can continue without waiting. */
  append(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    if (this.#heldBytes + chunk.length > heldBytes) return usable(this.#write(chunk));
    this.#held ??= Buffer.allocUnsafe(heldBytes);
    this.#held.set(chunk, this.#heldBytes);
    this.#heldBytes += chunk.length;
    return undefined;
  }

  /** Writes the whole content in one piece. */
  async write(content: Uint8Array): Promise<void> {
    this.#hash.update(content);
    this.#bytes += content.length;
    await usable(this.#write(content));
  }

  /** Completes the content, and returns its sha256. The content is then on disk. */
  async end(): Promise<Buffer> {
    await usable(this.#write(new Uint8Array()).then(() => this.#file.sync()));
    await this.#close();
    return this.#hash.digest();
  }

  /** Moves the content to its final path. */
  keep(sha256: Buffer): Promise<void> {
    const path = this.#pathOf(sha256);
    return usable(inFolder(dirname(path), () => rename(this.#partial, path)));
  }

  /** Deletes the partial file, if it exists. If the disk fails, a sweep deletes the file later. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#close(), rm(this.#partial, { force: true })]);
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const held = this.#held?.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    // `writeFile` of an open file continues at the current position, so both writes append
    if (held !== undefined && held.length > 0) await this.#file.writeFile(held);
    if (chunk.length > 0) await this.#file.writeFile(chunk);
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}
