/** The disk of contents, by sha256. */
export interface ContentsDisk {
  /** Stores a content, also where it is already there: it is on disk when this returns. Its sha256. */
  put(content: Uint8Array): Promise<Buffer>;
  /** Null: it is not there. */
  bytesOf(sha256: Uint8Array): Promise<number | null>;
}

/** Files that keys have uploaded to this service, by their URLs. */
export interface OwnContents {
  /** The content, or why there is none; null: the URL is not ours. */
  read(url: string, signal: AbortSignal): Promise<Uint8Array | string | null>;
}
