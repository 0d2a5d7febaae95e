import { isIP } from 'node:net';

/** Facts of a request that tell on whose behalf it is made. */
export interface ForwardedRequest {
  /** The address of the connection. */
  readonly peer: string;
  /** `X-Forwarded-For`: addresses, each added by the proxy that it reached. */
  readonly forwardedFor: string | undefined;
  /** `Forwarded` (RFC 7239), which counts where there is no `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
}

/** Who asks. */
export type ForwardedClient =
  | { readonly kind: 'client'; readonly address: string }
  /**
   * A trusted proxy that names no client. `instead`: the text in its header in place of a client; null: it sent no
   * header, or named other trusted proxies alone.
   */
  | { readonly kind: 'proxy'; readonly address: string; readonly instead: string | null };

/**
 * The last address of a request that is not a trusted proxy's. Entries before it may be the client's own words, and are
 * not believed.
 */
export function forwardedClient(
  { peer, forwardedFor, forwarded }: ForwardedRequest,
  isProxy: (address: string) => boolean,
): ForwardedClient {
  let nearest = peer;
  if (!isProxy(peer)) return { kind: 'client', address: peer };
  for (const name of namesOf(forwardedFor, forwarded).toReversed()) {
    const address = addressOfNode(name);
    if (address === null) return { kind: 'proxy', address: nearest, instead: name };
    if (!isProxy(address)) return { kind: 'client', address };
    nearest = address;
  }
  return { kind: 'proxy', address: nearest, instead: null };
}

function namesOf(forwardedFor: string | undefined, forwarded: string | undefined): string[] {
  const names = listOf(forwardedFor ?? '', ',');
  if (names.length > 0) return names;
  // an element without a name hides it
  return listOf(forwarded ?? '', ',').map((element) => {
    const pairs = listOf(element, ';').map(
      (pair) => /^for\s*=\s*(?<node>.*)$/isu.exec(pair)?.groups?.['node'],
    );
    return pairs.find((node) => node !== undefined) ?? element;
  });
}

/** The parts of a list, without those that are empty. What is quoted may contain the separator. */
function listOf(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (isQuoted && character === '\\') part += character + text.charAt(++at);
    else if (!isQuoted && character === separator) {
      parts.push(part);
      part = '';
    } else {
      if (character === '"') isQuoted = !isQuoted;
      part += character;
    }
  }
  return [...parts, part].map((each) => each.trim()).filter((each) => each !== '');
}

/** A port, or what stands for one that is not told (RFC 7239, 6). */
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
