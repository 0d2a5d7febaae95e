import type pg from 'pg';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { textFault } from '#kernel/text/text-fault.ts';
import type { CustomerFiles } from './customer-files.ts';
import { type FoundFile, findFiles } from './file.store.ts';

/**
 * A file of this service at a URL, with its length in bytes. If the URL has no file, the value is a text with the
 * reason. In messages, the text comes after the name of the URL's field.
 */
type OwnFile = { readonly sha256: Buffer; readonly bytes: number } | string;

/**
 * Maximum number of contents that are looked up at the same time. 10,000 open files would exceed the limit of a
 * process.
 */
const looksAtOnce = 8;
const unknownFile = 'names no file of this service; store a file with PUT /files/<name>';
const deletedFile =
  'names a file of this service that was deleted because nothing used it; upload the file again';

/**
 * Files of this service that an order names by URL. They are read from disk, not by HTTP. A request to ourselves could
 * reach a private network. It would also wait for a request slot while its own order occupies a slot.
 */
export class OwnFiles {
  readonly #pool: pg.Pool;
  readonly #files: CustomerFiles;
  readonly #origins: ReadonlySet<string>;

  /** @param origins of this service's URLs: PUBLIC_URL, and the origin to which the order was sent */
  constructor(parts: { readonly pool: pg.Pool; readonly files: CustomerFiles }, origins: readonly string[]) {
    this.#pool = parts.pool;
    this.#files = parts.files;
    this.#origins = new Set(origins.map((origin) => new URL(origin).origin));
  }

  /** Whether a URL is a file URL of this service. The file may be missing. */
  isOwn(url: string): boolean {
    return this.#keyIn(url) !== null;
  }

  /** Looks up the URLs that belong to this service. Throws the reason of the signal. */
  async find(urls: readonly string[], signal: AbortSignal): Promise<NamedFiles> {
    const keys = new Map<string, string>();
    for (const url of urls) {
      const key = this.#keyIn(url);
      if (key !== null) keys.set(url, key);
    }
    const byUrl = new Map<string, OwnFile>();
    if (keys.size === 0) return new NamedFiles(this.#files, byUrl);
    const wanted = [...new Set(keys.values())].filter((key) => textFault(key) === null);
    const found = await withCutConnection(this.#pool, signal, (client) => findFiles(client, wanted));
    await inLanes([...keys], looksAtOnce, async ([url, key]) => {
      byUrl.set(url, await this.#look(found.get(key)));
    });
    return new NamedFiles(this.#files, byUrl);
  }

  async #look(file: FoundFile | undefined): Promise<OwnFile> {
    if (file === undefined) return unknownFile;
    const bytes = await this.#files.bytesOf(file.sha256);
    return bytes === null ? deletedFile : { sha256: file.sha256, bytes };
  }

  /** The file key in a URL of this service; null if the URL is not a file URL of this service. */
  #keyIn(url: string): string | null {
    if (!URL.canParse(url)) return null;
    const { origin, pathname } = new URL(url);
    const key = this.#origins.has(origin) ? /^\/files\/(?<key>.*)$/u.exec(pathname)?.groups?.['key'] : null;
    return key == null ? null : decoded(key);
  }
}

/** Files that an order names by URLs of this service. */
export class NamedFiles {
  readonly #files: CustomerFiles;
  readonly #byUrl: ReadonlyMap<string, OwnFile>;

  constructor(files: CustomerFiles, byUrl: ReadonlyMap<string, OwnFile>) {
    this.#files = files;
    this.#byUrl = byUrl;
  }

  /** Whether no URL belongs to this service. */
  get isEmpty(): boolean {
    return this.#byUrl.size === 0;
  }

  /**
   * Length of the file at a URL in bytes, or a text that says why there is no file. Null if the URL does not belong to
   * this service.
   */
  bytesAt(url: string): number | string | null {
    const file = this.#byUrl.get(url);
    return file === undefined || typeof file === 'string' ? (file ?? null) : file.bytes;
  }

  /** The content at a URL of this service, or a text that says why there is no content. */
  async read(url: string): Promise<Buffer | string> {
    const file = this.#byUrl.get(url) ?? unknownFile;
    // a sweep may have deleted the content since the look-up
    return typeof file === 'string' ? file : ((await this.#files.get(file.sha256)) ?? deletedFile);
  }
}

/**
 * Decodes a key of a path. Returns an empty text, which is no key of a file, if the key is not valid percent-encoded
 * UTF-8.
 */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return '';
  }
}
