/** The disk of contents, by sha256. */
export interface ContentsDisk {
  /** Stores a content, even if it is stored already: it is on disk when this returns. Returns its sha256. */
  put(content: Uint8Array): Promise<Buffer>;
  /** Null: it is not on disk. */
  bytesOf(sha256: Uint8Array): Promise<number | null>;
}

/** Files that keys have uploaded to this service, by their URLs. */
export interface OwnContents {
  /** The content, or the reason why it is missing; null: the URL is not ours. */
  read(url: string, signal: AbortSignal): Promise<Uint8Array | string | null>;
}
