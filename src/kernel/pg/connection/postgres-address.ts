/** Values of libpq's `sslmode` (PostgreSQL manual, "SSL Support"). */
export const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The TLS parameters of a database URL. Their files are not read yet. */
export interface TlsWish {
  /** The mode. `null` if the URL says nothing about TLS. */
  readonly mode: TlsMode | null;
  /**
   * PEM file of the trusted authorities. `system` means the authorities of this machine. `null` means the authorities
   * that Node includes.
   */
  readonly rootFile: string | null;
  /** Certificate of this client, for servers that require one. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly keyPassphrase: string | null;
  /** True if the connection begins with TLS, without asking the server first. */
  readonly isDirect: boolean;
}

export type PostgresAddress =
  | {
      readonly kind: 'address';
      /** The database URL with only those parameters that `pg` may see. */
      readonly url: string;
      readonly tls: TlsWish;
    }
  /** `why` is a part of a sentence, and contains no secret. */
  | { readonly kind: 'wrong'; readonly why: string };

/**
 * Parameters that are passed to `pg`. `pg` would accept more parameters, for example `statement_timeout`,
 * `client_encoding` or `binary`. But our sessions have their own settings (session.ts), and poolers refuse most other
 * parameters.
 */
const passedOn = ['host', 'port', 'user', 'password', 'options'];

/** Parameters that are refused, because `pg` would silently ignore them although the operator relies on them. */
const unsupported = ['sslcrl', 'sslcrldir', 'ssl_min_protocol_version', 'ssl_max_protocol_version'];

const severalHosts = /^\w+:\/\/(?:[^/?#]*@)?[^/?#@]*,/u;

/**
 * Parses a database URL in the way of libpq. Other parameters of libpq and of other drivers are ignored. Reads no file.
 */
export function readPostgresAddress(url: string): PostgresAddress {
  // `user@/database` names a socket of this machine, but the URL standard does not allow this form
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'));
  if (severalHosts.test(url))
    return wrong('it names several servers, but only one server, or one proxy for all of them, is allowed');
  if (parsed === null)
    return wrong('it is not a URL (in a password, percent-encode the characters @ : / ? # %)');
  // if a parameter is repeated, the last value is used, as in libpq
  const parameters = new Map(parsed.searchParams);
  const unknown = unsupported.find((name) => parameters.has(name));
  if (unknown !== undefined) return wrong(`the parameter ${unknown} is not supported`);
  const port = parameters.get('port');
  if (port !== undefined && !isPort(port)) return wrong('port must be a number from 1 to 65535');
  const tls = readTls(parameters);
  if (typeof tls === 'string') return wrong(tls);
  const kept = new URLSearchParams([...parameters].filter(([name]) => passedOn.includes(name)));
  const [base = ''] = url.split(/[?#]/u, 1);
  const isSocket = /^(?:\/|%2f)/iu.test(parameters.get('host') ?? parsed.hostname);
  return {
    kind: 'address',
    url: kept.size === 0 ? base : `${base}?${kept.toString()}`,
    // sockets of this machine have no TLS, so the mode is ignored, as in libpq
    tls: isSocket ? noTls : tls,
  };
}

/** The same database URL with another `sslmode`. */
export function withTlsMode(url: string, mode: TlsMode): string {
  const [base = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('sslmode', mode);
  return `${base}?${parameters.toString()}`;
}

const isPort = (text: string): boolean =>
  /^\d{1,5}$/u.test(text) && Number(text) > 0 && Number(text) <= 65_535;

const wrong = (why: string): PostgresAddress => ({ kind: 'wrong', why });

const noTls: TlsWish = {
  mode: 'disable',
  rootFile: null,
  certFile: null,
  keyFile: null,
  keyPassphrase: null,
  isDirect: false,
};

/** Parses the TLS parameters. If the result is a text, it describes the fault. */
function readTls(parameters: ReadonlyMap<string, string>): TlsWish | string {
  const valueOf = (name: string): string | null => {
    const value = parameters.get(name);
    return value === undefined || value === '' ? null : value;
  };
  const given = givenMode(valueOf('sslmode'), valueOf('ssl'));
  if (typeof given === 'object' && given !== null) return given.wrong;
  const rootFile = given === 'no-verify' ? null : valueOf('sslrootcert');
  if (rootFile === null && given === 'verify-ca')
    return 'sslmode=verify-ca needs sslrootcert, the file of the authority that signed the certificate of the server; sslmode=verify-full also accepts the public authorities';
  const [certFile, keyFile] = [valueOf('sslcert'), valueOf('sslkey')];
  if ((certFile === null) !== (keyFile === null))
    return 'sslcert and sslkey must be set together or not at all';
  const negotiation = valueOf('sslnegotiation');
  const isDirect = negotiation === 'direct';
  const isImplied = rootFile !== null || certFile !== null || isDirect;
  const mode = modeOf(given ?? (isImplied ? 'verify-full' : null), rootFile);
  const fault = wrongNegotiation(negotiation, mode);
  if (fault !== null) return fault;
  return { mode, rootFile, certFile, keyFile, keyPassphrase: valueOf('sslpassword'), isDirect };
}

const weakModes: readonly (TlsMode | null)[] = ['disable', 'allow', 'prefer'];

function wrongNegotiation(negotiation: string | null, mode: TlsMode | null): string | null {
  if (negotiation === null || negotiation === 'postgres') return null;
  if (negotiation !== 'direct') return 'sslnegotiation must be postgres or direct';
  return weakModes.includes(mode)
    ? `sslnegotiation=direct needs sslmode=require or stricter, not ${mode}`
    : null;
}

/** The given mode. `no-verify`, and `ssl` instead of `sslmode`, are parameters of `pg`. */
function givenMode(
  mode: string | null,
  ssl: string | null,
): TlsMode | 'no-verify' | { wrong: string } | null {
  if (mode === null) {
    if (ssl === null) return null;
    if (ssl === 'true' || ssl === '1') return 'verify-full';
    if (ssl === 'false' || ssl === '0') return 'disable';
    return ssl === 'no-verify' ? ssl : { wrong: 'ssl must be true, false or no-verify' };
  }
  const known = ([...tlsModes, 'no-verify'] as const).find((one) => one === mode);
  return known ?? { wrong: `sslmode must be one of ${tlsModes.join(', ')}` };
}

/**
 * The mode by libpq's rules. If TLS is required and a file of an authority is named, the certificate is verified, too.
 * With `system`, the name in the certificate is also verified.
 */
function modeOf(mode: TlsMode | 'no-verify' | null, rootFile: string | null): TlsMode | null {
  if (mode === 'no-verify') return 'require';
  if (rootFile === null) return mode;
  if (rootFile === 'system' && (mode === 'require' || mode === 'verify-ca')) return 'verify-full';
  return mode === 'require' ? 'verify-ca' : mode;
}
