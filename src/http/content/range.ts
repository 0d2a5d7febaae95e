/** A range of bytes of a body. Both ends are included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The single range in a `Range` header (RFC 9110, 14.1.2). `none` if the range starts after the end of the body. `null`
 * if the complete body is to be sent, because there is no header, or it has several ranges, another unit, or an invalid
 * text. Some browsers can play media only if ranges are supported.
 */
export function rangeOf(header: string | undefined, sizeBytes: number): ByteRange | 'none' | null {
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/u.exec(header ?? '');
  if (match === null) return null;
  const [, from, to = '', suffix] = match;
  if (from === undefined) return lastBytes(Number(suffix), sizeBytes);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return null;
  return first < sizeBytes ? { first, last: Math.min(last, sizeBytes - 1) } : 'none';
}

function lastBytes(count: number, sizeBytes: number): ByteRange | 'none' {
  const length = Math.min(count, sizeBytes);
  return length === 0 ? 'none' : { first: sizeBytes - length, last: sizeBytes - 1 };
}
