/**
 * The address of the first page of a list, for one whose cursor is of blocks that are gone. It stays on this server
 * whatever the URL begins with. Pure.
 */
export function firstPageOf(url: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('cursor');
  const rest = parameters.toString();
  // two slashes, or one and a backslash, begin a host for browsers
  const own = path.replace(/^[/\\]*/u, '/');
  return rest === '' ? own : `${own}?${rest}`;
}
