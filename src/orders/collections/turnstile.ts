import { AppError } from '#kernel/errors/app-error.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';

/** Checks with a token whether a request comes from a person. */
export interface PersonCheck {
  /** Public key of this site at Turnstile, for the challenge on pages. Null if pages show no challenge. */
  readonly siteKey: string | null;
  /**
   * Returns null if a person solved the challenge of the token, otherwise the reason why the token is refused. Throws
   * `token_check_away`.
   *
   * @param client address of the client
   */
  problemOf(token: string, client: string, signal: AbortSignal): Promise<string | null>;
}

/** URL of Turnstile that checks tokens (developers.cloudflare.com/turnstile, "Validate the token"). */
export const turnstileUrl = 'https://challenges.cloudflare.com/turnstile/v0/siteverify';

/**
 * How long to wait for Turnstile's answer, in ms. A buyer waits meanwhile; the answer usually comes within a tenth of a
 * second.
 */
const timeoutMs = 5_000;
/** Maximum length of Turnstile's answer in bytes. An answer usually has a few hundred bytes. */
const answerBytesMax = 16 * 1024;
/** Maximum length of a token that Turnstile makes, in characters. */
const tokenCharsMax = 2048;

/** Messages for Turnstile's error codes about the token. Other codes are about our secret or our request. */
const refusals: Readonly<Record<string, string>> = {
  'timeout-or-duplicate':
    'The token was used before, or is older than five minutes. Solve the challenge again.',
  'invalid-input-response': 'The token is invalid. Solve the challenge again.',
  'missing-input-response': 'The token is empty. Solve the challenge again.',
};

/** Checks tokens with Turnstile. No message contains the secret. */
export function turnstile(
  http: Pick<OutgoingHttp, 'post'>,
  secret: string,
  { url = turnstileUrl, siteKey = null }: TurnstilePlace = {},
): PersonCheck {
  return {
    siteKey,
    problemOf: async (token, client, signal) => {
      if (token.length > tokenCharsMax) return refusals['invalid-input-response'] ?? null;
      const body = new URLSearchParams({ secret, response: token, remoteip: client });
      const answer = await ask(http, url, body, signal);
      if (answer.success === true) return null;
      const codes = Array.isArray(answer['error-codes']) ? answer['error-codes'] : [];
      const known = codes.map((code) => refusals[String(code)]).find((reason) => reason !== undefined);
      if (known !== undefined) return known;
      throw away(`Turnstile refuses the check: ${codes.map(String).join(', ').slice(0, 200)}`);
    },
  };
}

interface TurnstilePlace {
  /** URL that checks tokens. */
  readonly url?: string | undefined;
  readonly siteKey?: string | null;
}

interface TurnstileAnswer {
  readonly success?: unknown;
  readonly 'error-codes'?: unknown;
}

async function ask(
  http: Pick<OutgoingHttp, 'post'>,
  url: string,
  body: URLSearchParams,
  signal: AbortSignal,
): Promise<TurnstileAnswer> {
  try {
    const { status, bytes } = await http.post(url, {
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: Buffer.from(body.toString()),
      bytesMax: answerBytesMax,
      timeoutMs,
      signal,
    });
    const answer: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof answer === 'object' && answer !== null && (status === 200 || 'error-codes' in answer))
      return answer;
    throw away(`Turnstile answers ${status}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SyntaxError) throw away('Turnstile did not answer with JSON');
    if (error instanceof AppError && error.code.startsWith('url_')) throw away('Turnstile does not answer');
    throw error;
  }
}

const away = (reason: string): AppError =>
  new AppError('token_check_away', `${reason}. Try again in a minute.`);
