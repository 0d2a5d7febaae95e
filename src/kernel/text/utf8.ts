const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of valid UTF-8; null for other bytes, and for null: as ord reads content types and metaprotocols. */
export function utf8OrNull(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}
