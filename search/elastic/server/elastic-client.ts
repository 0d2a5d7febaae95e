import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Client, type ClientOptions, HttpConnection } from '@elastic/elasticsearch';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { type ElasticCall, failureOfElasticCall } from './elastic-failure.ts';

/** Address of Elasticsearch, and our credentials. */
export interface ElasticSettings {
  /** http or https, optionally with user and password. Commas separate several nodes. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** `id:key` in base64, as issued by Elasticsearch. Takes precedence over user and password. */
  readonly apiKey?: string | undefined;
  /** PEM of the authority that signed the server's certificate. */
  readonly caFile?: string | undefined;
  /** How long a call may take. Default: 30 s, the same as a statement of Postgres. */
  readonly timeoutMs?: number | undefined;
}

export interface ElasticRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** Begins with a slash. Index names in the path are our own and need no escaping. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: object;
  /** Lines of JSON, each with a line feed at its end. They replace the body. */
  readonly lines?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls Elasticsearch. Failures are AppErrors (`search_engine_…`) that hold no secret. */
export interface ElasticClient {
  /** Addresses without user and password, for logs. */
  readonly url: string;
  request<Answer>(request: ElasticRequest): Promise<Answer>;
  close(): Promise<void>;
}

const usualTimeoutMs = 30_000;

/** Connects at the first call. Throws `config_invalid` if the address or the CA file is wrong. */
export function createElasticClient(settings: ElasticSettings): ElasticClient {
  const nodes = settings.url.split(',').map((one) => parseUrl(one.trim()));
  const first = nodes[0] as URL;
  const auth = authOf(settings, first);
  const url = nodes.map(({ href }) => shownAddress(href)).join(',');
  const ca = settings.caFile === undefined ? null : readCa(settings.caFile);
  const client = new Client({
    nodes: nodes.map((node) => withoutUser(node)),
    ...(auth === null ? {} : { auth }),
    ...(ca === null ? {} : { tls: { ca } }),
    // Node's own http, because TLS and keep-alive are set there for all other connections too
    Connection: HttpConnection,
    requestTimeout: settings.timeoutMs ?? usualTimeoutMs,
    // the caller knows whether another attempt makes sense (a bulk waits, a search is answered elsewhere), so only try
    // the other nodes
    maxRetries: nodes.length - 1,
    // a thrown error may be logged, so remove secrets
    redaction: { type: 'remove' },
  });
  return {
    url,
    request: <Answer>(request: ElasticRequest) => send<Answer>(client, url, request),
    close: () => client.close(),
  };
}

async function send<Answer>(client: Client, url: string, request: ElasticRequest): Promise<Answer> {
  const { method, path, query, body, lines, timeoutMs, signal } = request;
  const call: ElasticCall = { method, path: path.split('?', 1)[0] ?? path, url };
  try {
    return await client.transport.request<Answer>(
      {
        method,
        path,
        ...(query === undefined ? {} : { querystring: { ...query } }),
        ...(body === undefined ? {} : { body: body as Record<string, unknown> }),
        ...(lines === undefined ? {} : { bulkBody: lines }),
      },
      {
        ...(timeoutMs === undefined ? {} : { requestTimeout: timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      },
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw failureOfElasticCall(error, call);
  }
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // the text may contain a password
    throw new AppError('config_invalid', 'ELASTICSEARCH_URL is not an address.', {});
  }
}

function withoutUser(url: URL): string {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain.href.replace(/\/$/u, '');
}

function authOf(settings: ElasticSettings, url: URL): NonNullable<ClientOptions['auth']> | null {
  if (settings.apiKey !== undefined) return { apiKey: settings.apiKey };
  const username = settings.user ?? decoded(url.username);
  const password = settings.password ?? decoded(url.password);
  return username === '' ? null : { username, password };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AppError(
      'config_invalid',
      'ELASTICSEARCH_URL has a percent sign in its user or password, which must be written as %25.',
    );
  }
}

function readCa(path: string): Buffer {
  try {
    const pem = readFileSync(path);
    // check the certificate now, because otherwise each connection would fail
    createSecureContext({ ca: pem });
    if (pem.includes('-----BEGIN')) return pem;
    throw new Error('it is not a PEM file');
  } catch (error) {
    const message = `ELASTICSEARCH_CA_FILE ${path} cannot be used (${(error as Error).message})`;
    throw new AppError('config_invalid', message, { path }, error);
  }
}
