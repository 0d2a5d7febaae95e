/**
 * A URL for messages, logs and answers. It has only scheme, host and port. A path may contain the token of a hosted
 * server, a query may contain a password, and user names help attackers.
 */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return 'the configured address';
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
