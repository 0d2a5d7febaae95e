import type { IncomingMessage } from 'node:http';

/** Requests whose path is not percent-encoded UTF-8. */
const brokenPaths = new WeakSet<IncomingMessage>();

/**
 * The target of a request in the form that routes need. If a forward proxy sent a target with an origin, the origin is
 * removed (RFC 9112, 3.2.2). A path that cannot be decoded still reaches its route, with its percent signs unchanged.
 * The route then refuses it in its own form.
 */
export function routableTarget(request: IncomingMessage): string {
  const target = originForm(request.url ?? '/');
  const end = target.search(/[?#;]/u);
  const path = end === -1 ? target : target.slice(0, end);
  if (!path.includes('%') || isDecodable(path)) return target;
  brokenPaths.add(request);
  return path.replaceAll('%', '%25') + target.slice(path.length);
}

/** Whether the path of a request is not percent-encoded UTF-8. */
export function hasBrokenPath(request: IncomingMessage): boolean {
  return brokenPaths.has(request);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = /^https?:\/\/[^/?#]*([^]*)$/iu.exec(url)?.[1];
  if (path === undefined) return url;
  return path.startsWith('/') ? path : `/${path}`;
}
