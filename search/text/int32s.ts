/** Reads big-endian numbers of four bytes, as Postgres' int4send writes them. Null gives an empty array. */
export function int32s(bytes: Buffer | null): Int32Array {
  if (bytes === null) return new Int32Array(0);
  const numbers = new Int32Array(bytes.length / 4);
  for (let index = 0; index < numbers.length; index++) numbers[index] = bytes.readInt32BE(index * 4);
  return numbers;
}
