/** An inscription in the form in which watches are compared with it. Texts are folded, in UTF-8. */
export interface WatchedInscription {
  /** The content, if the content is a text. */
  readonly text: Uint8Array | null;
  /** The metadata as folded text, and as JSON. */
  readonly metadata: Uint8Array | null;
  readonly metadataJson: Uint8Array | null;
  /** sha256 of the stored and of the decoded content, in hex. */
  readonly hashes: readonly string[];
  readonly contentType: Uint8Array | null;
  readonly metaprotocol: Uint8Array | null;
  /** The searched texts of the properties (src/kernel/text/property-texts.ts). */
  readonly title: Uint8Array | null;
  readonly traits: Uint8Array | null;
  /** Ids of the gallery, 36 bytes each. */
  readonly gallery: Uint8Array | null;
  /** Ids of the valid parents, 36 bytes each. */
  readonly parents: Uint8Array | null;
  /** Null: unknown, as for every pending inscription. */
  readonly cursed: boolean | null;
}
