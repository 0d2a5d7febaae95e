import type { RequestValues } from '#kernel/requests/request-values.ts';

/** Maximum number of characters of a URL. Browsers and shops do not accept longer URLs. */
const charsMax = 2000;

/**
 * Reads an http or https URL to which one of this service's pages links. Returns the URL unchanged, or null if it is
 * absent or invalid.
 */
export function shopUrl(values: RequestValues, given: unknown, name: string): string | null {
  const text = values.text(given, name);
  if (text === null) return null;
  if (text.length > charsMax) return values.fault(name, `has more than ${charsMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  return isWeb ? text : values.fault(name, 'must be an http or https URL');
}
