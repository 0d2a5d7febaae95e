import { isIP } from 'node:net';

/** The parts of a request that show which client made it. */
export interface ForwardedRequest {
  /** The IP address of the connection. */
  readonly peer: string;
  /**
   * The header `X-Forwarded-For`, a list of addresses. Each proxy adds the address from which it received the request.
   */
  readonly forwardedFor: string | undefined;
  /** The header `Forwarded` (RFC 7239). It is read only if there is no `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
}

/** The origin of a request: a client, or a trusted proxy whose header names no client. */
export type ForwardedClient =
  | { readonly kind: 'client'; readonly address: string }
  /**
   * A trusted proxy whose header names no client. `address` is the address of the connection. `instead` is the text
   * that the header has in place of a client, perhaps empty; it is `null` if the proxy sent no header.
   */
  | { readonly kind: 'proxy'; readonly address: string; readonly instead: string | null };

/**
 * Returns the last address of a request that does not belong to a trusted proxy. Entries before that address are not
 * believed, because the client itself may have written them. If there is no such address, the origin is the connection.
 * A proxy that passes on its client's header may pass on any text, so no entry may free a request from all limits.
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

/** Returns the names of clients and proxies, the last name first. */
function namesOf(forwardedFor: string | undefined, forwarded: string | undefined): string[] {
  // an address has no comma, whatever quotes are around it
  const names = filled((forwardedFor ?? '').split(',').toReversed());
  if (names.length > 0) return names;
  // an element without `for` is returned complete; it is not an address, so entries before it are not used
  return elementsFromEnd(forwarded ?? '').map((element) => {
    const pairs = pairsOf(element).map((pair) => /^for\s*=\s*(?<node>.*)$/isu.exec(pair)?.groups?.['node']);
    return pairs.find((node) => node !== undefined) ?? element;
  });
}

const filled = (parts: readonly string[]): string[] =>
  parts.map((part) => part.trim()).filter((part) => part !== '');

/**
 * Returns the elements of `Forwarded`, the last element first. The text is read from its end, because a client may have
 * opened a quote at the start and not closed it. That quote must not hide the entries that proxies added later. Quoted
 * text may contain commas.
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

/** Whether an odd number of backslashes comes directly before the character at `at`. */
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

/** A port, or the placeholder for an unknown or hidden port (RFC 7239, 6). */
const port = /:(?:\d{1,5}|_[\w.-]+)$/u;

/**
 * Returns the address in a node of RFC 7239, or in an entry that a proxy writes into `X-Forwarded-For`. The text may
 * have a port, brackets around IPv6, quotes and a zone. Returns `null` if the text names no address, such as `unknown`
 * or `_hidden`.
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

/**
 * Removes a zone (`fe80::1%eth0`), which has a meaning only on one machine. Returns `null` if the text is not an
 * address.
 */
function withoutZone(text: string): string | null {
  const [address = ''] = text.split('%', 1);
  return isIP(address) === 0 ? null : address;
}
