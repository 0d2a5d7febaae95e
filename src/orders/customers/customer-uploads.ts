import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { StoredBytes } from '#orders/creating/stored-bytes.ts';
import type { ArrivingFile } from '#orders/files/arriving-file.ts';
import type { CustomerFiles } from '#orders/files/customer-files.ts';
import { besideFile, fileBytesMax, freeBytesMin, urlNameCharsMax } from '#orders/files/file-bounds.ts';
import { insertUpload } from '#orders/files/uploads.store.ts';

export interface UploadParts {
  readonly pool: pg.Pool;
  readonly files: CustomerFiles;
  /** Counts the bytes of each key. */
  readonly stored: StoredBytes;
}

/** The fields of an upload that the answer shows, without the URL. */
export interface StoredUpload {
  readonly s3Key: string;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/**
 * An arriving file. Announced bytes are counted for the key of the file. If the file is discarded, its bytes are no
 * longer counted.
 */
export class Upload {
  readonly #file: ArrivingFile;
  readonly #count: (bytes: number) => void;
  readonly #giveBack: (bytes: number) => void;
  #counted: number;
  #sha256: Buffer | null = null;
  #isOver = false;

  /**
   * @param counted bytes that are already counted
   * @param count counts more bytes; throws `rate_limited`
   */
  constructor(
    file: ArrivingFile,
    counted: number,
    count: (bytes: number) => void,
    giveBack: (bytes: number) => void,
  ) {
    this.#file = file;
    this.#counted = counted;
    this.#count = count;
    this.#giveBack = giveBack;
  }

  get size(): number {
    return this.#file.bytes;
  }

  /** The sha256 in hex. Empty until all bytes have arrived. */
  get sha256(): string {
    return this.#sha256?.toString('hex') ?? '';
  }

  /**
   * Writes the next bytes. Returns undefined if the caller can continue without waiting. Throws `rate_limited` if bytes
   * beyond the announced number exceed the limit.
   */
  append(chunk: Uint8Array): Promise<void> | undefined {
    const more = this.#file.bytes + chunk.length + besideFile - this.#counted;
    if (more > 0) {
      this.#count(more);
      this.#counted += more;
    }
    return this.#file.append(chunk);
  }

  /** Completes the file. Must be called once all bytes have arrived. */
  async end(): Promise<this> {
    this.#sha256 = await this.#file.end();
    return this;
  }

  /** Moves the content to its final path on the disk. After that, `discard` does nothing. */
  async keep(): Promise<Buffer> {
    if (this.#sha256 === null) throw new Error('an upload is kept once all of it has arrived');
    await this.#file.keep(this.#sha256);
    this.#isOver = true;
    return this.#sha256;
  }

  /** Deletes the upload and no longer counts its bytes. Does nothing if the upload was kept. */
  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveBack(this.#counted);
    await this.#file.discard();
  }
}

/** Files that clients upload with their keys, for use in orders and collections. */
export class CustomerUploads {
  readonly #parts: UploadParts;

  constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  /**
   * Begins an upload, before its first byte is read. If the upload is not stored when the answer is sent, it is
   * discarded. Throws `rate_limited` and `orders_off`.
   *
   * @param announced number of bytes, or 0 if it is unknown; each byte is then counted when it arrives
   */
  async begin(announced: number, asker: Asker): Promise<Upload> {
    const { files, stored } = this.#parts;
    const client = `key ${keyOf(asker)}`;
    const count = (bytes: number): void => {
      const retryAfterSeconds = Math.ceil(stored.take(client, bytes) / 1000);
      if (retryAfterSeconds === 0) return;
      const message = `your uploads have more bytes than this service stores for one key in a day; try again in ${retryAfterSeconds} s`;
      throw new AppError('rate_limited', message, { retryAfterSeconds });
    };
    if ((await files.freeBytes()) - fileBytesMax < freeBytesMin)
      throw new AppError(
        'orders_off',
        'this service accepts no files now, because its disk has no space for them',
      );
    const counted = announced + besideFile;
    count(counted);
    const giveBack = (bytes: number): void => stored.giveBack(client, bytes);
    try {
      const upload = new Upload(await files.receive(), counted, count, giveBack);
      asker.whenOut(() => void upload.discard());
      return upload;
    } catch (error) {
      giveBack(counted);
      throw error;
    }
  }

  /**
   * Stores an upload under a new key. Its row is inserted in the same database transaction in which `onStored` runs.
   * Nothing is stored for a client that has disconnected. Throws `request_invalid` for an empty file.
   */
  async store(
    upload: Upload,
    { name, mediaType }: { readonly name: string; readonly mediaType: string },
    asker: Pick<Asker, 'key' | 'signal'>,
    onStored: (tx: pg.ClientBase, stored: StoredUpload) => Promise<void>,
  ): Promise<StoredUpload> {
    if (upload.size === 0)
      throw new AppError('request_invalid', 'the file is empty; send the bytes to inscribe');
    asker.signal.throwIfAborted();
    const sha256 = await upload.keep();
    const stored = { s3Key: keyNamed(name), size: upload.size, sha256: upload.sha256 };
    await withTransaction(this.#parts.pool, async (tx) => {
      const { s3Key, size: bytes } = stored;
      await insertUpload(tx, { s3Key, sha256, bytes, mediaType, keyId: keyOf(asker) });
      await onStored(tx, stored);
    });
    return stored;
  }
}

function keyOf({ key }: Pick<Asker, 'key'>): number {
  if (key.kind === 'none') throw new Error('the path of uploads needs a key');
  return key.id;
}

/**
 * A key that no one can guess. It ends with the last characters of the file's name, with unsafe characters replaced.
 */
const keyNamed = (name: string): string =>
  `${randomUUID()}_${name.replace(/[^\w.-]/gu, '_').slice(-urlNameCharsMax)}`;
