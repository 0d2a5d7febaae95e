/**
 * Maximum number of bytes of the header. Node's own client reads 16 KiB of headers in total. A quarter of this leaves
 * room for the other headers.
 */
const maxHeaderBytes = 4_096;

/**
 * The value of `X-Search-Needles`, which lists the needles of a text, percent-encoded and separated by commas. If this
 * value would be too long, it contains only the number of needles, for example `count=3`.
 */
export function needlesHeader(needles: readonly string[]): string {
  const value = needles.map((needle) => encodeURIComponent(needle.toWellFormed())).join(',');
  return value.length <= maxHeaderBytes ? value : `count=${needles.length}`;
}
