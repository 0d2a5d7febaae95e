import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NodeAuth } from './node-settings.ts';

export interface UserAndPassword {
  readonly user: string;
  readonly password: string;
}

/** Why a node refused the credentials of a call. */
export interface Refusal {
  /**
   * `node_cookie_missing` needs no action, because a node deletes its cookie while it stops, although it still answers.
   */
  readonly code: 'node_refused' | 'node_cookie_missing';
  readonly why: string;
}

/** Maximum number of bytes of a cookie file. bitcoind's own cookie has 75 bytes. A longer file is not a cookie. */
const cookieBytesMax = 4096;

/**
 * Minimum number of characters of a secret. A shorter text is not treated as a secret, because hiding it would hide
 * parts of ordinary words, such as `wallet/` or `rest`.
 */
const secretCharsMin = 16;

/** Credentials for the node. Only this class stores them, so no message can contain them. */
export class Credentials {
  readonly #auth: NodeAuth;
  readonly #tokens: readonly string[];
  #known: UserAndPassword | null = null;

  /** @param tokens other texts that messages must not contain, if they are long enough to be secrets */
  constructor(auth: NodeAuth, fromUrl: UserAndPassword | null = null, tokens: readonly string[] = []) {
    this.#auth = auth;
    // without a password, the user name is the secret
    const user = fromUrl?.password === '' ? [fromUrl.user] : [];
    this.#tokens = [...tokens, ...user].filter((token) => token.length >= secretCharsMin);
    if (auth.kind === 'password') this.#known = { user: auth.user, password: auth.password };
    if (auth.kind === 'none') this.#known = fromUrl;
  }

  /**
   * The current credentials. Returns null if the node needs no credentials, or if the cookie file is missing. A node
   * deletes that file when it stops, and the call itself then shows the reason. Throws `node_refused` if the cookie
   * file cannot be read.
   */
  async current(): Promise<UserAndPassword | null> {
    if (this.#auth.kind === 'cookie') this.#known ??= await readCookie(this.#auth.file);
    return this.#known;
  }

  /**
   * Must be called after a refusal. Returns whether other credentials than `refused` exist now, for example after a
   * restart of the node.
   */
  async renew(refused: UserAndPassword | null): Promise<boolean> {
    if (this.#auth.kind !== 'cookie') return false;
    // another call may have read the new cookie meanwhile
    if (this.#known === refused) this.#known = await readCookie(this.#auth.file);
    return this.#known !== null && this.#known.password !== refused?.password;
  }

  /** The most likely reason why a node answered 401. */
  refusal(): Refusal {
    if (this.#known !== null) return { code: 'node_refused', why: 'the user, password or cookie is wrong' };
    if (this.#auth.kind !== 'cookie')
      return { code: 'node_refused', why: 'neither a cookie file nor a user and password are set' };
    return { code: 'node_cookie_missing', why: `there is no cookie file ${basename(this.#auth.file)}` };
  }

  /** A text with secrets removed. */
  redact(text: string): string {
    const secrets = [this.#known?.password ?? '', ...this.#tokens].filter((secret) => secret !== '');
    return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
  }
}

async function readCookie(file: string): Promise<UserAndPassword | null> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    if (reason === 'ENOENT') return null;
    throw new AppError('node_refused', `The cookie file ${basename(file)} cannot be read (${reason}).`, {
      file,
      reason,
    });
  }
  const colon = text.indexOf(':');
  if (colon <= 0 || text.length > cookieBytesMax) {
    throw new AppError('node_refused', `The file ${basename(file)} is not the cookie file of a node.`, {
      file,
    });
  }
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
