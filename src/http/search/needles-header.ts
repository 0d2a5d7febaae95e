/** Node's own client reads 16 KiB of headers in total; a quarter of it leaves room for everybody else. */
const maxHeaderBytes = 4_096;

/**
 * The value of `X-Search-Needles`: how a text was split, each needle percent-encoded, commas between. Where that
 * would be too long it is their number alone, `count=3`.
 */
export function needlesHeader(needles: readonly string[]): string {
  const value = needles.map((needle) => encodeURIComponent(needle.toWellFormed())).join(',');
  return value.length <= maxHeaderBytes ? value : `count=${needles.length}`;
}
