import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';

const openssl = (parameters: readonly string[]): Promise<unknown> =>
  promisify(execFile)('openssl', [...parameters]);

/** A folder of PEM files. */
export interface Certificates {
  readonly folder: string;
  /** Path of the authority that signed the other certificates. */
  readonly authority: string;
  path(this: void, name: string): string;
  /** Signs a certificate for a server, by name or address. */
  sign(this: void, name: string, subject: string): Promise<void>;
  remove(this: void): Promise<void>;
}

/** Makes an authority with openssl. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'certificates-'));
  const path = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const selfSigned = ['req', '-x509', ...key, '-days', '2', '-subj', '/CN=authority'];
  await openssl([...selfSigned, '-keyout', path('authority.key'), '-out', path('authority.pem')]);
  return {
    folder,
    authority: path('authority.pem'),
    path,
    sign: async (name, subject) => {
      const [request, extensions] = [path(`${name}.csr`), path(`${name}.cnf`)];
      await openssl([
        'req',
        '-new',
        ...key,
        '-subj',
        '/CN=server',
        '-keyout',
        path(`${name}.key`),
        '-out',
        request,
      ]);
      await writeFile(extensions, `subjectAltName=${subject}\n`);
      const authority = ['-CA', path('authority.pem'), '-CAkey', path('authority.key'), '-set_serial', '1'];
      const signed = ['-days', '2', '-extfile', extensions, '-out', path(`${name}.pem`)];
      await openssl(['x509', '-req', '-in', request, ...authority, ...signed]);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface TlsFront {
  /** Address of the server through the TLS front, with these parameters. */
  url(this: void, parameters?: string): string;
  close(this: void): Promise<void>;
}

export interface TlsFrontOptions {
  readonly certificate: string;
  readonly key: string;
  /** Refuses clients without a certificate of this authority. */
  readonly clientAuthority?: string;
  /** Refuses connections without TLS, in the words of Postgres. */
  readonly demandsTls?: boolean;
}

/** The message SSLRequest of protocol 3.0: its length and its code. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** First byte of a connection that starts with TLS (RFC 8446, 5.1). */
const handshakeRecord = 0x16;

/** Opens a port in front of a Postgres. It speaks TLS like a server with `ssl = on`. */
export async function openTlsFront(target: string, options: TlsFrontOptions): Promise<TlsFront> {
  const { hostname, port } = new URL(target);
  const [cert, key] = await Promise.all([readFile(options.certificate), readFile(options.key)]);
  const ca = options.clientAuthority === undefined ? undefined : await readFile(options.clientAuthority);
  const secureContext = createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca }) });
  const sockets = new Set<Socket>();
  const forward = (client: Socket, first: Buffer | null): void => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    if (first !== null) server.write(first);
    client.pipe(server).pipe(client);
  };
  const front = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (first) => {
      const isDirect = first[0] === handshakeRecord;
      if (isDirect || first.equals(sslRequest)) {
        // the TLS socket reads the bytes that are buffered
        client.pause();
        if (isDirect) client.unshift(first);
        else client.write('S');
        const isAsked = ca !== undefined;
        const secure = new TLSSocket(client, {
          isServer: true,
          secureContext,
          ALPNProtocols: ['postgresql'],
          requestCert: isAsked,
          rejectUnauthorized: isAsked,
        });
        forward(secure, null);
      } else if (options.demandsTls === true) {
        client.end(refusal);
      } else {
        forward(client, first);
      }
    });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const own = String((front.address() as AddressInfo).port);
  return {
    url: (parameters = '') => {
      const url = new URL(target);
      url.port = own;
      url.search = parameters;
      return url.href;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/** An ErrorResponse like that of a server whose pg_hba.conf contains only `hostssl` lines. */
const refusal = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '28000',
  M: 'no pg_hba.conf entry for host "127.0.0.1", user "x", database "y", no encryption',
});

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const body = `${Object.entries(fields)
    .map(([type, text]) => `${type}${text}\0`)
    .join('')}\0`;
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(body)]);
}
