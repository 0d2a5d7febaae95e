/** Maximum length of a copy that is made byte by byte, in bytes. A native copy takes as long as 30 bytes. */
const byteLoopMax = 24;
/** Native copy. Unlike `set`, it needs no view of the source. Such a view would immediately be garbage. */
// oxlint-disable-next-line typescript/unbound-method -- called with its `this`, which may be any Uint8Array
const nativeCopy = (Buffer.prototype as Buffer).copy;

/**
 * Copies `length` bytes of `source`, from `start`, into `target` at `to`. Throws if source or target is too short. In
 * shared memory, `set` copies word by word (2.9 GB/s), and this function is eight times as fast. No other thread may
 * write to source or target during the copy.
 */
export function copyBytes(
  source: Uint8Array,
  start: number,
  length: number,
  target: Uint8Array,
  to: number,
): void {
  // check the bounds here, because neither the loop nor the native copy reports a copy beyond an end
  if (to + length > target.length || start + length > source.length)
    throw new RangeError('copied beyond an end');
  if (length <= byteLoopMax) {
    for (let index = 0; index < length; index++) target[to + index] = source[start + index]!;
    return;
  }
  // Node uses `set` if an entire source is copied, so the last byte is copied separately
  const isWhole = length === source.length;
  const end = isWhole ? length - 1 : start + length;
  nativeCopy.call(source as Buffer, target, to, start, end);
  if (isWhole) target[to + end] = source[end]!;
}
