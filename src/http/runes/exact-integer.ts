/** ECMAScript's JSON.parse source text access, which the types of ES2025 lack. */
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): number };

/**
 * An integer that no double holds, as ord writes it: JSON.stringify writes all of its digits, without quotes. It is a
 * number for schemas alone, and good for nothing but JSON.stringify.
 */
export const exactInteger = (value: bigint): number => rawJSON(String(value));
