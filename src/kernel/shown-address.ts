/**
 * A URL for messages, logs and answers: its scheme, host and port. A path may hold the token of a hosted server, a
 * query a password, and user names tell strangers what to try.
 */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return 'the configured address';
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
