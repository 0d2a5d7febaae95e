/** The disk that stores contents by their sha256. */
export interface ContentsDisk {
  /** Stores a content, even if it is stored already. The content is on disk when this returns. Returns its sha256. */
  put(content: Uint8Array): Promise<Buffer>;
  /** The number of bytes of a content. Returns null if the content is not on disk. */
  bytesOf(sha256: Uint8Array): Promise<number | null>;
}

/** Reads files that clients uploaded to this service with a key. The files are identified by their URLs. */
export interface OwnContents {
  /**
   * Returns the content, or a text with the reason why it is missing. Returns `null` if the URL is not a URL of this
   * service.
   */
  read(url: string, signal: AbortSignal): Promise<Uint8Array | string | null>;
}
