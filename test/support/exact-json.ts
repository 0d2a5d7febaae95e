/**
 * Parses JSON with exact integers: integers that a double would round become BigInts. Answers of ord have integers of
 * up to 128 bits.
 */
export function exactJson(text: string): unknown {
  // the reviver is called for every byte of a content, and few texts have such integers
  if (!/[\s:,[]-?\d{16}/u.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' &&
    source !== undefined &&
    /^-?\d+$/u.test(source) &&
    !Number.isSafeInteger(value)
      ? BigInt(source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}
