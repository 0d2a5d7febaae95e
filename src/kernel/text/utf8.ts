const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes valid UTF-8. Returns null for other bytes, and for null. ord decodes content types and metaprotocols in the
 * same way.
 */
export function utf8OrNull(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}
