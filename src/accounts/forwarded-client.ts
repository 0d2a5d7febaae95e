import { isIP } from 'node:net';

/** Facts of a request that show on whose behalf it is made. */
export interface ForwardedRequest {
  /** The address of the connection. */
  readonly peer: string;
  /** `X-Forwarded-For`: addresses, each added by the proxy that it reached. */
  readonly forwardedFor: string | undefined;
  /** `Forwarded` (RFC 7239), which counts only without `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
}

/** The origin of a request: a client, or a trusted proxy that names no client. */
export type ForwardedClient =
  | { readonly kind: 'client'; readonly address: string }
  /**
   * A trusted proxy that names no client: the address of the connection. `instead`: the text in its header in place of
   * a client, perhaps empty; null: it sent no header.
   */
  | { readonly kind: 'proxy'; readonly address: string; readonly instead: string | null };

/**
 * The last address of a request that does not belong to a trusted proxy. Entries before it may come from the client
 * itself, and are not believed. Without such an address the connection counts: a proxy that passes on its client's
 * header may pass on any text, so no entry may exempt a request from all limits.
 */
export function forwardedClient(
  { peer, forwardedFor, forwarded }: ForwardedRequest,
  isProxy: (address: string) => boolean,
): ForwardedClient {
  if (!isProxy(peer)) return { kind: 'client', address: peer };
  for (const name of namesOf(forwardedFor, forwarded)) {
    const address = addressOfNode(name);
    if (address === null) return { kind: 'proxy', address: peer, instead: name };
    if (!isProxy(address)) return { kind: 'client', address };
  }
  return { kind: 'proxy', address: peer, instead: forwardedFor ?? forwarded ?? null };
}

/** The names of clients and proxies, the last one first. */
function namesOf(forwardedFor: string | undefined, forwarded: string | undefined): string[] {
  // an address has no comma, whatever quotes are around it
  const names = filled((forwardedFor ?? '').split(',').toReversed());
  if (names.length > 0) return names;
  // an element without a name hides it
  return elementsFromEnd(forwarded ?? '').map((element) => {
    const pairs = pairsOf(element).map((pair) => /^for\s*=\s*(?<node>.*)$/isu.exec(pair)?.groups?.['node']);
    return pairs.find((node) => node !== undefined) ?? element;
  });
}

const filled = (parts: readonly string[]): string[] =>
  parts.map((part) => part.trim()).filter((part) => part !== '');

/**
 * The elements of `Forwarded`, the last one first. It is read from its end: a quote that a client left open at the
 * start must not hide the entries that proxies added after it. Quoted text may contain commas.
 */
function elementsFromEnd(text: string): string[] {
  const elements: string[] = [];
  let end = text.length;
  let isQuoted = false;
  for (let at = end - 1; at >= 0; at--) {
    const character = text[at];
    if (character === '"' && !isEscaped(text, at)) isQuoted = !isQuoted;
    else if (!isQuoted && character === ',') {
      elements.push(text.slice(at + 1, end));
      end = at;
    }
  }
  return filled([...elements, text.slice(0, end)]);
}

/** Whether an odd number of backslashes is before a character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** The pairs of an element. Quoted text may contain semicolons. */
function pairsOf(element: string): string[] {
  const pairs: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < element.length; at++) {
    const character = element[at];
    if (isQuoted && character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === ';') {
      pairs.push(element.slice(start, at));
      start = at + 1;
    }
  }
  return filled([...pairs, element.slice(start)]);
}

/** A port, or the text for an unknown or hidden one (RFC 7239, 6). */
const port = /:(?:\d{1,5}|_[\w.-]+)$/u;

/**
 * The address in a node of RFC 7239, and in what proxies write into `X-Forwarded-For`: with or without a port, with
 * brackets around IPv6, in quotes, with a zone. Null where it names no address: `unknown`, `_hidden`.
 */
export function addressOfNode(text: string): string | null {
  const node =
    text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/gsu, '$1') : text;
  const [, bracketed] = /^\[([^\]]*)\](?::.*)?$/su.exec(node) ?? [];
  if (bracketed !== undefined) return isPortOrNone(node, bracketed) ? withoutZone(bracketed) : null;
  return withoutZone(node) ?? (port.test(node) ? withoutZone(node.replace(port, '')) : null);
}

const isPortOrNone = (node: string, bracketed: string): boolean => {
  const rest = node.slice(bracketed.length + 2);
  return rest === '' || port.test(rest);
};

/** A zone (`fe80::1%eth0`) is local to a machine. Null: it is not an address. */
function withoutZone(text: string): string | null {
  const [address = ''] = text.split('%', 1);
  return isIP(address) === 0 ? null : address;
}
