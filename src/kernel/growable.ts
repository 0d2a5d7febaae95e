type Growable = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

/**
 * Returns `array`, or a copy of it with room for `length` elements. The size doubles, so that growth takes constant
 * time per element.
 */
export function withRoom<T extends Growable>(array: T, length: number): T {
  if (length <= array.length) return array;
  const Typed = array.constructor as new (size: number) => T;
  const grown = new Typed(Math.max(length, array.length * 2));
  grown.set(array as never);
  return grown;
}
