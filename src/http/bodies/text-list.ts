/**
 * A list of texts in two buffers, which a thread passes on without a copy: receiving half a million strings would
 * take the event loop a second.
 */
export interface TextList {
  /** The texts in UTF-8, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each text ends in `bytes`. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

export function packTexts(texts: readonly string[]): TextList {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  const ends = new Uint32Array(texts.length);
  const encoder = new TextEncoder();
  let end = 0;
  for (const [place, text] of texts.entries()) {
    encoder.encodeInto(text, bytes.subarray(end));
    end += lengths[place] ?? 0;
    ends[place] = end;
  }
  return { bytes, ends };
}

/** The texts of a list in parts of `size`, the last one smaller. */
export function* textParts({ bytes, ends }: TextList, size: number): Generator<string[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (let first = 0; first < ends.length; first += size) {
    const part: string[] = [];
    for (const end of ends.subarray(first, first + size)) {
      part.push(buffer.toString('utf8', start, end));
      start = end;
    }
    yield part;
  }
}
