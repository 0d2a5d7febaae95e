// Sends requests to this service. Failures are returned as messages in simple words.

/**
 * @typedef {{ readonly kind: 'answered', readonly body: unknown }
 *   | { readonly kind: 'refused', readonly status: number, readonly messages: readonly string[], readonly retryAfterMs: number | null }
 *   | { readonly kind: 'unreachable', readonly messages: readonly string[], readonly retryAfterMs: number | null }} Outcome
 */

const unreachable = 'The service does not answer. Check your network connection.';

/**
 * Reads the messages in the body of an error, in the error forms of all paths. The result is null if the body is not an
 * error.
 *
 * @param {unknown} body
 * @returns {readonly string[] | null}
 */
export function messagesIn(body) {
  if (typeof body !== 'object' || body === null) return null;
  const { error, reason, message, success, status } = /** @type {Readonly<Record<string, unknown>>} */ (body);
  // this is not an error: a stopped or refunded order has its reason in a field with the same name
  if (status === 'ok') return null;
  if (typeof error === 'string') return [error];
  if (status === 'error' && typeof reason === 'string') return [reason];
  if (Array.isArray(error)) {
    const told = error.flatMap((/** @type {unknown} */ each) => {
      const msg =
        typeof each === 'object' && each !== null ? /** @type {{ msg?: unknown }} */ (each).msg : null;
      return typeof msg === 'string' ? [msg] : [];
    });
    return told.length === 0 ? null : told;
  }
  if ((success === false || status === 'error') && typeof message === 'string') return message.split('\n');
  return null;
}

/**
 * @param {number} status
 * @param {readonly string[] | null} messages
 * @param {number | null} retryAfterMs
 * @returns {readonly string[]}
 */
function refusalWords(status, messages, retryAfterMs) {
  if (status === 429) {
    const seconds = Math.ceil((retryAfterMs ?? 10_000) / 1000);
    return [
      `You sent more requests than this service accepts from one address. Try again in ${seconds} s.`,
      ...(messages ?? []),
    ];
  }
  return messages ?? [`The service answered with an error (${status}).`];
}

/** Maximum number of characters to show from an error that is not JSON, for example from a proxy. */
const textMax = 300;

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    // the HTML of a proxy's error page is not shown
    return text.trimStart().startsWith('<') ? '' : text.slice(0, textMax);
  }
}

/** @param {Response} response */
function retryAfterOf(response) {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/**
 * @param {string} path a path of this service
 * @param {RequestInit} init
 * @returns {Promise<Outcome>} rejects only if the signal of `init` aborts the request
 */
async function request(path, init) {
  try {
    const response = await fetch(path, {
      ...init,
      headers: { accept: 'application/json', ...init.headers },
      // other sites must not see the URL of an order's page, because it contains the id
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
    });
    const body = parsed(await response.text());
    const messages = messagesIn(body) ?? (typeof body === 'string' && body !== '' ? [body] : null);
    if (response.ok && messages === null) return { kind: 'answered', body };
    const retryAfterMs = retryAfterOf(response);
    return {
      kind: 'refused',
      status: response.ok ? 400 : response.status,
      messages: refusalWords(response.status, messages, retryAfterMs),
      retryAfterMs,
    };
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    return { kind: 'unreachable', messages: [unreachable], retryAfterMs: null };
  }
}

/**
 * Whether a path of this service exists. Does not load the path's content.
 *
 * @param {string} path
 * @returns {Promise<boolean>}
 */
export const answers = (path) =>
  fetch(path, { method: 'HEAD', referrerPolicy: 'no-referrer' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export const getJson = (path, signal) => request(path, signal === undefined ? {} : { signal });

/**
 * @param {string} path
 * @param {unknown} body
 * @param {{ readonly signal?: AbortSignal, readonly onceKey?: string }} [options] `onceKey`: if the same
 *   request is repeated with the same key, nothing is created twice
 */
export function postJson(path, body, { signal, onceKey } = {}) {
  return request(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(onceKey === undefined ? {} : { 'idempotency-key': onceKey }),
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}
