import type { RequestValues } from '#kernel/requests/request-values.ts';

/** Browsers and shops accept no longer ones. */
const charsMax = 2000;

/** An http or https URL that a page of ours links to, as it was sent; null if absent or at fault. */
export function shopUrl(values: RequestValues, given: unknown, name: string): string | null {
  const text = values.text(given, name);
  if (text === null) return null;
  if (text.length > charsMax) return values.fault(name, `has more than ${charsMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  return isWeb ? text : values.fault(name, 'must be an http or https URL');
}
