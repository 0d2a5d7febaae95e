/**
 * The URL of the first page of a list, for a client whose cursor names undone blocks. This URL is always on this
 * server, even if the given URL begins with two slashes. Pure.
 */
export function firstPageOf(url: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('cursor');
  const rest = parameters.toString();
  // browsers read two slashes, or a slash and a backslash, as the start of a host
  const own = path.replace(/^[/\\]*/u, '/');
  return rest === '' ? own : `${own}?${rest}`;
}
