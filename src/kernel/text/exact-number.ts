/** ECMAScript's JSON.parse source text access, which the types of ES2025 lack. */
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): number };

/**
 * A number that no double may hold: JSON.stringify writes all of its digits, without quotes. It is a number for schemas
 * only, and useful only for JSON.stringify.
 *
 * @param digits as JSON writes a number: `340282366920938463463374607431768211455`, `0.00000001`
 */
export const exactNumber = (digits: string): number => rawJSON(digits);

/** Parses JSON so that JSON.stringify writes it unchanged: numbers that a double would change keep their digits. */
export const parseExactly = (json: string): unknown =>
  JSON.parse(json, (_name, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && JSON.stringify(value) !== source
      ? exactNumber(source)
      : value,
  );
