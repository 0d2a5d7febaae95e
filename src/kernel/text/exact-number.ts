/** ECMAScript's "JSON.parse source text access", which is missing in the types of ES2025. */
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): number };

/**
 * A number that may not fit into a double. JSON.stringify writes all its digits, without quotes. Only types and schemas
 * treat it as a number. It is useful only for JSON.stringify.
 *
 * @param digits a number as in JSON: `340282366920938463463374607431768211455`, `0.00000001`
 */
export const exactNumber = (digits: string): number => rawJSON(digits);

/** Parses JSON so that JSON.stringify writes it unchanged. Numbers that a double would change keep their digits. */
export const parseExactly = (json: string): unknown =>
  JSON.parse(json, (_name, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && JSON.stringify(value) !== source
      ? exactNumber(source)
      : value,
  );
